import type { ClauseTable } from "../clause.ts";

const section = "Authentication";

export const authenticationClauses = {
  "AUTH-1": {
    section: `${section} 1`,
    level: "must",
    says: "A request with a valid key in `Authorization: Bearer` is let in.",
  },
  "AUTH-2": { section: `${section} 3`, level: "must", says: "A missing key answers 401." },
  "AUTH-3": { section: `${section} 3`, level: "must", says: "A wrong key answers 401 `INVALID_API_KEY`." },
  "AUTH-4": {
    section: `${section} 3`,
    level: "must",
    says: "An expired key answers 401 `EXPIRED_API_KEY`, on every endpoint.",
  },
  "AUTH-5": {
    section: `${section} 3`,
    level: "must",
    says: "A key that differs from a valid one in its last character, its length or its letter case is wrong.",
  },
  "AUTH-6": {
    section: `${section} 1`,
    level: "must",
    says: "The key is read from the bearer scheme only: under another scheme it does not let in.",
  },
  "AUTH-7": {
    section: `${section} 1`,
    level: "gap",
    says: "Whether `bearer` in other letter case is accepted is not stated.",
  },
  "AUTH-8": {
    section: `${section} 3`,
    level: "must",
    says: "401 comes on every endpoint: invoke, stream, health, list, usage, key usage, webhooks, deliveries, alerts, operations and batch.",
  },
  "AUTH-9": { section: `${section} 3`, level: "gap", says: "The code of a missing key is not shown." },
  "AUTH-10": {
    section: `${section} 4`,
    level: "must",
    says: "A request signed with `X-Signature` (lower-case hexadecimal HMAC-SHA256 of method, path, timestamp and body, separated by line feeds) and `X-Timestamp` (Unix seconds as a decimal string) is accepted.",
    readings: {
      "path-only": "the path is signed without its query string",
      "path-and-query": "the path is signed with its query string",
    },
  },
  "AUTH-11": {
    section: `${section} 8`,
    level: "gap",
    says: "How request signing is enabled, and what a bad signature gets, is not shown.",
  },
  "AUTH-12": {
    section: `${section} 5`,
    level: "policy",
    says: "OAuth 2.0 is announced and not available now.",
    untestable: "A plan for the future.",
  },
  "AUTH-13": {
    section: `${section} 7`,
    level: "gap",
    says: "The status for a valid key that lacks permission is not shown.",
  },
  "AUTH-14": {
    section: `${section} 9`,
    level: "gap",
    says: "Operations to create, revoke, scope or whitelist keys over HTTP are not shown.",
    untestable: "Trying them could change the target's keys, so the harness never does.",
  },
  "AUTH-15": {
    section: `${section} 1`,
    level: "policy",
    says: "Keys are issued through a dashboard or a command-line tool.",
    untestable: "Neither is part of the HTTP interface.",
  },
  "AUTH-16": {
    section: `${section} 3`,
    level: "must",
    says: "A wrong key, or none, sees 401 before any other refusal but that of an agent that does not exist.",
    readings: {
      "key-first": "an agent that does not exist is not told to a wrong key",
      "agent-first": "an agent that does not exist answers 404 before the key is looked at",
    },
  },
} as const satisfies ClauseTable;
