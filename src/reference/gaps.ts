import type { ClauseId } from "../spec/clauses.ts";

/** An open question of the document, with this server's choice and the variants that choose differently. */
interface Gap {
  /** Clauses whose checks show a target's choice. Empty if no check shows the choice. */
  readonly clauses: readonly ClauseId[];
  readonly open: string;
  readonly chosen: string;
  readonly otherwise: readonly string[];
}

const gap = (clauses: readonly ClauseId[], open: string) => ({
  chosen: (chosen: string) => ({
    otherwise: (...otherwise: readonly string[]): Gap => ({ clauses, open, chosen, otherwise }),
  }),
});

export const gaps: readonly Gap[] = [
  gap(["REQ-6"], "A body that is not JSON, or is declared as another type")
    .chosen("400 `INVALID_INPUT`; an empty body is an absent `query`")
    .otherwise("malformed-json-other-code", "content-type-415", "content-type-ignored"),
  gap(["REQ-10"], "A body type with a parameter")
    .chosen("accepted, with any parameter")
    .otherwise("json-with-charset-refused"),
  gap(["REQ-9"], "Which shape list and usage have")
    .chosen("their fields at the top level")
    .otherwise("list-envelope", "list-envelope-result", "usage-envelope", "usage-envelope-result"),
  gap(["INV-19"], "Parameters out of range")
    .chosen("400 `INVALID_INPUT`")
    .otherwise("temperature-out-of-range-accepted"),
  gap(["INV-20"], "A `query` that is no string").chosen("400 `INVALID_INPUT`").otherwise("query-number-accepted"),
  gap(["INV-21"], "An empty `query`").chosen("accepted").otherwise("empty-query-refused"),
  gap(["INV-23"], "The inner shape of `result`")
    .chosen("`output`, the text; `keeper` adds `turn` and `previous_query`")
    .otherwise("result-of-other-shape"),
  gap([], "What a token is")
    .chosen("a word of the query or of the response; `max_tokens` is the maximum number of words of the response")
    .otherwise(),
  gap([], "Which of several errors a response has")
    .chosen("in this order: 401, 403 (permission), 429, 406, an unreadable body, a bad signature, 404, 400")
    .otherwise("body-before-agent"),
  gap(["SSE-23"], "`resume_from_index`")
    .chosen("the stream begins with that chunk, counted from 0, and keeps its `index`")
    .otherwise("stream-parameters-ignored", "resume-counts-anew"),
  gap(["SSE-24"], "`stream_delay_ms`")
    .chosen("milliseconds to wait between two chunks, instead of the agent's own wait")
    .otherwise("stream-parameters-ignored"),
  gap(["SSE-25"], "`chunk_size`")
    .chosen("characters (code points) of a chunk; without it, a chunk is a word and the blank after it")
    .otherwise("stream-parameters-ignored", "chunk-size-in-words"),
  gap(["SSE-32"], "How long a stream may last").chosen("no limit").otherwise("stream-of-a-minute"),
  gap(["SSE-33"], "Another `Accept` on the stream endpoint")
    .chosen("ignored: the response is a stream")
    .otherwise("stream-needs-accept"),
  gap(["HLT-12"], "The status of an unhealthy report").chosen("200").otherwise("unhealthy-answers-503"),
  gap(["LST-8"], "Defaults of `page` and `limit`").chosen("1 and 20").otherwise("list-of-ten"),
  gap(["LST-9"], "Fields of an agent in the list")
    .chosen("`agent_id`, `agent_name`, `description`, `framework`, `version`, `status`")
    .otherwise("list-items-by-id"),
  gap(["LST-10"], "A page past the end; `page` or `limit` of 0 or below, or too large")
    .chosen("an empty page; the nearest value from 1 to 100; 400 `INVALID_INPUT` for other than integers")
    .otherwise("limit-below-1-refused", "page-past-the-end-404"),
  gap(["USE-9"], "The time that `requests` and `period` of usage refer to")
    .chosen("`requests` of the hour, `tokens` of the month, `period` is the start of the month (UTC)")
    .otherwise("usage-of-minute", "period-of-hour"),
  gap(["AUTH-7"], "`bearer` in other letter case").chosen("accepted, as in RFC 9110").otherwise("scheme-as-written"),
  gap(["AUTH-9"], "The code of a missing or malformed key")
    .chosen("`INVALID_API_KEY`")
    .otherwise("missing-key-other-code"),
  gap(["AUTH-11"], "How request signing is enabled, and the response to a bad signature")
    .chosen(
      "a request with either header must have a valid signature, or gets 401 `INVALID_SIGNATURE`; timestamps may be 300 s off",
    )
    .otherwise("signature-ignored", "bad-signature-400", "bad-signature-403"),
  gap(["AUTH-10"], "Whether the signed path has its query string").chosen("yes").otherwise("signature-of-path-only"),
  gap(["AUTH-13"], "A valid key that lacks permission")
    .chosen(
      "403 `FORBIDDEN`, not counted; a read-only key may not invoke, stream, execute, batch or start operations, nor create webhooks or alerts",
    )
    .otherwise("forbidden-401", "forbidden-404", "reader-may-invoke"),
  gap(["ERR-11"], "Codes that the document does not list")
    .chosen("500 `INTERNAL_ERROR` and `AGENT_TIMEOUT`, 404 `NOT_FOUND`, 406 `NOT_ACCEPTABLE`, 413 `REQUEST_TOO_LARGE`")
    .otherwise("crash-other-code", "timeout-504"),
  gap(["ERR-12"], "Which error form applies where")
    .chosen("form A everywhere")
    .otherwise("form-b", "form-b-without-empty-details", "both-forms", "forms-by-endpoint"),
  gap(["ERR-17"], "A path or method that is not defined")
    .chosen(
      "404 `NOT_FOUND` in the error form, counted like any request; bytes that are no HTTP request get 400 `INVALID_INPUT`",
    )
    .otherwise("unknown-path-html", "unknown-method-405"),
  gap(["ERR-9"], "Which of the two codes a 429 has")
    .chosen("`RATE_LIMIT_EXCEEDED`; `RATE_LIMITED` for an address without a valid key")
    .otherwise("code-rate-limited", "concurrency-code-rate-limited"),
  gap(["HDR-10"], "Which window the rate-limit headers report")
    .chosen("the one with fewer requests left, or else the one that resets later; a 429 reports the limit that refused")
    .otherwise("headers-of-hour", "headers-of-minute"),
  gap([], "The headers without a valid key, and the limit of such requests")
    .chosen("they report the limit of the address: 1,000 requests a minute, then 429 `RATE_LIMITED`")
    .otherwise("wrong-keys-limited"),
  gap(["LIM-8"], "What a burst adds to the minute; the burst of team")
    .chosen("nothing: all requests of a minute may come at once; team has no burst of its own")
    .otherwise("token-bucket", "burst-adds", "team-burst-50"),
  gap(["LIM-15"], "Fixed or rolling windows")
    .chosen("fixed, at whole hours and minutes (UTC)")
    .otherwise("rolling-windows", "rolling-hour", "anchored-windows", "sliding-windows"),
  gap(["LIM-16"], "Whether refused requests count")
    .chosen("no refusal counts (401, 403, 429)")
    .otherwise("refusals-count", "concurrency-refusals-count"),
  gap(["LIM-26"], "Whether errors count, and which endpoints do")
    .chosen("every admitted request except health counts and takes a slot, with any response")
    .otherwise("errors-do-not-count", "concurrency-of-turns"),
  gap(["LIM-20"], "A request beyond the month's tokens")
    .chosen(
      "429 `RATE_LIMIT_EXCEEDED` for every request that runs an agent, with the time to the next month; the response that exceeds the quota is still sent; further entries of a running batch fail",
    )
    .otherwise("over-quota-402", "over-quota-403"),
  gap(["LIM-22"], "The size of a request body")
    .chosen("1 MiB; beyond it 413 `REQUEST_TOO_LARGE`")
    .otherwise("small-bodies-only", "too-large-400"),
  gap([], "`retry_after` of a refusal for concurrency")
    .chosen("1, the minimum; in all other refusals the remaining seconds, rounded up")
    .otherwise("retry-rounded-up"),
  gap([], "When the slot of a lost client is free").chosen("at once").otherwise("leaving-noticed-late"),
  gap(["LIM-24"], "The numbers of the enterprise tier")
    .chosen("600 an hour, 400 a minute, 20 concurrent, a burst of 400, 50,000,000 tokens")
    .otherwise(),
  gap([], "An agent that exceeds its timeout")
    .chosen("500 `AGENT_TIMEOUT` after 30 s; in a stream `STREAM_ERROR`")
    .otherwise("timeout-504"),
  gap(["HOOK-24"], "How long the server waits for a receiver")
    .chosen("the 3 seconds in which a receiver should respond")
    .otherwise("receiver-has-ten-seconds", "receiver-has-two-minutes"),
  gap(["WHK-4", "WHK-12"], "The response to creating a webhook, and the fields of a webhook")
    .chosen(
      "201 with `webhook_id`, `url`, `events`, `agent_id`, `status`, `created_at` at the top level; never the secret",
    )
    .otherwise("webhook-answers-200", "webhook-id-as-id", "webhook-id-alone", "webhook-in-data", "webhook-in-result"),
  gap(["WHK-5"], "A webhook without `url`, or of an unknown event type")
    .chosen("400 `MISSING_REQUIRED_FIELD`; 400 `INVALID_INPUT`; the wildcards are `agent.*` and `deployment.*`")
    .otherwise("webhook-unknown-events-accepted"),
  gap(["WHK-6"], "Which fields a webhook needs")
    .chosen(
      "`url` and `events`; without `agent_id` it gets the events of every agent; 404 `AGENT_NOT_FOUND` for an unknown agent",
    )
    .otherwise("webhook-needs-secret"),
  gap([], "Webhooks of a key for some agents only, and of other keys")
    .chosen("403 `FORBIDDEN` unless `agent_id` is one of those; 404 `WEBHOOK_NOT_FOUND` for the webhook of another key")
    .otherwise(),
  gap(["WHK-8"], "Query parameters and response of the deliveries list")
    .chosen(
      "no parameters; `data`, newest first, each with its `status` and `attempts`; the last thousand ended ones are kept",
    )
    .otherwise("deliveries-as-array", "deliveries-under-their-name", "deliveries-in-envelope"),
  gap(["WHK-9"], "The path of webhook metrics, and their values before the first delivery")
    .chosen("`GET /v1/webhooks/{webhook_id}/metrics`; an average of 0, and the time of creation as `last_delivery`")
    .otherwise("no-webhook-metrics", "metrics-in-envelope"),
  gap(["WHK-10"], "The unit of `average_response_time`").chosen("milliseconds").otherwise("metrics-in-seconds"),
  gap(["HOOK-6"], "When an event has a `deployment_id`").chosen("always").otherwise("event-without-deployment"),
  gap(["HOOK-19"], "The data of the other events")
    .chosen(
      "`agent.invoked`: `request_id`, `input`; `agent.timeout`: also `timeout` in seconds; of a deployment: `deployment_id`, `version`, `status`",
    )
    .otherwise("event-payloads-of-other-shape", "event-with-more"),
  gap([], "The event of a stream whose client left before its end").chosen("none").otherwise("stream-left-fails"),
  gap([], "How a deployment changes, since the interface has no request for it")
    .chosen("`POST /control/deployments`, which only this server has, or an edited agent file")
    .otherwise(),
  gap(["HOOK-27", "HOOK-28"], "What the delays of retries count from, and how many attempts there are")
    .chosen("the previous attempt; five, of which the first is immediate")
    .otherwise("retries-from-first", "six-attempts", "six-attempts-from-first", "four-retries", "retries-with-jitter"),
  gap(
    ["HOOK-29", "HOOK-33"],
    "Whether the delivery or the webhook is marked failed, and whether later events are still sent",
  )
    .chosen("the delivery; yes")
    .otherwise("webhook-marked-failed", "webhook-marked-failed-and-served", "failed-delivery-of-another-word"),
  gap(["HOOK-31"], "Headers of a delivery that name its type or id")
    .chosen("none")
    .otherwise("delivery-headers", "delivery-headers-lower-case"),
  gap(["HOOK-45"], "The source addresses of deliveries")
    .chosen("one: that of the machine")
    .otherwise("deliveries-from-three-addresses"),
  gap(["HOOK-34"], "The signature of a webhook without a secret")
    .chosen("no such header")
    .otherwise("delivery-signed-without-secret"),
  gap(["HOOK-35"], "A 2xx whose body never ends")
    .chosen("delivered: the status decides")
    .otherwise("delivery-awaits-answer-body"),
  gap(["ALR-2"], "The response to creating an alert")
    .chosen("201 with `alert_id`, `type`, `threshold`, `webhook_url`, `created_at`")
    .otherwise("alert-answers-200", "alert-id-as-id", "alert-in-data"),
  gap(["ALR-3"], "Which usage an alert watches, and how often it fires")
    .chosen("the requests of its key in the hour; each time they reach the threshold from below")
    .otherwise("alert-of-minute", "alert-fires-on-every-request"),
  gap(["ALR-4"], "The message of an alert")
    .chosen("`id`, `type`, `threshold`, `used`, `limit`, `remaining`, `created`; not signed; retried like any delivery")
    .otherwise("alert-message-as-event"),
  gap(["ALR-5"], "A threshold outside 0 to 100, or another type of alert")
    .chosen("400 `INVALID_INPUT`")
    .otherwise("alert-threshold-beyond-accepted", "alert-of-unknown-type-accepted"),
  gap([], "Addresses that webhooks and alerts may name")
    .chosen(
      "http and https, but no private networks: 400 `INVALID_INPUT`, or a failed delivery if a host name resolves to one; loopback only if the server listens there",
    )
    .otherwise(),
  gap([], "The client's address behind proxies")
    .chosen(
      "the peer's; with `--trust-proxy` the last address in `Forwarded`, or else `X-Forwarded-For`, that is no trusted proxy",
    )
    .otherwise(),
  gap(["KEY-10", "KEY-11"], "Parameters and response of key usage; the fields of a key")
    .chosen(
      "no parameters; `key` (`name`, `tier`, `scope`, `agents`, `allowed_ips`, `expires_at`; never its text), `period`, `requests` of the hour, `tokens` of the month, `last_used` before this request",
    )
    .otherwise("key-usage-envelope", "key-usage-as-usage", "key-usage-as-list"),
  gap(["BAT-2", "BAT-3", "OPS-6"], "The path and the response of a batch, and which requests start an operation")
    .chosen(
      "`POST /v1/agents/{agent_id}/batch`, 1 to 100 entries; 201 with an operation handle, as `POST /v1/agents/{agent_id}/operations` responds to the body of an invoke; nothing else starts an operation; each counts as one request; the entries take no slots, but use tokens",
    )
    .otherwise("batch-200", "batch-accepted-202", "handle-envelope", "handle-with-more", "operation-ids-of-uuid"),
  gap(["OPS-4"], "Method and response of `check_url`")
    .chosen(
      "GET; the handle's fields with `agent_id`, the times, `progress`, and at the end `results` in the order of the batch; 404 `OPERATION_NOT_FOUND` for operations of other keys",
    )
    .otherwise("operation-envelope", "operation-without-results"),
  gap(["OPS-5"], "States of an operation after `pending`")
    .chosen("`running`, then `completed`, or `failed` if every entry failed")
    .otherwise("operation-of-other-words", "operation-done-at-once", "slow-operations"),
  gap(["OTH-1"], "The local execution path")
    .chosen(
      "`POST /api/v1/agents/{agent_id}/execute/{entrypoint_tag}`, with body and response of invoke, or of stream if the tag ends in `_stream`; it needs a key; 404 `ENTRYPOINT_NOT_FOUND`, also if an agent has no entrypoint for invoke or stream",
    )
    .otherwise("no-execution-path", "execution-path-bare-result"),
  gap(["OTH-2", "OTH-3", "OTH-4"], "Detailed information about an agent, its lifecycle and its deployment")
    .chosen(
      "`GET /v1/agents/{agent_id}`: the list's fields, `lifecycle` (always `ready`), `created_at`, `entrypoints`, `deployment` (`deployment_id`, `timeout` in seconds, `memory`)",
    )
    .otherwise("no-agent-description", "agent-description-envelope", "agent-description-short"),
  gap([], "The effect of the entrypoints of an agent configuration file")
    .chosen(
      "they echo and name the entrypoint that ran: invoke runs the first one that does not stream, stream the first one that does; an absent `agent_id` is made from the agent's name; deliveries to configured webhooks are not signed",
    )
    .otherwise(),
];

export function gapsDocument(): string {
  const rows = gaps.map(({ clauses, open, chosen, otherwise }) => {
    const names = otherwise.map((name) => `\`${name}\``).join(", ");
    return `| ${clauses.join(", ")} | ${open} | ${chosen} | ${names} |`;
  });
  return [
    "# Gaps",
    "",
    "The interface document leaves some cases open. This table lists them, with the choice of the reference server and the",
    "variants (`conformance serve --variant NAME`) with another choice. The suites are tested against all of them. The",
    "clauses are those of [clauses.md](clauses.md). `npm run docs` writes this page from `src/reference/gaps.ts`.",
    "",
    "| Clause | Left open | The reference server | Variants |",
    "|---|---|---|---|",
    ...rows,
    "",
  ].join("\n");
}
