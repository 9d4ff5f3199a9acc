import { type Section, stated, withoutClause } from "./item.ts";

export const serviceSections: readonly Section[] = [
  {
    heading: "Agent Hosting Service Interface",
    items: [withoutClause("text", "what the document covers", "An introduction: it states nothing of a server.")],
  },
  {
    heading: "What the service does",
    items: [
      stated("1", "agents are deployed", "SVC-9"),
      stated("1", "clients call agents over HTTPS", "REQ-1"),
      stated("1", "bodies are JSON", "SVC-1", "INV-22", "CLI-5"),
      stated("1", "streaming is Server-Sent Events", "SVC-2", "SSE-30"),
      withoutClause("2", "the cloud address", "A placeholder: the document leaves the address out."),
      stated("2", "every path starts with `/v1`", "SVC-3", "VER-1"),
      stated("2", "the base address ends in `/v1`; a client sends it once", "SVC-3", "SVC-4", "CLI-1"),
      stated("2", "a local development server", "SVC-5", "REQ-1"),
      stated("3", "all capabilities", "SVC-6"),
      stated("3", "synchronous invocation", "INV-1"),
      stated("3", "streamed invocation", "SSE-1"),
      stated("3", "health check", "HLT-1"),
      stated("3", "paginated listing", "LST-1"),
      stated("3", "usage reading", "USE-1"),
      stated("3", "webhook registration and delivery", "WHK-1", "HOOK-15"),
      stated("3", "usage alerts", "ALR-1"),
      stated("3", "key-usage reading", "KEY-9"),
      stated("3", "long-running operations", "OPS-1"),
      stated("3", "batch submission", "BAT-1"),
      stated("4", "a configuration file defines an agent and lists entrypoints", "SVC-7"),
      stated("4", "an entrypoint is a function with a tag", "SVC-7", "CFG-11"),
      stated("4", "a tag in `_stream` marks a streaming entrypoint", "CFG-12"),
      stated("5", "an agent runs locally or in the cloud", "SVC-8"),
      stated("5", "default of `auth_settings.type`", "CFG-7"),
      stated("6", "not shown: creating, deploying, updating, deleting agents over HTTP", "SVC-9"),
    ],
  },
];

const resources = "Resources and their fields";

export const resourceSections: readonly Section[] = [
  {
    heading: `${resources} / Agent configuration (file)`,
    items: [
      stated("agent_name", "required string", "CFG-1"),
      stated("framework", "required string", "CFG-1"),
      stated("version", "required string: the agent's version", "CFG-1"),
      stated("agent_architecture", "required object", "CFG-1"),
      stated("agent_architecture.entrypoints", "required array", "CFG-2"),
      stated("description", "string", "CFG-3"),
      stated("template", "string", "CFG-3"),
      stated("created_at", "timestamp without zone", "CFG-4"),
      stated("agent_id", "unique, generated", "CFG-5"),
      stated("template_source", "object of strings", "CFG-6"),
      stated("auth_settings", "`type` and its default", "CFG-7"),
      stated("env_vars", "map to strings", "CFG-8"),
      stated("deployment", "`timeout` and `memory` with defaults", "CFG-9"),
      stated("webhooks", "`endpoints`", "CFG-10"),
    ],
  },
  {
    heading: `${resources} / Entrypoint`,
    items: [
      stated("file", "string: source file", "CFG-11"),
      stated("module", "string: name of the function", "CFG-11"),
      stated("tag", "string that selects; `_stream` at its end", "CFG-11", "CFG-12"),
    ],
  },
  {
    heading: `${resources} / Webhook endpoint config (inside the configuration file)`,
    items: [
      stated("url", "receiver's address", "CFG-13"),
      stated("events", "event types", "CFG-13"),
      stated("events", "example: the wildcard `agent.*`", "CFG-13"),
      stated("headers", "sent with each delivery", "CFG-14"),
    ],
  },
  {
    heading: `${resources} / Webhook delivery event`,
    items: [
      stated("id", "string, the event's identifier", "HOOK-1", "HOOK-32", "HOOK-40"),
      stated("type", "event type", "HOOK-2"),
      stated("created", "UTC timestamp", "HOOK-3", "HOOK-37", "HOOK-39"),
      stated("data", "object by event", "HOOK-4"),
      stated("agent_id", "string", "HOOK-5", "HOOK-36"),
      stated("deployment_id", "string, may be absent", "HOOK-6", "RCV-3"),
    ],
  },
  {
    heading: `${resources} / Health report`,
    items: [withoutClause("text", "where it is described", "It points to Endpoints / 3. Health check.")],
  },
  {
    heading: `${resources} / Usage report`,
    items: [
      stated("period", "timestamp", "USE-2", "USE-9"),
      stated("requests", "used, limit, remaining", "USE-3", "USE-5", "USE-7", "USE-9"),
      stated("tokens", "used, limit, remaining", "USE-4", "USE-5", "USE-6", "USE-8", "USE-10"),
    ],
  },
  {
    heading: `${resources} / Pagination block`,
    items: [
      stated("page", "integer", "LST-3", "LST-4"),
      stated("limit", "integer", "LST-3", "LST-4", "LST-6"),
      stated("total", "integer", "LST-3", "LST-5", "LST-11"),
      stated("pages", "integer", "LST-3", "LST-5"),
    ],
  },
  {
    heading: `${resources} / Operation handle (asynchronous work)`,
    items: [
      stated("operation_id", "string", "OPS-1", "OPS-7"),
      stated("status", "`pending` on creation", "OPS-2"),
      stated("check_url", "path of the operation", "OPS-3"),
    ],
  },
  {
    heading: `${resources} / Webhook metrics`,
    items: [
      stated("webhook_id", "string", "WHK-9"),
      stated("total_deliveries", "integer", "WHK-9", "WHK-11"),
      stated("successful", "integer", "WHK-9", "WHK-11"),
      stated("failed", "integer", "WHK-9", "WHK-11"),
      stated("average_response_time", "number", "WHK-9"),
      stated("average_response_time", "not shown: its unit", "WHK-10"),
      stated("last_delivery", "timestamp", "WHK-9"),
    ],
  },
  {
    heading: `${resources} / API key`,
    items: [
      stated("1", "personal keys", "KEY-1"),
      stated("1", "service keys", "KEY-2"),
      stated("1", "temporary keys expire", "KEY-3"),
      stated("2", "prefix of two letters and an underscore", "KEY-4"),
      stated("3", "read-only scope", "KEY-5"),
      stated("3", "restriction to one agent", "KEY-6"),
      stated("3", "IP allow list", "KEY-7"),
      stated("3", "usage alert threshold", "KEY-8"),
    ],
  },
  {
    heading: `${resources} / Gaps in the resource fields`,
    items: [
      stated("agent list", "not shown: fields of an item", "LST-9"),
      stated("webhook record", "not shown: fields beyond the creation body", "WHK-12"),
      stated("key record", "not shown: fields", "KEY-11"),
      stated("deployment record", "not shown: fields", "OTH-4"),
    ],
  },
];

const states = "States and transitions";

export const stateSections: readonly Section[] = [
  {
    heading: `${states} / Health status of an agent`,
    items: [
      stated("healthy", "all checks pass", "HLT-13", "HLT-23"),
      stated("degraded", "warnings, yet functional", "HLT-11"),
      stated("unhealthy", "critical checks fail", "HLT-12"),
      stated("text", "recomputed on each request", "HLT-19"),
      stated("text", "no operation moves an agent", "HLT-19"),
    ],
  },
  {
    heading: `${states} / Stream sequence`,
    items: [
      stated("request accepted", "`start` is sent", "SSE-4"),
      stated("start", "`chunk` is sent, and again", "SSE-6", "SSE-29"),
      stated("chunk", "`done` ends it", "SSE-5", "SSE-28"),
      stated("chunk", "`done` carries usage and execution time", "SSE-13", "SSE-14"),
      stated("start or chunk", "a failure sends `error`", "SSE-17", "SSE-5", "CLI-22"),
    ],
  },
  {
    heading: `${states} / Webhook delivery`,
    items: [
      stated("pending delivery", "2xx: delivered", "HOOK-25", "HOOK-38"),
      stated("pending delivery", "a failure: retried on the schedule", "HOOK-26", "HOOK-27", "HOOK-22"),
      stated("retried", "the fifth failure: marked failed", "HOOK-28", "HOOK-29"),
    ],
  },
  {
    heading: `${states} / Operation status`,
    items: [
      stated("text", "`pending` at the start", "OPS-2"),
      stated("text", "not shown: other values and moves", "OPS-5"),
    ],
  },
  {
    heading: `${states} / Agent lifecycle`,
    items: [
      withoutClause("text", "`ready` in a start-up report", "A local server prints it; no answer over HTTP shows it."),
      stated("text", "not shown: other states and transitions", "OTH-3"),
    ],
  },
];
