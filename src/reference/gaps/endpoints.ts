import type { Gap } from "./gap.ts";

/** Gaps in requests, invocation, streams, health, lists and usage. */
export const endpointGaps: readonly Gap[] = [
  {
    clauses: ["REQ-6"],
    open: "A body that is not JSON, or is declared as another type",
    chosen: "400 `INVALID_INPUT`; an empty body is an absent `query`",
    otherwise: ["malformed-json-other-code", "content-type-415", "content-type-ignored"],
  },
  {
    clauses: ["REQ-10"],
    open: "A body type with a parameter",
    chosen: "accepted, with any parameter",
    otherwise: ["json-with-charset-refused"],
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
    chosen: "a word of the query or of the response; `max_tokens` is the maximum number of words of the response",
    otherwise: [],
  },
  {
    clauses: [],
    open: "Which of several errors a response has",
    chosen: "in this order: 401, 403 (permission), 429, 406, an unreadable body, a bad signature, 404, 400",
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
    chosen: "characters (code points) of a chunk; without it, a chunk is a word and the blank after it",
    otherwise: ["stream-parameters-ignored", "chunk-size-in-words"],
  },
  { clauses: ["SSE-32"], open: "How long a stream may last", chosen: "no limit", otherwise: ["stream-of-a-minute"] },
  {
    clauses: ["SSE-33"],
    open: "Another `Accept` on the stream endpoint",
    chosen: "ignored: the response is a stream",
    otherwise: ["stream-needs-accept"],
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
    chosen: "an empty page; the nearest value from 1 to 100; 400 `INVALID_INPUT` for other than integers",
    otherwise: ["limit-below-1-refused", "page-past-the-end-404"],
  },
  {
    clauses: ["USE-9"],
    open: "The time that `requests` and `period` of usage refer to",
    chosen: "`requests` of the hour, `tokens` of the month, `period` is the start of the month (UTC)",
    otherwise: ["usage-of-minute", "period-of-hour"],
  },
];

/** Gaps in keys, batches, operations, entrypoints and agent files. */
export const operationGaps: readonly Gap[] = [
  {
    clauses: [],
    open: "The client's address behind proxies",
    chosen:
      "the peer's; with `--trust-proxy` the last address in `Forwarded`, or else `X-Forwarded-For`, that is no trusted proxy",
    otherwise: [],
  },
  {
    clauses: ["KEY-10", "KEY-11"],
    open: "Parameters and response of key usage; the fields of a key",
    chosen:
      "no parameters; `key` (`name`, `tier`, `scope`, `agents`, `allowed_ips`, `expires_at`; never its text), `period`, `requests` of the hour, `tokens` of the month, `last_used` before this request",
    otherwise: ["key-usage-envelope", "key-usage-as-usage", "key-usage-as-list", "key-usage-not-counted"],
  },
  {
    clauses: ["BAT-2", "BAT-3", "OPS-6"],
    open: "The path and the response of a batch, and which requests start an operation",
    chosen:
      "`POST /v1/agents/{agent_id}/batch`, 1 to 100 entries; 201 with an operation handle; only a batch starts an operation; it counts as one request; its entries take no slots, but use tokens",
    otherwise: ["batch-200", "batch-accepted-202", "handle-envelope", "handle-with-more", "operation-ids-of-uuid"],
  },
  {
    clauses: ["OPS-4"],
    open: "Method and response of `check_url`",
    chosen:
      "GET; the handle's fields with `agent_id`, the times, `progress`, and at the end `results` in the order of the batch; 404 `OPERATION_NOT_FOUND` for operations of other keys",
    otherwise: ["operation-envelope", "operation-without-results"],
  },
  {
    clauses: ["OPS-5"],
    open: "States of an operation after `pending`",
    chosen: "`running`, then `completed`, or `failed` if every entry failed",
    otherwise: ["operation-of-other-words", "operation-done-at-once", "slow-operations"],
  },
  {
    clauses: ["OTH-1"],
    open: "The local execution path",
    chosen:
      "`POST /api/v1/agents/{agent_id}/execute/{entrypoint_tag}`, with body and response of invoke, or of stream if the tag ends in `_stream`; it needs a key; 404 `ENTRYPOINT_NOT_FOUND`, also if an agent has no entrypoint for invoke or stream",
    otherwise: ["no-execution-path", "execution-path-bare-result"],
  },
  {
    clauses: ["OTH-2", "OTH-3", "OTH-4"],
    open: "Detailed information about an agent, its lifecycle and its deployment",
    chosen:
      "`GET /v1/agents/{agent_id}`: the list's fields, `lifecycle` (always `ready`), `created_at`, `entrypoints`, `deployment` (`deployment_id`, `timeout` in seconds, `memory`)",
    otherwise: ["no-agent-description", "agent-description-envelope", "agent-description-short"],
  },
  {
    clauses: [],
    open: "The effect of the entrypoints of an agent configuration file",
    chosen:
      "they echo and name the entrypoint that ran: invoke runs the first one that does not stream, stream the first one that does; an absent `agent_id` is made from the agent's name; deliveries to configured webhooks are not signed",
    otherwise: [],
  },
];
