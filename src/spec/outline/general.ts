import type { ClauseId } from "../clauses.ts";
import { rateHeaderTable, rateHeaderKeys } from "../headers.ts";
import { type Section, stated } from "./item.ts";

export const authenticationSections: readonly Section[] = [
  {
    heading: "Authentication",
    items: [
      stated("1", "every request carries the key as a bearer", "AUTH-1", "AUTH-6", "AUTH-7", "REQ-2", "CLI-2"),
      stated("1", "how keys are issued", "AUTH-15"),
      stated("2", "restriction by scope", "KEY-5"),
      stated("2", "restriction by agent", "KEY-6"),
      stated("2", "restriction by source address", "KEY-7"),
      stated("3", "missing key: 401", "AUTH-2", "AUTH-8", "AUTH-9"),
      stated("3", "wrong key: 401 `INVALID_API_KEY`", "AUTH-3", "AUTH-5", "AUTH-8", "AUTH-16", "AUTH-17"),
      stated("3", "expired key: 401 `EXPIRED_API_KEY`", "AUTH-4", "AUTH-8", "KEY-3"),
      stated("4", "signing is optional; its two headers", "AUTH-10", "CLI-10"),
      stated("4", "`X-Timestamp`: Unix seconds, a decimal string", "AUTH-10", "CLI-11"),
      stated("4", "`X-Signature`: digest and the text that is signed", "AUTH-10", "CLI-10"),
      stated("5", "OAuth 2.0 is announced, not available", "AUTH-12"),
      stated("5", "examples of scopes", "AUTH-12"),
      stated("6", "deliveries are signed", "HOOK-21"),
      stated("7", "not shown: status without permission", "AUTH-13"),
      stated("8", "not shown: enabling signing; a bad signature", "AUTH-11"),
      stated("9", "not shown: managing keys over HTTP", "AUTH-14"),
    ],
  },
];

const rateClauses = ["LIM-1", "LIM-2", "LIM-3", "LIM-4", "LIM-5", "LIM-6"] as const satisfies readonly ClauseId[];

export const limitSections: readonly Section[] = [
  {
    heading: "Limits / Request rate (per API key)",
    items: [
      stated("text", "the rate is per API key", "LIM-9", "LIM-23", "LIM-25"),
      stated("Requests per hour", "column", "LIM-3", "LIM-4", "HDR-16"),
      stated("Requests per minute", "column", "LIM-1", "LIM-2", "LIM-15", "HDR-16"),
      stated("Concurrent requests", "column", "LIM-5", "LIM-6", "LIM-17", "LIM-18"),
      stated("Free", "100, 10, 2", ...rateClauses, "HDR-10"),
      stated("Pro", "1,000, 100, 10", ...rateClauses, "HDR-10"),
      stated("Team", "5,000, 500, 25", ...rateClauses, "HDR-10"),
      stated("Enterprise", "custom", "LIM-24"),
      stated("text", "burst of free and pro", "LIM-7", "LIM-8"),
      stated("text", "burst of enterprise: custom", "LIM-24"),
      stated("text", "not shown: burst of team", "LIM-8"),
    ],
  },
  {
    heading: "Limits / Token quota per month",
    items: [
      stated("Free", "100,000", "LIM-19", "LIM-20", "USE-6"),
      stated("Pro", "2,000,000", "LIM-19", "LIM-20", "USE-6"),
      stated("Team", "10,000,000", "LIM-19", "LIM-20", "USE-6"),
      stated("Enterprise", "custom", "LIM-24"),
    ],
  },
  {
    heading: "Limits / Scope of limits",
    items: [
      stated("1", "invoke is limited", "LIM-10", "LIM-16", "LIM-26"),
      stated("1", "a stream is a single request", "LIM-11", "LIM-18"),
      stated("1", "health is not limited", "HLT-15", "HLT-16"),
      stated("2", "on every response", "HDR-1", "HDR-2", "HDR-3", "HDR-4", "HDR-5", "HDR-6", "HDR-7", "HDR-8"),
      ...rateHeaderKeys.map((name) => {
        const [first, ...others] = rateHeaderTable[name].clauses;
        return stated("2", `\`${rateHeaderTable[name].header}\``, first, ...others);
      }),
      stated("3", "429 with the error body", "LIM-12", "ERR-8", "ERR-9", "HDR-17", "HDR-19"),
      stated("3", "`retry_after` seconds", "LIM-13", "LIM-14", "HDR-18", "ERR-8"),
      stated("4", "defaults of timeout and memory", "LIM-21", "LIM-27", "CFG-9"),
      stated("5", "not shown: a fixed or rolling hour", "LIM-15"),
      stated("6", "not shown: largest body, longest query", "LIM-22"),
      stated("7", "not shown: longest stream", "SSE-32"),
    ],
  },
];

export const versioningSections: readonly Section[] = [
  {
    heading: "Versioning",
    items: [
      stated("1", "`v1` in the path", "VER-1", "SVC-3"),
      stated("2", "12 months of support", "VER-2"),
      stated("3", "deprecation announced 6 months before", "VER-3"),
      stated("4", "each agent has a version", "VER-4"),
      stated("4", "in `metadata.agent_version` of invoke", "VER-4", "INV-5"),
      stated("4", "in `version` of the health report", "VER-4", "HLT-7"),
    ],
  },
];

const webhookEventsSection = "Events / Webhook events";

export const eventSections: readonly Section[] = [
  {
    heading: "Events / Stream events (SSE)",
    items: [
      stated("text", "an `event:` name and JSON in `data:`", "SSE-2", "SSE-3", "CLI-20"),
      stated("start", "`message`", "SSE-7"),
      stated("start", "`session_id`", "SSE-8", "SSE-35"),
      stated("start", "emitted when streaming begins", "SSE-4"),
      stated("chunk", "`content`", "SSE-9"),
      stated("chunk", "`index`", "SSE-10", "SSE-11"),
      stated("chunk", "emitted for each generated piece", "SSE-6", "SSE-29"),
      stated("error", "`error` and `code`", "SSE-15"),
      stated("error", "`retry_after` in seconds", "SSE-16", "CLI-17"),
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
      stated("text", "a webhook subscribes to a list of types", "HOOK-15", "RCV-5", "RCV-12"),
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
      stated("1", "`X-Service-Signature` over the raw body", "HOOK-21", "HOOK-34", "RCV-1", "RCV-2", "RCV-4", "RCV-11"),
      stated("1", "a receiver answers a mismatch with 401", "HOOK-22", "RCV-6", "RCV-7", "RCV-8"),
      stated("2", "three source addresses", "HOOK-23", "HOOK-44", "HOOK-45"),
      stated(
        "3",
        "a receiver should answer 2xx within 3 seconds",
        "RCV-1",
        "HOOK-38",
        "HOOK-24",
        "HOOK-35",
        "RCV-9",
        "RCV-13",
        "RCV-14",
        "RCV-15",
      ),
      stated("4", "schedule of retries", "HOOK-27"),
      stated("4", "marked failed after 5 attempts", "HOOK-28", "HOOK-29", "HOOK-33"),
      stated("5", "receivers should tolerate duplicates", "HOOK-30", "RCV-10"),
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
      stated(
        "text",
        "clients retry 5xx, and wait on 429",
        "ERR-14",
        "LIM-13",
        "CLI-12",
        "CLI-13",
        "CLI-14",
        "CLI-15",
        "CLI-16",
        "CLI-21",
      ),
    ],
  },
];
