import { type Section, stated, withoutClause } from "./item.ts";

/** Sections of the document's part "Endpoints", from the common request rules to the list of agents. */
export const agentEndpointSections: readonly Section[] = [
  {
    heading: "Endpoints / Common request rules",
    items: [
      stated("Transport", "HTTPS for the cloud address", "REQ-1"),
      stated("Header `Authorization`", "`Bearer`, on every request", "REQ-2", "AUTH-1", "AUTH-2", "CLI-2"),
      stated("Header `Content-Type`", "`application/json` with a body", "REQ-3", "REQ-6", "REQ-10", "CLI-3"),
      stated("Header `Accept`", "`application/json`", "REQ-4", "CLI-4"),
      stated("Header `Accept`", "`text/event-stream` for the stream", "REQ-4", "SSE-33", "CLI-4"),
      stated("Body", "POST accepts JSON", "REQ-5", "REQ-6"),
      withoutClause("Body", "PUT accepts JSON", "No published endpoint takes a PUT."),
      stated("text", "two response shapes", "REQ-7"),
      stated("text", "fields of the envelope", "REQ-8"),
      stated("text", "`error` of the envelope on failure", "ERR-2", "ERR-3", "ERR-4"),
      stated("text", "not shown: which other endpoints use which shape", "REQ-9"),
    ],
  },
  {
    heading: "Endpoints / 1. Invoke an agent",
    items: [
      stated("text", "method and path; synchronous", "INV-1"),
      stated("agent_id", "in the path, required", "INV-1", "INV-11"),
      stated("query", "required string", "INV-1", "INV-10", "INV-20", "INV-21", "INV-22", "CLI-6"),
      stated("parameters", "object; unknown keys are accepted", "INV-12", "CLI-7"),
      stated("parameters.temperature", "0.0 to 2.0", "INV-13", "INV-19", "CLI-7"),
      stated("parameters.max_tokens", "integer: the most tokens in a response", "INV-14", "INV-15", "CLI-7"),
      stated("parameters.context", "object", "INV-16", "CLI-7"),
      stated("session_id", "optional string", "INV-17", "CLI-7"),
      stated("session_id", "keeps the context of a conversation", "INV-18"),
      stated("result", "required object", "INV-2"),
      stated("result", "its inner shape depends on the agent", "INV-23"),
      stated("usage", "three integers", "INV-3", "INV-7"),
      stated("metadata", "`execution_time` in seconds", "INV-4", "INV-9"),
      stated("metadata", "`agent_version`", "INV-5"),
      stated("metadata", "`request_id`", "INV-6", "INV-8"),
      stated("Errors", "400 without `query`", "INV-10"),
      stated("Errors", "404 without such an agent", "INV-11"),
      stated("Errors", "429 when rate limited", "LIM-10", "LIM-12"),
      stated("Errors", "not shown: out-of-range parameters", "INV-19"),
    ],
  },
  {
    heading: "Endpoints / 2. Stream an agent response",
    items: [
      stated("text", "method and path; an event stream", "SSE-1"),
      stated("text", "`Accept: text/event-stream`", "REQ-4", "SSE-33", "CLI-4"),
      stated("agent_id", "in the path, required", "SSE-1", "SSE-21"),
      stated("query", "required string, as on invoke", "SSE-1", "SSE-20", "CLI-6"),
      stated("parameters", "object, as on invoke", "SSE-34", "SSE-22", "CLI-7"),
      stated("session_id", "string, as on invoke", "SSE-26", "SSE-36", "CLI-7"),
      stated("parameters", "three more names are accepted", "SSE-22"),
      stated("parameters.resume_from_index", "not shown: what it does", "SSE-23"),
      stated("parameters.stream_delay_ms", "not shown: what it does", "SSE-24"),
      stated("parameters.chunk_size", "not shown: what it does", "SSE-25"),
      withoutClause("text", "which events are sent", "It points to Events / Stream events (SSE)."),
      stated("text", "closing the connection stops the stream", "SSE-27", "CLI-18"),
    ],
  },
  {
    heading: "Endpoints / 3. Health check",
    items: [
      stated("text", "method and path", "HLT-1"),
      stated("agent_id", "in the path, required", "HLT-1", "HLT-18"),
      stated("text", "no rate limit applies", "HLT-15", "HLT-16"),
      stated("status", "required: one of three", "HLT-2"),
      stated("checks", "required object", "HLT-3"),
      stated("checks", "its three keys", "HLT-20"),
      stated("checks.agent", "`status`, `response_time_ms`", "HLT-4"),
      stated("checks.dependencies", "map to status strings", "HLT-5"),
      stated("checks.dependencies", "example: `healthy`, `slow`", "HLT-5"),
      stated("checks.resources", "percentages of memory and CPU", "HLT-6", "HLT-17"),
      stated("version", "string: the agent's version", "HLT-7"),
      stated("uptime", "seconds", "HLT-8", "HLT-17", "HLT-22"),
      stated("last_request", "timestamp", "HLT-9", "HLT-22"),
      stated("warnings", "array of strings", "HLT-10"),
      stated("warnings", "present when degraded", "HLT-14", "HLT-21"),
    ],
  },
  {
    heading: "Endpoints / 4. List agents",
    items: [
      stated("text", "method and path", "LST-1"),
      stated("page", "integer in the query", "LST-1", "LST-4", "LST-7", "LST-10", "CLI-8", "CLI-9"),
      stated("limit", "integer in the query", "LST-1", "LST-4", "LST-6", "LST-10", "CLI-8", "CLI-9"),
      stated("data", "array of agents", "LST-2", "LST-6", "LST-7", "LST-11"),
      stated("pagination", "the block", "LST-3", "LST-5", "CLI-19"),
      stated("text", "not stated: defaults", "LST-8"),
      stated("text", "the client supplies both", "CLI-9"),
    ],
  },
];

/** Sections of the document's part "Endpoints", from reading usage to the other endpoints. */
export const accountEndpointSections: readonly Section[] = [
  {
    heading: "Endpoints / 5. Read usage",
    items: [
      stated("text", "method and path; no parameters", "USE-1"),
      stated("text", "a usage report", "USE-2", "USE-3", "USE-4"),
    ],
  },
  {
    heading: "Endpoints / 6. Create a webhook",
    items: [
      stated("text", "method and path", "WHK-1"),
      stated("url", "URL of the receiver", "WHK-1", "WHK-2", "WHK-5", "WHK-6", "CLI-23"),
      stated("events", "array of event types", "WHK-1", "WHK-2", "WHK-5", "WHK-6", "CLI-23"),
      stated("agent_id", "the agent that it is tied to", "WHK-1", "WHK-3", "WHK-6", "CLI-23"),
      stated("secret", "what deliveries are signed with", "WHK-1", "WHK-6", "HOOK-21", "HOOK-34", "CLI-23"),
      stated("text", "not shown: the response", "WHK-4"),
    ],
  },
  {
    heading: "Endpoints / 7. List webhook deliveries",
    items: [
      stated("text", "method and path", "WHK-7", "WHK-13"),
      stated("text", "not shown: query parameters and response", "WHK-8"),
    ],
  },
  {
    heading: "Endpoints / 8. Create a usage alert",
    items: [
      stated("text", "method and path", "ALR-1", "ALR-6"),
      stated("type", "string", "ALR-1", "ALR-5", "CLI-23"),
      stated("type", "example: `rate_limit`", "ALR-1"),
      stated("threshold", "percentage", "ALR-1", "ALR-3", "ALR-5", "CLI-23"),
      stated("webhook_url", "URL", "ALR-1", "ALR-3", "ALR-4", "CLI-23"),
      stated("text", "not shown: the response", "ALR-2"),
    ],
  },
  {
    heading: "Endpoints / 9. Read key usage",
    items: [stated("text", "method and path", "KEY-9"), stated("text", "not shown: parameters and response", "KEY-10")],
  },
  {
    heading: "Endpoints / 10. Check an asynchronous operation",
    items: [
      stated("text", "long-running work returns at once with a handle", "OPS-1", "OPS-6"),
      stated("text", "the path in `check_url`", "OPS-3"),
      stated("text", "not shown: its method and response", "OPS-4"),
    ],
  },
  {
    heading: "Endpoints / 11. Batch submission",
    items: [
      stated("batch", "array of bodies as of invoke", "BAT-1", "BAT-3", "CLI-6", "CLI-7"),
      stated("text", "not shown: the path", "BAT-2"),
    ],
  },
  {
    heading: "Endpoints / 12. Other endpoints",
    items: [
      stated("local execution", "not shown: exact path and payload", "OTH-1"),
      stated("agent information", "not shown: path and shape", "OTH-2"),
    ],
  },
];
