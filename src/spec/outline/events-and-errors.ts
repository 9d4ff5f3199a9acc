import { type Section, stated } from "./item.ts";

const webhookEventsSection = "Events / Webhook events";

export const eventSections: readonly Section[] = [
  {
    heading: "Events / Stream events (SSE)",
    items: [
      stated("text", "an `event:` name and JSON in `data:`", "SSE-2", "SSE-3"),
      stated("start", "`message`", "SSE-7"),
      stated("start", "`session_id`", "SSE-8", "SSE-35"),
      stated("start", "emitted when streaming begins", "SSE-4"),
      stated("chunk", "`content`", "SSE-9"),
      stated("chunk", "`index`", "SSE-10", "SSE-11"),
      stated("chunk", "emitted for each generated piece", "SSE-6", "SSE-29"),
      stated("error", "`error` and `code`", "SSE-15"),
      stated("error", "`retry_after` in seconds", "SSE-16"),
      stated("error", "emitted on failure during streaming", "SSE-17"),
      stated("done", "`message`", "SSE-12"),
      stated("done", "`usage` with `total_tokens`", "SSE-13"),
      stated("done", "`execution_time` in seconds", "SSE-14", "SSE-31"),
      stated("done", "emitted when streaming completes", "SSE-5"),
    ],
  },
  {
    heading: webhookEventsSection,
    items: [
      stated("agent.invoked", "an invocation started", "HOOK-7"),
      stated("agent.completed", "an execution completed", "HOOK-8", "HOOK-43"),
      stated("agent.failed", "an execution failed", "HOOK-9", "HOOK-43"),
      stated("agent.timeout", "an execution timed out", "HOOK-10", "HOOK-43"),
      stated("deployment.created", "a deployment was created", "HOOK-11"),
      stated("deployment.updated", "a deployment was updated", "HOOK-12"),
      stated("deployment.deleted", "a deployment was removed", "HOOK-13"),
      stated("deployment.health_changed", "health changed", "HOOK-14"),
      stated("text", "a webhook subscribes to a list of types", "HOOK-15"),
      stated("text", "the wildcard `agent.*`", "HOOK-16"),
      stated("text", "the body is the event record", "HOOK-1", "HOOK-2", "HOOK-3", "HOOK-4", "HOOK-5", "HOOK-6"),
      stated("text", "`data` of `agent.completed`", "HOOK-17", "HOOK-41", "HOOK-42"),
      stated("text", "`data` of `agent.failed`", "HOOK-18"),
      stated("text", "not shown: `data` of the other six", "HOOK-19"),
    ],
  },
  {
    heading: "Events / Delivery security and policy",
    items: [
      stated("1", "`X-Service-Signature` over the raw body", "HOOK-21", "HOOK-34"),
      stated("1", "a receiver answers a mismatch with 401", "HOOK-22"),
      stated("2", "three source addresses", "HOOK-23"),
      stated("3", "a receiver should answer 2xx within 3 seconds", "HOOK-38", "HOOK-24", "HOOK-35"),
      stated("4", "schedule of retries", "HOOK-27"),
      stated("4", "marked failed after 5 attempts", "HOOK-28", "HOOK-29", "HOOK-33"),
      stated("5", "receivers should tolerate duplicates", "HOOK-30"),
      stated("6", "not shown: headers of type and identifier", "HOOK-31"),
    ],
  },
];

export const errorSections: readonly Section[] = [
  {
    heading: "Errors / Status codes",
    items: [
      stated("status 200", "success", "ERR-1", "ERR-18"),
      stated("status 201", "created", "ERR-1"),
      stated("status 400", "bad request", "ERR-1"),
      stated("status 401", "unauthorized", "ERR-1", "AUTH-2"),
      stated("status 404", "not found", "ERR-1", "ERR-17"),
      stated("status 429", "rate limited", "ERR-1", "LIM-12"),
      stated("status 500", "internal error", "ERR-1", "ERR-13"),
    ],
  },
  {
    heading: "Errors / Error bodies",
    items: [
      stated("Form A", "its shape", "ERR-2", "ERR-3", "ERR-4", "ERR-5"),
      stated("Form A", "`status` is an integer", "ERR-6"),
      stated("Form A", "`retry_after` of a 429", "ERR-8"),
      stated("Form B", "its shape", "ERR-2", "ERR-3", "ERR-4", "ERR-5", "ERR-18"),
      stated("Form B", "`details` is an object", "ERR-7"),
      stated("Form B", "example: `field` and `reason`", "ERR-15"),
      stated("Form B", "details of rate limits", "ERR-8", "ERR-16"),
      stated("text", "not shown: which form where", "ERR-12"),
    ],
  },
  {
    heading: "Errors / Error codes",
    items: [
      stated("INVALID_API_KEY", "401: the key is invalid", "ERR-10", "AUTH-3"),
      stated("EXPIRED_API_KEY", "401: the key has expired", "ERR-10", "AUTH-4", "KEY-3"),
      stated("MISSING_REQUIRED_FIELD", "400: a required field is absent", "ERR-10", "INV-10", "SSE-20"),
      stated("INVALID_INPUT", "400: the input is invalid", "ERR-10", "INV-20", "SSE-20", "WHK-2", "REQ-11"),
      stated("INVALID_INPUT", "details name the field and a reason", "ERR-15"),
      stated("INVALID_INPUT", "example: the reason `missing`", "ERR-15"),
      stated("AGENT_NOT_FOUND", "404: no such agent", "ERR-10", "INV-11", "SSE-21", "HLT-18"),
      stated("RATE_LIMIT_EXCEEDED", "429", "ERR-10", "ERR-9"),
      stated("RATE_LIMITED", "429, its other name", "ERR-10", "ERR-9"),
      stated("STREAM_ERROR", "processing failed in a stream", "SSE-18"),
      stated("CAPACITY_ERROR", "overloaded, with `retry_after`", "SSE-19"),
      stated("EXECUTION_ERROR", "the agent failed, in a webhook", "HOOK-20"),
      stated("text", "not shown: the complete list; codes of 500", "ERR-11"),
      stated("text", "clients retry 5xx, and wait on 429", "ERR-14", "LIM-13"),
    ],
  },
];
