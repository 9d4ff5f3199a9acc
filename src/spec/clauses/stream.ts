import { advisory, gap, must, type ClauseTable } from "../clause.ts";

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
    readings: { absent: "it is left out", present: "it is there" },
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
