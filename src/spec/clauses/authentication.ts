import { advisory, gap, must, policy, type ClauseTable } from "../clause.ts";

const section = "Authentication";

export const authenticationClauses = {
  "AUTH-1": must(`${section} 1`, "A request with a valid key in `Authorization: Bearer` is let in."),
  "AUTH-2": must(`${section} 3`, "A missing key answers 401."),
  "AUTH-3": must(`${section} 3`, "A wrong key answers 401 `INVALID_API_KEY`."),
  "AUTH-4": must(`${section} 3`, "An expired key answers 401 `EXPIRED_API_KEY`, on every endpoint."),
  "AUTH-5": must(
    `${section} 3`,
    "A key that differs from a valid one in its last character, its length or its letter case is wrong.",
  ),
  "AUTH-6": must(
    `${section} 1`,
    "The key is read from the bearer scheme only: under another scheme it does not let in.",
  ),
  "AUTH-7": gap(`${section} 1`, "Whether `bearer` in other letter case is accepted is not stated."),
  "AUTH-8": must(
    `${section} 3`,
    "401 comes on every endpoint: invoke, stream, health, list, usage, key usage, webhooks, deliveries, alerts, operations and batch.",
  ),
  "AUTH-9": gap(`${section} 3`, "The code of a missing key is not shown."),
  "AUTH-10": must(
    `${section} 4`,
    "A request signed with `X-Signature` (lower-case hexadecimal HMAC-SHA256 of method, path, timestamp and body, separated by line feeds) and `X-Timestamp` (Unix seconds as a decimal string) is accepted.",
    {
      readings: {
        "path-only": "the path is signed without its query string",
        "path-and-query": "the path is signed with its query string",
      },
    },
  ),
  "AUTH-11": gap(`${section} 8`, "How request signing is enabled, and what a bad signature gets, is not shown."),
  "AUTH-12": policy(`${section} 5`, "OAuth 2.0 is announced and not available now.", {
    party: "people",
    untestable: "A plan for the future.",
  }),
  "AUTH-13": gap(`${section} 7`, "The status for a valid key that lacks permission is not shown."),
  "AUTH-14": gap(`${section} 9`, "Operations to create, revoke, scope or whitelist keys over HTTP are not shown.", {
    untestable: "Trying them could change the target's keys, so the harness never does.",
  }),
  "AUTH-15": policy(`${section} 1`, "Keys are issued through a dashboard or a command-line tool.", {
    party: "people",
    untestable: "Neither is part of the HTTP interface.",
  }),
  "AUTH-16": must(
    `${section} 3`,
    "A wrong key, or none, sees 401 before any other refusal but that of an agent that does not exist.",
    {
      readings: {
        "key-first": "an agent that does not exist is not told to a wrong key",
        "agent-first": "an agent that does not exist answers 404 before the key is looked at",
      },
    },
  ),
  "AUTH-17": advisory(`${section} 3`, "A key whose letters all have one case is wrong in the other case, too.", {
    readings: {
      "case-matters": "the key in the other case is rejected",
      "both-cases": "the key has letters of both cases",
    },
  }),
} as const satisfies ClauseTable;
