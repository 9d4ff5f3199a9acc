import { type ClauseTable, advisory, gap, must, policy, should, optionalFieldReadings } from "../clause.ts";

const invoke = "Endpoints / 1. Invoke an agent";

export const invokeClauses = {
  "INV-1": must(invoke, "`POST /v1/agents/{agent_id}/invoke` with a `query` answers 200."),
  "INV-2": must(invoke, "The answer has `result`, an object."),
  "INV-3": must(
    invoke,
    "`usage`, where present, is an object, and what it has of `prompt_tokens`, `completion_tokens` and `total_tokens` are integers.",
    { readings: { absent: "`usage` is left out", present: "`usage` is there" } },
  ),
  "INV-4": must(invoke, "`metadata.execution_time`, where present, is a number of seconds.", {
    readings: optionalFieldReadings,
  }),
  "INV-5": must(invoke, "`metadata.agent_version`, where present, is a string.", { readings: optionalFieldReadings }),
  "INV-6": must(invoke, "`metadata.request_id`, where present, is a string.", { readings: optionalFieldReadings }),
  "INV-7": advisory(invoke, "`total_tokens` is the sum of `prompt_tokens` and `completion_tokens`."),
  "INV-8": advisory(invoke, "`metadata.request_id` differs from one request to the next."),
  "INV-9": advisory(invoke, "`metadata.execution_time` is not negative, and not longer than the request took."),
  "INV-10": must(invoke, "An absent `query` answers 400 `MISSING_REQUIRED_FIELD`."),
  "INV-11": must(invoke, "An agent that does not exist answers 404 `AGENT_NOT_FOUND`."),
  "INV-12": must(invoke, "Unknown keys inside `parameters` are accepted."),
  "INV-13": must(invoke, "`parameters.temperature` is accepted from 0.0 to 2.0, both included."),
  "INV-14": must(invoke, "`parameters.max_tokens` accepts an integer."),
  "INV-15": should(invoke, "The answer's `completion_tokens` does not exceed `parameters.max_tokens`."),
  "INV-16": must(invoke, "`parameters.context` accepts an object."),
  "INV-17": must(invoke, "`session_id` accepts a string, and is optional."),
  "INV-18": must(invoke, "Calls with the same `session_id` share their conversation's context."),
  "INV-19": gap(invoke, "The answer to an out-of-range parameter value is not shown."),
  "INV-20": must(
    "Errors / Error codes",
    "A `query` that is not a string, where it is refused, answers 400, with a code that the table does not give to another status.",
    { readings: { refused: "it is refused as invalid input", accepted: "it is taken as if it were a string" } },
  ),
  "INV-21": gap(invoke, "The answer to an empty `query` is not shown."),
  "INV-22": must("What the service does 1", "A `query` in any script is carried unharmed, as JSON text is Unicode."),
  "INV-23": gap(invoke, "The inner shape of `result` depends on the agent."),
} as const satisfies ClauseTable;

const health = "Endpoints / 3. Health check";
const states = "States and transitions / Health status of an agent";

export const healthClauses = {
  "HLT-1": must(health, "`GET /v1/agents/{agent_id}/health` answers 200."),
  "HLT-2": must(health, "`status` is `healthy`, `degraded` or `unhealthy`."),
  "HLT-3": must(health, "`checks` is an object."),
  "HLT-4": must(
    health,
    "`checks.agent`, where present, is an object; its `status` is a string and its `response_time_ms` a number, where present.",
    { readings: optionalFieldReadings },
  ),
  "HLT-5": must(health, "`checks.dependencies`, where present, maps a dependency's name to a status string.", {
    readings: optionalFieldReadings,
  }),
  "HLT-6": must(
    health,
    "`checks.resources`, where present, is an object; its `memory_usage_percent` and `cpu_usage_percent` are numbers, where present.",
    { readings: optionalFieldReadings },
  ),
  "HLT-7": must(health, "`version`, where present, is a string.", { readings: optionalFieldReadings }),
  "HLT-8": must(health, "`uptime`, where present, is a number of seconds.", { readings: optionalFieldReadings }),
  "HLT-9": must(health, "`last_request`, where present, is an ISO 8601 timestamp.", {
    readings: optionalFieldReadings,
  }),
  "HLT-10": must(health, "`warnings`, where present, is an array of strings.", { readings: optionalFieldReadings }),
  "HLT-11": must(states, "An agent with warnings that still functions is `degraded`."),
  "HLT-12": must(states, "An agent whose critical checks fail is `unhealthy`.", {
    readings: { "answers-200": "the report comes with 200", "answers-5xx": "the report comes with a 5xx status" },
  }),
  "HLT-13": must(states, "`healthy` means that all checks pass: no check that the report shows has failed."),
  "HLT-14": must(health, "`warnings` is there when the agent is degraded."),
  "HLT-15": must(health, "No rate limit applies: health answers 200 while invoke answers 429."),
  "HLT-16": must(health, "Health calls do not use up the allowance."),
  "HLT-17": advisory(
    health,
    "`uptime` does not fall between two calls, no quantity is negative, and percentages lie between 0 and 100.",
  ),
  "HLT-18": must(
    "Errors / Error codes",
    "A health check of an agent that does not exist answers 404 `AGENT_NOT_FOUND`.",
  ),
  "HLT-19": policy(
    states,
    "The status is recomputed on each request from current checks; no operation moves an agent between states.",
    {
      untestable:
        "Seeing it needs an agent whose health changes at will, and the interface offers no way to change it.",
    },
  ),
  "HLT-20": advisory(health, "The three keys of `checks` are `agent`, `dependencies` and `resources`."),
  "HLT-21": advisory(
    health,
    "`warnings` warns of something where the agent is degraded, and of nothing where it is healthy.",
  ),
  "HLT-22": advisory(
    health,
    "A report is no constant: `uptime` goes on with time, and `last_request` with each request.",
  ),
  "HLT-23": advisory(
    states,
    "No check of a `healthy` report has a status that means a failure or a warning, in any word.",
    { since: "1.1" },
  ),
} as const satisfies ClauseTable;

const listing = "Endpoints / 4. List agents";

export const listingClauses = {
  "LST-1": must(listing, "`GET /v1/agents` with `page` and `limit` answers 200."),
  "LST-2": must(listing, "The answer has `data`, an array of agents."),
  "LST-3": must(listing, "The answer has `pagination` with the integers `page`, `limit`, `total` and `pages`."),
  "LST-4": advisory(listing, "`pagination.page` and `pagination.limit` are those that were asked for."),
  "LST-5": advisory(listing, "`pages` is `total` divided by `limit`, rounded up."),
  "LST-6": must(listing, "A page of a paginated listing holds at most the `limit` asked for."),
  "LST-7": must(listing, "The second page of a paginated listing does not repeat the first."),
  "LST-8": gap(listing, "Defaults of `page` and `limit` are not stated."),
  "LST-9": gap(
    "Resources and their fields / Gaps in the resource fields",
    "The fields of an item in the agent list are not shown.",
  ),
  "LST-10": gap(listing, "The answer to a page past the end, and to a `limit` of 0 or below, is not shown."),
  "LST-11": advisory(listing, "A page holds as many agents as `total` leaves for it."),
} as const satisfies ClauseTable;

const handle = "Resources and their fields / Operation handle (asynchronous work)";
const check = "Endpoints / 10. Check an asynchronous operation";
const batch = "Endpoints / 11. Batch submission";

export const operationClauses = {
  "OPS-1": must(handle, "A long-running operation returns at once with the string `operation_id`."),
  "OPS-2": must(handle, "`status` of a new operation is `pending`."),
  "OPS-3": must(handle, "`check_url` is the path `/v1/operations/<operation_id>`."),
  "OPS-4": gap(check, "Method and response of `check_url` are not shown."),
  "OPS-5": gap(
    "States and transitions / Operation status",
    "Status values other than `pending`, and the moves between them, are not shown.",
  ),
  "OPS-6": gap(check, "Which requests start a long-running operation is not shown."),
  "OPS-7": advisory(handle, "Two operations have two ids.", { since: "1.1" }),
  "BAT-1": must(
    batch,
    "A batch is an array `batch` of objects shaped like an invoke body, and is accepted where the target says it takes one.",
  ),
  "BAT-2": gap(batch, "The path that accepts a batch is not shown."),
  "BAT-3": gap(batch, "The answer to a batch is not shown."),
  "OTH-1": gap(
    "Endpoints / 12. Other endpoints",
    "Exact path and payload of the local execution path of an entrypoint are not shown.",
  ),
  "OTH-2": gap(
    "Endpoints / 12. Other endpoints",
    "Path and shape of the detailed agent information endpoint are not shown.",
  ),
  "OTH-3": gap(
    "States and transitions / Agent lifecycle",
    "Lifecycle states of an agent other than the local `ready`, and their transitions, are not shown.",
  ),
  "OTH-4": gap(
    "Resources and their fields / Gaps in the resource fields",
    "Fields of a deployment record are not shown.",
  ),
} as const satisfies ClauseTable;

const endpoint = "Endpoints / 2. Stream an agent response";
const streamEventsSection = "Events / Stream events (SSE)";
const sequence = "States and transitions / Stream sequence";

export const streamClauses = {
  "SSE-1": must(endpoint, "`POST /v1/agents/{agent_id}/stream` answers 200 with an event stream."),
  "SSE-2": must(streamEventsSection, "Each event has an `event:` name, one of start, chunk, error and done."),
  "SSE-3": must(streamEventsSection, "Each event's `data:` holds JSON, an object."),
  "SSE-4": must(sequence, "`start` comes first, and once."),
  "SSE-5": must(sequence, "Exactly one of `done` and `error` comes last, and no event follows it."),
  "SSE-6": must(sequence, "Content is sent as `chunk` events between `start` and the end."),
  "SSE-7": must(streamEventsSection, "`start` carries `message`, a string."),
  "SSE-8": must(streamEventsSection, "`session_id` of `start`, where present, is a string.", {
    readings: optionalFieldReadings,
  }),
  "SSE-9": must(streamEventsSection, "`chunk` carries `content`, a string."),
  "SSE-10": must(streamEventsSection, "`index` of `chunk`, where present, is an integer.", {
    readings: {
      absent: "chunks carry no `index`",
      "from-0": "the first index is 0",
      "from-1": "the first index is 1",
      otherwise: "it begins otherwise, or now so and now so",
    },
  }),
  "SSE-11": advisory(
    streamEventsSection,
    "`index` is on every chunk of a stream or on none, begins with 0 or 1, and rises by one from chunk to chunk.",
  ),
  "SSE-12": must(streamEventsSection, "`done` carries `message`, a string."),
  "SSE-13": must(streamEventsSection, "`done` carries `usage` with the integer `total_tokens`."),
  "SSE-14": must(streamEventsSection, "`done` carries `execution_time`, a number of seconds."),
  "SSE-15": must(streamEventsSection, "`error` carries the strings `error` and `code`."),
  "SSE-16": must(streamEventsSection, "`retry_after` of `error`, where present, is a number of seconds.", {
    readings: { absent: "no `error` event carries it", present: "it is there" },
  }),
  "SSE-17": must(sequence, "A failure while streaming sends an `error` event."),
  "SSE-18": must("Errors / Error codes", "Processing that fails during streaming has the code `STREAM_ERROR`."),
  "SSE-19": must("Errors / Error codes", "An overloaded model has the code `CAPACITY_ERROR`, with `retry_after`."),
  "SSE-20": must(
    "Errors / Error codes",
    "An absent `query` is refused with 400, with a code that the table does not give to another status.",
  ),
  "SSE-21": must("Errors / Error codes", "An agent that does not exist answers 404 `AGENT_NOT_FOUND`, as on invoke."),
  "SSE-22": must(
    endpoint,
    "`parameters` accepts `resume_from_index`, `stream_delay_ms`, `chunk_size` and unknown keys.",
  ),
  "SSE-23": gap(endpoint, "What `resume_from_index` does is not shown."),
  "SSE-24": gap(endpoint, "What `stream_delay_ms` does is not shown."),
  "SSE-25": gap(endpoint, "What `chunk_size` does is not shown."),
  "SSE-26": must(endpoint, "`session_id` is accepted."),
  "SSE-27": must(endpoint, "Closing the connection stops the stream: its slot is given back."),
  "SSE-28": advisory(sequence, "The server closes the stream after the terminal event."),
  "SSE-29": advisory(sequence, "Events are sent as they are generated, not all at the end."),
  "SSE-30": must(
    "What the service does 1",
    "Multi-byte text arrives whole: the concatenated chunks are valid Unicode.",
  ),
  "SSE-31": advisory(
    streamEventsSection,
    "`execution_time` of `done` is not negative, and not longer than the stream took.",
  ),
  "SSE-32": gap("Limits / Scope of limits 7", "The maximum duration of a stream is not shown."),
  "SSE-33": gap(
    endpoint,
    "What an `Accept` other than `text/event-stream` gets from the stream endpoint is not shown.",
  ),
  "SSE-34": must(
    endpoint,
    "`parameters` accepts what it accepts on invoke: a `temperature` from 0.0 to 2.0, both included, an integer `max_tokens` and an object `context`.",
  ),
  "SSE-35": advisory(
    streamEventsSection,
    "`session_id` of `start`, where the request names a session, is that session.",
  ),
  "SSE-36": must(endpoint, "Streams with the same `session_id` share their conversation's context, as invokes do."),
} as const satisfies ClauseTable;
