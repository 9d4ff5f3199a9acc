import type { ClauseTable } from "../clause.ts";

const section = "Endpoints / 3. Health check";
const states = "States and transitions / Health status of an agent";
const optional = { absent: "it is left out", present: "it is there" };

export const healthClauses = {
  "HLT-1": { section, level: "must", says: "`GET /v1/agents/{agent_id}/health` answers 200." },
  "HLT-2": { section, level: "must", says: "`status` is `healthy`, `degraded` or `unhealthy`." },
  "HLT-3": { section, level: "must", says: "`checks` is an object." },
  "HLT-4": {
    section,
    level: "must",
    says: "`checks.agent`, where present, is an object; its `status` is a string and its `response_time_ms` a number, where present.",
    readings: optional,
  },
  "HLT-5": {
    section,
    level: "must",
    says: "`checks.dependencies`, where present, maps a dependency's name to a status string.",
    readings: optional,
  },
  "HLT-6": {
    section,
    level: "must",
    says: "`checks.resources`, where present, is an object; its `memory_usage_percent` and `cpu_usage_percent` are numbers, where present.",
    readings: optional,
  },
  "HLT-7": { section, level: "must", says: "`version`, where present, is a string.", readings: optional },
  "HLT-8": { section, level: "must", says: "`uptime`, where present, is a number of seconds.", readings: optional },
  "HLT-9": {
    section,
    level: "must",
    says: "`last_request`, where present, is an ISO 8601 timestamp.",
    readings: optional,
  },
  "HLT-10": { section, level: "must", says: "`warnings`, where present, is an array of strings.", readings: optional },
  "HLT-11": { section: states, level: "must", says: "An agent with warnings that still functions is `degraded`." },
  "HLT-12": {
    section: states,
    level: "must",
    says: "An agent whose critical checks fail is `unhealthy`.",
    readings: { "answers-200": "the report comes with 200", "answers-5xx": "the report comes with a 5xx status" },
  },
  "HLT-13": {
    section: states,
    level: "must",
    says: "`healthy` means that all checks pass: no check that the report shows has failed.",
  },
  "HLT-14": { section, level: "must", says: "`warnings` is there when the agent is degraded." },
  "HLT-15": { section, level: "must", says: "No rate limit applies: health answers 200 while invoke answers 429." },
  "HLT-16": { section, level: "must", says: "Health calls do not use up the allowance." },
  "HLT-17": {
    section,
    level: "advisory",
    says: "`uptime` does not fall between two calls, no quantity is negative, and percentages lie between 0 and 100.",
  },
  "HLT-18": {
    section: "Errors / Error codes",
    level: "must",
    says: "A health check of an agent that does not exist answers 404 `AGENT_NOT_FOUND`.",
  },
  "HLT-19": {
    section: states,
    level: "policy",
    says: "The status is recomputed on each request from current checks; no operation moves an agent between states.",
    untestable: "Seeing it needs an agent whose health changes at will, and the interface offers no way to change it.",
  },
  "HLT-20": {
    section,
    level: "advisory",
    says: "The three keys of `checks` are `agent`, `dependencies` and `resources`.",
  },
  "HLT-21": {
    section,
    level: "advisory",
    says: "`warnings` warns of something where the agent is degraded, and of nothing where it is healthy.",
  },
  "HLT-22": {
    section,
    level: "advisory",
    says: "A report is no constant: `uptime` goes on with time, and `last_request` with each request.",
  },
} as const satisfies ClauseTable;
