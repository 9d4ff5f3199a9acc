import { type Section, stated } from "./item.ts";

const ofWebhooks = "Events / Webhook events";

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
    heading: ofWebhooks,
    items: [
      stated("agent.invoked", "an invocation started", "HOOK-7"),
      stated("agent.completed", "an execution completed", "HOOK-8"),
      stated("agent.failed", "an execution failed", "HOOK-9"),
      stated("agent.timeout", "an execution timed out", "HOOK-10"),
      stated("deployment.created", "a deployment was created", "HOOK-11"),
      stated("deployment.updated", "a deployment was updated", "HOOK-12"),
      stated("deployment.deleted", "a deployment was removed", "HOOK-13"),
      stated("deployment.health_changed", "health changed", "HOOK-14"),
      stated("text", "a webhook subscribes to a list of types", "HOOK-15"),
      stated("text", "the wildcard `agent.*`", "HOOK-16"),
      stated("text", "the body is the event record", "HOOK-1", "HOOK-2", "HOOK-3", "HOOK-4", "HOOK-5", "HOOK-6"),
      stated("text", "`data` of `agent.completed`", "HOOK-17", "HOOK-41"),
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
