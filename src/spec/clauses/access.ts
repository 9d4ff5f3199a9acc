import { advisory, gap, must, policy, type ClauseTable, should } from "../clause.ts";

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

const statuses = "Errors / Status codes";
const bodies = "Errors / Error bodies";
const codes = "Errors / Error codes";
const forms = {
  "form-a": "`{error: {code, message, status}}`",
  "form-b": '`{status: "error", error: {code, message, details}}`',
  both: "the fields of both forms at once",
  "by-occasion": "now form A and now form B, as by a gateway before an application",
} as const;
const ofFormA = { "form-a": "errors have form A", absent: "no error has form A" } as const;
const ofFormB = { "form-b": "errors have form B", absent: "no such error has form B" } as const;

export const errorClauses = {
  "ERR-1": must(
    statuses,
    "An answer's status is one of 200, 201, 400, 401, 404, 429 and 500 where the document describes the case.",
  ),
  "ERR-2": must(bodies, "An error on invoke has form A or form B.", { readings: forms }),
  "ERR-3": must(bodies, "An error on stream, before it opens, has form A or form B.", { readings: forms }),
  "ERR-4": must(bodies, "An error on any other endpoint has form A or form B.", { readings: forms }),
  "ERR-5": must(bodies, "`error.code` and `error.message` are strings, and not empty."),
  "ERR-6": must(bodies, "In form A, `error.status` is an integer and is the HTTP status.", { readings: ofFormA }),
  "ERR-7": must(bodies, "In form B, `error.details`, where present, is an object.", { readings: ofFormB }),
  "ERR-8": must(
    bodies,
    "A 429 carries `retry_after` seconds: in `error` (form A), or in `error.details` with `limit`, `remaining` and `reset_at` (form B).",
    { readings: forms },
  ),
  "ERR-9": must(codes, "A 429 has the code `RATE_LIMIT_EXCEEDED` or `RATE_LIMITED`.", {
    readings: {
      RATE_LIMIT_EXCEEDED: "the first name",
      RATE_LIMITED: "the variant name",
      "by-endpoint": "both, each on its own occasions",
    },
  }),
  "ERR-10": must(codes, "A documented code comes with its documented status."),
  "ERR-11": gap(codes, "The complete list of codes, and the codes of 500 responses, are not shown."),
  "ERR-12": gap(bodies, "Which error form applies to which endpoint is not shown."),
  "ERR-13": must(statuses, "An agent that fails is answered with a 5xx status and an error body."),
  "ERR-14": policy(codes, "Clients should retry 5xx answers with backoff, and wait the stated `retry_after` on 429.", {
    party: "client",
    untestable:
      "A rule for clients, which CLI-12 to CLI-15 judge. The harness keeps it towards a 429; it never retries a 5xx, which is evidence.",
  }),
  "ERR-15": should(
    codes,
    "In form B, `details` of `INVALID_INPUT` name the field (`field`) and the reason (`reason`).",
    { readings: ofFormB },
  ),
  "ERR-16": must(
    bodies,
    "`reset_at` in the details of a form B 429 is an ISO 8601 timestamp, of an instant to come within the wait or an hour, or of the headers' reset.",
    { readings: ofFormB },
  ),
  "ERR-17": gap(statuses, "The answer to a path, or a method, that the document does not define is not shown."),
  "ERR-18": must(
    bodies,
    "A success is no error: its body has neither `status` `error` nor an `error` object with a `code`.",
    { since: "1.1" },
  ),
} as const satisfies ClauseTable;

const rates = "Limits / Request rate (per API key)";
const scope = "Limits / Scope of limits";

export const limitClauses = {
  "LIM-1": must(rates, "Not more requests are admitted in a minute than the key's tier publishes."),
  "LIM-2": must(rates, "As many requests are admitted in a minute as the key's tier publishes."),
  "LIM-3": must(rates, "Not more requests are admitted in an hour than the key's tier publishes."),
  "LIM-4": must(rates, "As many requests are admitted in an hour as the key's tier publishes."),
  "LIM-5": must(rates, "Not more requests run at once than the key's tier publishes."),
  "LIM-6": must(rates, "As many requests run at once as the key's tier publishes."),
  "LIM-7": must(rates, "A burst of the published size is admitted, sent as fast as the concurrency limit allows."),
  "LIM-8": gap(
    rates,
    "What the burst allowance adds to the minute's limit is not stated, and team's burst is not shown.",
  ),
  "LIM-9": must(rates, "Limits are per API key: one key's use does not touch another's."),
  "LIM-10": must(`${scope} 1`, "Invoke is subject to the limits."),
  "LIM-11": must(`${scope} 1`, "A stream counts as a single request."),
  "LIM-12": must(`${scope} 3`, "Beyond a limit the answer is 429 with the error body."),
  "LIM-13": must(`${scope} 3`, "After `retry_after` seconds a request is admitted."),
  "LIM-14": advisory(
    `${scope} 3`,
    "`retry_after` is the time that is left: well before it, a request is still refused.",
  ),
  "LIM-15": gap(`${scope} 5`, "Whether the hourly window is fixed or rolling is not shown; nor is the minute's."),
  "LIM-16": gap(`${scope} 1`, "Whether refused requests use up the allowance is not stated."),
  "LIM-17": must(
    rates,
    "A slot is given back when its request ends, well or badly: the column limits concurrent requests, and one that has ended is none.",
  ),
  "LIM-18": must(
    rates,
    "A stream holds its slot until it ends: the column limits concurrent requests, and a stream is a single request (Scope of limits 1).",
  ),
  "LIM-19": must(
    "Limits / Token quota per month",
    "Not more tokens are spent in a month than the key's tier publishes.",
  ),
  "LIM-20": gap("Limits / Token quota per month", "What a request beyond the token quota gets is not shown."),
  "LIM-21": policy(
    `${scope} 4`,
    "An agent's deployment defaults to a timeout of 30 seconds and 512MB of memory, both adjustable in its file.",
    {
      untestable:
        "Memory is not visible over HTTP, and the timeout belongs to the agent's file, which the interface does not show.",
    },
  ),
  "LIM-22": gap(`${scope} 6`, "The maximum size of a request body, or length of a query, is not shown."),
  "LIM-23": must(
    rates,
    "Requests without a valid key do not use up the allowance of the key they resemble: the rate is per API key, and a key that differs is another.",
  ),
  "LIM-24": policy(rates, "Limits of the enterprise tier are custom.", {
    untestable: "Custom numbers are judged by LIM-1 to LIM-7 when the target file gives them.",
  }),
  "LIM-25": must(
    rates,
    "One key is one allowance, however its header is written: the rate is per API key, and the key is the same.",
  ),
  "LIM-26": gap(`${scope} 1`, "Whether errors such as 400 and 404 use up the allowance is not stated."),
  "LIM-27": must(
    `${scope} 4`,
    "An agent that takes longer than 30 seconds, and whose file sets no timeout, is ended by the default timeout of 30 seconds.",
    { since: "1.2" },
  ),
} as const satisfies ClauseTable;
