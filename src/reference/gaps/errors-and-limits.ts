import type { Gap } from "./gap.ts";

/** Gaps in keys, errors, headers and limits. */
export const errorAndLimitGaps: readonly Gap[] = [
  {
    clauses: ["AUTH-7"],
    open: "`bearer` in other letter case",
    chosen: "accepted, as in RFC 9110",
    otherwise: ["scheme-as-written"],
  },
  {
    clauses: ["AUTH-9"],
    open: "The code of a missing or malformed key",
    chosen: "`INVALID_API_KEY`",
    otherwise: ["missing-key-other-code"],
  },
  {
    clauses: ["AUTH-11"],
    open: "How request signing is enabled, and the response to a bad signature",
    chosen:
      "a request with either header must have a valid signature, or gets 401 `INVALID_SIGNATURE`; timestamps may be 300 s off",
    otherwise: ["signature-ignored", "bad-signature-400", "bad-signature-403"],
  },
  {
    clauses: ["AUTH-10"],
    open: "Whether the signed path has its query string",
    chosen: "yes",
    otherwise: ["signature-of-path-only"],
  },
  {
    clauses: ["AUTH-13"],
    open: "A valid key that lacks permission",
    chosen:
      "403 `FORBIDDEN`, not counted; a read-only key may not invoke, stream, execute or batch, nor create webhooks or alerts",
    otherwise: ["forbidden-401", "forbidden-404", "reader-may-invoke"],
  },
  {
    clauses: ["ERR-11"],
    open: "Codes that the document does not list",
    chosen: "500 `INTERNAL_ERROR` and `AGENT_TIMEOUT`, 404 `NOT_FOUND`, 406 `NOT_ACCEPTABLE`, 413 `REQUEST_TOO_LARGE`",
    otherwise: ["crash-other-code", "timeout-504"],
  },
  {
    clauses: ["ERR-12"],
    open: "Which error form applies where",
    chosen: "form A everywhere",
    otherwise: ["form-b", "form-b-without-empty-details", "both-forms", "forms-by-endpoint"],
  },
  {
    clauses: ["ERR-17"],
    open: "A path or method that is not defined",
    chosen:
      "404 `NOT_FOUND` in the error form, counted like any request; bytes that are no HTTP request get 400 `INVALID_INPUT`",
    otherwise: ["unknown-path-html", "unknown-method-405"],
  },
  {
    clauses: ["ERR-9"],
    open: "Which of the two codes a 429 has",
    chosen: "`RATE_LIMIT_EXCEEDED`; `RATE_LIMITED` for an address without a valid key",
    otherwise: ["code-rate-limited", "concurrency-code-rate-limited"],
  },
  {
    clauses: ["HDR-10"],
    open: "Which window the rate-limit headers report",
    chosen: "the one with fewer requests left, or else the one that resets later; a 429 reports the limit that refused",
    otherwise: ["headers-of-hour", "headers-of-minute"],
  },
  {
    clauses: [],
    open: "The headers without a valid key, and the limit of such requests",
    chosen: "they report the limit of the address: 1,000 requests a minute, then 429 `RATE_LIMITED`",
    otherwise: ["wrong-keys-limited"],
  },
  {
    clauses: ["LIM-8"],
    open: "What a burst adds to the minute; the burst of team",
    chosen: "nothing: all requests of a minute may come at once; team has no burst of its own",
    otherwise: ["token-bucket", "burst-adds", "team-burst-50"],
  },
  {
    clauses: ["LIM-15"],
    open: "Fixed or rolling windows",
    chosen: "fixed, at whole hours and minutes (UTC)",
    otherwise: ["rolling-windows", "rolling-hour", "anchored-windows", "sliding-windows"],
  },
  {
    clauses: ["LIM-16"],
    open: "Whether refused requests count",
    chosen: "no refusal counts (401, 403, 429)",
    otherwise: ["refusals-count", "concurrency-refusals-count"],
  },
  {
    clauses: ["LIM-26"],
    open: "Whether errors count, and which endpoints do",
    chosen: "every admitted request except health counts and takes a slot, with any response",
    otherwise: ["errors-do-not-count", "only-turns-count", "concurrency-of-turns"],
  },
  {
    clauses: ["LIM-20"],
    open: "A request beyond the month's tokens",
    chosen:
      "429 `RATE_LIMIT_EXCEEDED` for every request that runs an agent, with the time to the next month; the response that exceeds the quota is still sent; further entries of a running batch fail",
    otherwise: ["over-quota-402", "over-quota-403"],
  },
  {
    clauses: ["LIM-22"],
    open: "The size of a request body",
    chosen: "1 MiB; beyond it 413 `REQUEST_TOO_LARGE`",
    otherwise: ["small-bodies-only", "too-large-400"],
  },
  {
    clauses: [],
    open: "`retry_after` of a refusal for concurrency",
    chosen: "1, the minimum; in all other refusals the remaining seconds, rounded up",
    otherwise: ["retry-rounded-up"],
  },
  {
    clauses: [],
    open: "When the slot of a lost client is free",
    chosen: "at once",
    otherwise: ["leaving-noticed-late"],
  },
  {
    clauses: ["LIM-24"],
    open: "The numbers of the enterprise tier",
    chosen: "600 an hour, 400 a minute, 20 concurrent, a burst of 400, 50,000,000 tokens",
    otherwise: [],
  },
  {
    clauses: [],
    open: "An agent that exceeds its timeout",
    chosen: "500 `AGENT_TIMEOUT` after 30 s; in a stream `STREAM_ERROR`",
    otherwise: ["timeout-504"],
  },
];
