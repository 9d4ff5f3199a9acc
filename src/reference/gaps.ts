import type { ClauseId } from "../interface/clauses.ts";

/** Something the document leaves open, what this server does there, and the variants that do otherwise. */
export interface Gap {
  /** The clauses that name the gap; empty where the document is silent without saying so. */
  readonly clauses: readonly ClauseId[];
  readonly open: string;
  readonly chosen: string;
  /** Names of variants. */
  readonly otherwise: readonly string[];
}

/** Every gap that this server had to fill. */
export const gaps: readonly Gap[] = [
  {
    clauses: ["REQ-6"],
    open: "A body that is not JSON, or is declared as another type",
    chosen: "400 `INVALID_INPUT`; an empty body is an absent `query`",
    otherwise: ["malformed-json-other-code", "content-type-415", "content-type-ignored"],
  },
  {
    clauses: ["REQ-9"],
    open: "Which shape list and usage have",
    chosen: "their fields at the top level",
    otherwise: ["list-envelope", "list-envelope-result", "usage-envelope", "usage-envelope-result"],
  },
  {
    clauses: ["INV-19"],
    open: "Parameters out of range",
    chosen: "400 `INVALID_INPUT`",
    otherwise: ["temperature-out-of-range-accepted"],
  },
  {
    clauses: ["INV-20"],
    open: "A `query` that is no string",
    chosen: "400 `INVALID_INPUT`",
    otherwise: ["query-number-accepted"],
  },
  { clauses: ["INV-21"], open: "An empty `query`", chosen: "accepted", otherwise: ["empty-query-refused"] },
  {
    clauses: ["INV-23"],
    open: "The inner shape of `result`",
    chosen: "`output`, the text; `keeper` adds `turn` and `previous_query`",
    otherwise: ["result-of-other-shape"],
  },
  {
    clauses: [],
    open: "What a token is",
    chosen: "a word, of the query or of the answer; `max_tokens` cuts the answer at so many words",
    otherwise: [],
  },
  {
    clauses: [],
    open: "Which of several refusals is told",
    chosen:
      "401, then permission (403), then 429, then 406, then a body that cannot be read, then a bad signature, then 404, then 400",
    otherwise: ["body-before-agent"],
  },
  {
    clauses: ["SSE-23"],
    open: "`resume_from_index`",
    chosen: "the stream begins with that chunk, counted from 0, and keeps its `index`",
    otherwise: ["stream-parameters-ignored", "resume-counts-anew"],
  },
  {
    clauses: ["SSE-24"],
    open: "`stream_delay_ms`",
    chosen: "milliseconds to wait between two chunks, instead of the agent's own wait",
    otherwise: ["stream-parameters-ignored"],
  },
  {
    clauses: ["SSE-25"],
    open: "`chunk_size`",
    chosen: "characters (code points) to a chunk; without it a chunk is a word and the blank behind it",
    otherwise: ["stream-parameters-ignored", "chunk-size-in-words"],
  },
  { clauses: ["SSE-32"], open: "How long a stream may last", chosen: "without end", otherwise: ["stream-of-a-minute"] },
  {
    clauses: ["SSE-33"],
    open: "Another `Accept` on the stream endpoint",
    chosen: "ignored: the answer is a stream",
    otherwise: ["stream-needs-accept"],
  },
  {
    clauses: ["HLT-18"],
    open: "Health of an agent that does not exist",
    chosen: "404 `AGENT_NOT_FOUND`",
    otherwise: ["unknown-agent-health-other-code"],
  },
  {
    clauses: ["HLT-12"],
    open: "The status of an unhealthy report",
    chosen: "200",
    otherwise: ["unhealthy-answers-503"],
  },
  { clauses: ["LST-8"], open: "Defaults of `page` and `limit`", chosen: "1 and 20", otherwise: ["list-of-ten"] },
  {
    clauses: ["LST-9"],
    open: "Fields of an agent in the list",
    chosen: "`agent_id`, `agent_name`, `description`, `framework`, `version`, `status`",
    otherwise: ["list-items-by-id"],
  },
  {
    clauses: ["LST-10"],
    open: "A page past the end; `page` or `limit` of 0 or below, or too large",
    chosen: "an empty page; the nearest of 1 to 100; what is no integer is 400 `INVALID_INPUT`",
    otherwise: ["limit-below-1-refused", "page-past-the-end-404"],
  },
  {
    clauses: ["USE-9"],
    open: "What `requests` and `period` of usage speak of",
    chosen: "`requests` of the hour, `tokens` of the month, `period` is the start of the month (UTC)",
    otherwise: ["usage-of-minute", "period-of-hour"],
  },
  {
    clauses: ["AUTH-7"],
    open: "`bearer` in other letter case",
    chosen: "accepted, as RFC 9110 has it",
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
    open: "How request signing is enabled, and what a bad signature gets",
    chosen: "a request that carries either header must hold: 401 `INVALID_SIGNATURE`; timestamps may be 300 s off",
    otherwise: ["signature-ignored", "bad-signature-403"],
  },
  {
    clauses: ["AUTH-10"],
    open: "Whether the signed path has its query string",
    chosen: "it has",
    otherwise: ["signature-of-path-only"],
  },
  {
    clauses: ["AUTH-13"],
    open: "A valid key that lacks permission",
    chosen: "403 `FORBIDDEN`, not counted; a read-only key may not invoke or stream",
    otherwise: ["forbidden-401", "forbidden-404"],
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
      "404 `NOT_FOUND` in the error form, counted like any request; a request that is no HTTP is 400 `INVALID_INPUT`",
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
    open: "Which window the rate-limit headers speak of",
    chosen:
      "the one with fewer requests left; with as many left, the one that resets later; a 429 speaks of the limit that refused",
    otherwise: ["headers-of-hour", "headers-of-minute"],
  },
  {
    clauses: [],
    open: "The headers where no key is valid, and how often that may happen",
    chosen: "they speak of the address: 1,000 requests a minute, then 429 `RATE_LIMITED`",
    otherwise: ["wrong-keys-limited"],
  },
  {
    clauses: ["LIM-8"],
    open: "What a burst adds to the minute; the burst of team",
    chosen: "nothing: the whole minute's allowance may come at once; team has none of its own",
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
    chosen: "every admitted request but health counts, and takes a slot, whatever its answer",
    otherwise: ["errors-do-not-count", "only-turns-count", "concurrency-of-turns"],
  },
  {
    clauses: ["LIM-20"],
    open: "A request beyond the month's tokens",
    chosen:
      "429 `RATE_LIMIT_EXCEEDED` on invoke and stream, with the time to the next month; the answer that goes beyond is still given",
    otherwise: ["over-quota-403"],
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
    chosen: "1, the least there is; in all other refusals the whole seconds that are left, rounded up",
    otherwise: ["retry-rounded-up"],
  },
  {
    clauses: [],
    open: "When the slot of a client that has left comes back",
    chosen: "at once",
    otherwise: ["leaving-noticed-late"],
  },
  {
    clauses: ["LIM-24"],
    open: "The numbers of the enterprise tier",
    chosen: "600 an hour, 400 a minute, 20 at once, a burst of 400, 50,000,000 tokens",
    otherwise: [],
  },
  {
    clauses: [],
    open: "An agent that exceeds its timeout",
    chosen: "500 `AGENT_TIMEOUT` after 30 s; in a stream `STREAM_ERROR`",
    otherwise: ["timeout-504"],
  },
];

/** The document about the gaps: `docs/gaps.md`. */
export function gapsDocument(): string {
  const rows = gaps.map(({ clauses, open, chosen, otherwise }) => {
    const names = otherwise.map((name) => `\`${name}\``).join(", ");
    return `| ${clauses.join(", ")} | ${open} | ${chosen} | ${names} |`;
  });
  return [
    "# Gaps",
    "",
    "Where the interface document is silent, the reference server has to do something. This table says what it does, and",
    "which variant (`conformance serve --variant NAME`) does otherwise, so that the suites are proven against both. The",
    "clauses are those of [clauses.md](clauses.md). The table is made from `src/reference/gaps.ts`; a test compares the two.",
    "",
    "| Clause | Left open | The reference server | Variants |",
    "|---|---|---|---|",
    ...rows,
    "",
  ].join("\n");
}
