package main

// kind, name, what is done, why (defect: the sentence that is broken; odd: the sentence that makes it legal), how it shows
type sw struct{ kind, name, what, why, shows string }

var switches = []sw{
	{"defect", "hdr-none-stream-400", "400 answers of the stream endpoint carry none of the four rate limit headers.", "Limits/Scope 2: 'Rate limit headers on every response'.", "stream with temperature 3"},
	{"defect", "hdr-none-401-expired", "The 401 for an expired key carries no rate limit headers (the 401 for a wrong or missing key does).", "Limits/Scope 2: 'Rate limit headers on every response'.", "expired key, any endpoint"},
	{"defect", "hdr-no-remaining-alert-created", "The 201 of POST /v1/alerts lacks X-RateLimit-Remaining.", "Limits/Scope 2: 'Rate limit headers on every response: ... X-RateLimit-Remaining'.", "create an alert"},
	{"defect", "hdr-no-reset-500-timeout", "The 500 of a run that timed out lacks X-RateLimit-Reset (the 500 of a failing agent has it).", "Limits/Scope 2: 'Rate limit headers on every response: ... X-RateLimit-Reset'.", "invoke timing-out"},
	{"defect", "hdr-reset-relative-page2", "From page 2 of the agent list on X-RateLimit-Reset holds the seconds until reset instead of a Unix time.", "Limits/Scope 2: 'X-RateLimit-Reset (Unix timestamp of reset)'.", "GET /v1/agents?page=2&limit=5"},
	{"defect", "hdr-reset-after-ms-hour", "X-RateLimit-Reset-After is in milliseconds while the headers speak of the hour.", "Limits/Scope 2: 'X-RateLimit-Reset-After (seconds until reset)'.", "free key, 95 requests of the hour, then any"},
	{"defect", "hdr-remaining-full-keys-usage", "On GET /v1/keys/usage X-RateLimit-Remaining is always the whole limit.", "Limits/Scope 2: 'X-RateLimit-Remaining (requests left in the window)'.", "a few requests, then keys/usage"},

	{"defect", "err-no-retry-after-tokens", "The 429 for the month's tokens has no retry_after in the body (other 429s have).", "Limits/Scope 3: 'the response is 429 with the error body and retry_after seconds'.", "free key, 100,000 tokens used, then invoke"},
	{"defect", "err-reset-at-unix-get", "details.reset_at of a 429 to a GET is a Unix number (to a POST an ISO timestamp).", "Errors, form B: 'reset_at (ISO 8601 timestamp)'.", "free key, 11th request of the minute is a GET"},
	{"defect", "err-503-slots-batch", "A batch that is refused because all slots are held gets 503 instead of 429.", "Limits/Scope 3: 'When a limit is exceeded the response is 429'.", "hold all slots, then batch"},
	{"defect", "err-details-string-parameters", "details of a 400 about a key inside parameters is a string.", "Errors, form B: 'details is an object'.", "invoke with temperature 3"},
	{"defect", "err-code-hour", "The 429 of the hour has the code HOURLY_LIMIT.", "Error codes: 'RATE_LIMIT_EXCEEDED | 429 | rate limit exceeded' (variant RATE_LIMITED).", "free key, 101st request of the hour"},

	{"defect", "key-expired-code-stream", "An expired key gets code INVALID_API_KEY on the stream endpoint.", "Authentication 3: 'Expired key: code EXPIRED_API_KEY'.", "expired key, stream"},
	{"defect", "key-temporary-sliding", "Each request prolongs the life of a temporary key (it expires N seconds after its last use).", "API key 1: 'expires automatically after a set time'.", "temporary key: use it at 3/4 of its life, and again after its end"},
	{"defect", "key-readonly-batch", "A read-only key may submit a batch (every other POST is refused).", "API key 3: 'a read-only scope'; Authentication 2.", "read-only key, batch"},
	{"defect", "key-oneagent-stream-other", "A one-agent key may stream other agents (invoke, health and batch are refused).", "Authentication 2: 'A key can be restricted ... by agent'.", "one-agent key, stream of another agent"},
	{"defect", "key-ip-deliveries", "The IP allow list is not looked at on GET deliveries.", "Authentication 2: 'restricted ... by a list of allowed source IP addresses'.", "ip-restricted key from 127.0.0.1, GET deliveries"},
	{"defect", "key-missing-operations", "GET /v1/operations/{id} is served without any Authorization header (a wrong key is refused).", "Common rules: 'Authorization ... required on every request'; Authentication 3: 'A missing ... key yields 401'.", "GET check_url without a key"},

	{"defect", "lim-minute-shared-free", "The two free keys draw on one minute counter (the hour is separate).", "Limits: 'Request rate (per API key)'.", "10 requests with free1, one with free2"},
	{"defect", "lim-hour-not-stream", "While the hour is used up streams are still admitted.", "Rate table: Free 100 requests per hour; 'A stream request counts as a single request'.", "free key, 100 requests in the hour, then stream"},
	{"defect", "lim-slots-streams-unheld", "A running stream holds no concurrency slot (a running invoke does).", "Rate table: concurrent requests (Free 2).", "free key, 3 slow streams at once"},
	{"defect", "lim-slots-team-20", "A team key may hold only 20 requests at once.", "Rate table: Team, concurrent requests 25.", "team key, 21 slow invokes at once"},
	{"defect", "lim-slot-leak-abort", "A stream that the client closes keeps its slot for 60 seconds more.", "Stream: 'Closing the connection stops the stream'; rate table: concurrent requests.", "free key, abort 2 slow streams, wait some seconds, any request"},
	{"defect", "lim-second-hour-half", "An hour after its first request a key is admitted only half of its hourly limit from then on (Limit and Remaining still say the whole).", "Rate table: requests per hour; 'X-RateLimit-Remaining (requests left in the window)'.", "free key: one request, advance 3700 s, 51 requests"},
	{"defect", "lim-health-429-slots", "Health answers 429 while all slots of the key are held.", "Limits/Scope 1: 'The health endpoint is not rate limited'.", "free key holds 2, then health"},

	{"defect", "list-page2-more", "From page 2 on a page holds one item more than limit (page 3 then repeats it).", "List agents: paginated by page and limit.", "GET /v1/agents?page=2&limit=5"},
	{"defect", "usage-period-epoch-team", "usage.period is a Unix number for team keys.", "Usage report: 'period | string, ISO 8601 timestamp'.", "team key, GET /v1/usage"},
	{"defect", "usage-tokens-stream-uncounted", "Tokens of streams are not counted in usage.tokens.used.", "Usage report: tokens used; Token quota per month.", "usage, stream, usage"},
	{"defect", "inv-result-string-max-tokens", "result is a string when parameters.max_tokens is given.", "Invoke response: 'result | object | yes'.", "invoke with max_tokens 5"},
	{"defect", "health-last-request-unix-stream", "last_request is a Unix number when the agent's last request was a stream.", "Health: 'last_request | string | ISO 8601 timestamp'.", "stream, then health of the same agent"},

	{"defect", "sse-chunk-after-done", "When chunk_size is given an empty chunk follows the done event.", "Stream sequence: 'generation finishes -> done event sent' and nothing after it.", "stream with chunk_size 8"},
	{"defect", "sse-done-no-usage-session", "done has no usage when the request has a session_id.", "Stream events: done carries 'usage object (total_tokens integer ...)'.", "stream with session_id"},
	{"defect", "sse-unknown-parameter-400", "The stream endpoint refuses unknown keys inside parameters (invoke takes them).", "Invoke request body (same for stream): 'unknown keys are accepted'.", "stream with parameters {\"foo\": 1}"},

	{"defect", "hook-sig-upper-timeout", "The signature of agent.timeout deliveries is in upper-case hexadecimal.", "Delivery security 1: 'lower-case hexadecimal HMAC-SHA256'.", "webhook on timing-out, invoke it"},
	{"defect", "hook-sig-nonascii", "The signature is made over the body with non-ASCII letters as \\u escapes, while the body has them raw.", "Delivery security 1: 'HMAC-SHA256 of the raw body'.", "invoke echo with a query in Greek"},
	{"defect", "hook-fifth-early", "The fifth attempt comes 30 minutes after the fourth instead of 2 hours.", "Delivery policy 4: '... 30 minutes and 2 hours'.", "receiver answers 500, all attempts"},
	{"defect", "hook-204-retried", "A receiver's 2xx other than 200 is taken as a failure and retried.", "Webhook delivery: 'receiver answers 2xx -> delivered'.", "receiver answers 204"},
	{"defect", "hook-wildcard-health-changed", "The wildcard agent.* also selects deployment.health_changed.", "Webhook events: 'the wildcard agent.* selects all execution events'.", "webhook agent.*, trigger health_changed"},
	{"defect", "hook-failed-error-string-stream", "data.error of agent.failed is a string when the run was a stream.", "Payload of agent.failed: 'error object (code, message, details strings)'.", "webhook agent.failed, stream of stream-failing"},
	{"defect", "hook-other-agent-failed", "agent.failed is also delivered to webhooks that are tied to another agent.", "Create a webhook: 'agent_id | agent the webhook is tied to'.", "webhook on echo for agent.*, invoke failing"},

	{"odd", "form-both", "Every error body is form A and form B at once (status \"error\" outside; code, message, status, details and retry_after inside error).", "Readings, Error body: 'a body that is both at once has extra fields and is legal'.", "any error"},
	{"odd", "fixed-windows", "Minute and hour are fixed windows cut at the full minute and hour of the clock (without the switch both are rolling).", "'Whether the hourly window is fixed or rolling: not shown'; Readings, Window shape.", "Reset is a multiple of 60"},
	{"odd", "headers-minute", "The four headers always speak of the minute, also on a 429 of the hour.", "Readings: 'they speak of the hour, of the minute, or of whichever is tighter now'.", "free key with the hour used up"},
	{"odd", "headers-alternate", "The headers speak of the minute and of the hour in turn.", "Readings, Window shape: 'Limit may switch between hour and minute from one response to the next'.", "two requests"},
	{"odd", "lowercase-headers", "All rate limit headers and Content-Type are written in lower case on the wire.", "What is legal: 'header names in any case'.", "raw bytes"},
	{"odd", "gzip", "JSON answers are gzipped where the client offers it.", "What is legal: 'gzip where the client offered it'.", "Accept-Encoding: gzip"},
	{"odd", "json-pretty", "JSON answers are indented with tabs and CRLF, in two chunks cut anywhere, with all non-ASCII letters as \\u escapes.", "What is legal: 'any JSON key order and whitespace', 'chunked or fixed-length bodies'.", "any answer"},
	{"odd", "extra-fields", "Unknown extra fields in every object (answers, stream events, deliveries) and some extra headers.", "What is legal: 'Unknown extra fields and headers'.", "any answer"},
	{"odd", "null-optionals", "Optional fields are null: usage and metadata of invoke, version and last_request of health, index of chunks, session_id of start, deployment_id.", "Rulings: 'An optional or not yet known field may be null'.", "invoke"},
	{"odd", "time-no-z", "All timestamps are UTC with microseconds and without their Z.", "Rulings: 'A UTC time may lack its Z (a note)'; ISO 8601 is all that the tables say of most.", "usage.period"},
	{"odd", "sse-cr", "SSE lines end in a lone CR, with keep-alive comments between events.", "What is legal: 'SSE with CRLF, LF or CR line ends, comments and keep-alives'.", "stream"},
	{"odd", "index-drop-zero", "The first chunk has no index (a serialiser that drops zeros).", "Readings, Chunk index: 'a serialiser that drops zeros leaves the first one out'.", "stream"},
	{"odd", "permission-401", "A valid key that lacks permission gets 401 INSUFFICIENT_SCOPE instead of 403.", "'Status code returned for a valid key that lacks permission: not shown'.", "read-only key, invoke"},
	{"odd", "receiver-patience", "The sender waits 10 s for a receiver.", "Rulings: 'The sender may wait longer than 3 s for a receiver'.", "receiver that answers after 5 s"},
	{"odd", "date-lags", "The Date header lags 5 s behind.", "Rulings: 'Date may lag on a busy server or come from a proxy'.", "any answer"},
	{"odd", "hook-failed-stops", "A webhook with a delivery that failed five times gets no later events.", "Readings, Marked failed: 'the delivery or the webhook; whether later events are still sent is open'.", "five failed attempts, then another event"},
	{"odd", "slot-release-late", "An aborted stream gives its slot back 2 s after the server noticed.", "Readings: 'An aborted stream gives its slot back ... at the latest a few seconds after its next write'.", "free key, abort 2 streams, ask at once"},
	{"odd", "crash-502", "Runs that fail or time out answer 502 instead of 500.", "Rulings: 'An agent's crash may be any 5xx'.", "invoke failing"},
	{"odd", "errors-uncounted", "Answers of 400, 404 and 5xx do not use up the allowance.", "Readings, What counts: 'refusals (401, 403, 429) and errors may or may not'.", "two 404s: Remaining stays"},
	{"odd", "stream-lingers", "After done or error the connection stays open for 2 s (nothing is sent, the slot is free).", "'That the server then closes ... the document does not say: advisory'.", "stream, time of its end"},
}
