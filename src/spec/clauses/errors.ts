import { gap, must, policy, should, type ClauseTable } from "../clause.ts";

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
