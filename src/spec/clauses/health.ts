import { advisory, must, policy, type ClauseTable } from "../clause.ts";

const section = "Endpoints / 3. Health check";
const states = "States and transitions / Health status of an agent";
const optional = { absent: "it is left out", present: "it is there" };

export const healthClauses = {
  "HLT-1": must(section, "`GET /v1/agents/{agent_id}/health` answers 200."),
  "HLT-2": must(section, "`status` is `healthy`, `degraded` or `unhealthy`."),
  "HLT-3": must(section, "`checks` is an object."),
  "HLT-4": must(
    section,
    "`checks.agent`, where present, is an object; its `status` is a string and its `response_time_ms` a number, where present.",
    { readings: optional },
  ),
  "HLT-5": must(section, "`checks.dependencies`, where present, maps a dependency's name to a status string.", {
    readings: optional,
  }),
  "HLT-6": must(
    section,
    "`checks.resources`, where present, is an object; its `memory_usage_percent` and `cpu_usage_percent` are numbers, where present.",
    { readings: optional },
  ),
  "HLT-7": must(section, "`version`, where present, is a string.", { readings: optional }),
  "HLT-8": must(section, "`uptime`, where present, is a number of seconds.", { readings: optional }),
  "HLT-9": must(section, "`last_request`, where present, is an ISO 8601 timestamp.", { readings: optional }),
  "HLT-10": must(section, "`warnings`, where present, is an array of strings.", { readings: optional }),
  "HLT-11": must(states, "An agent with warnings that still functions is `degraded`."),
  "HLT-12": must(states, "An agent whose critical checks fail is `unhealthy`.", {
    readings: { "answers-200": "the report comes with 200", "answers-5xx": "the report comes with a 5xx status" },
  }),
  "HLT-13": must(states, "`healthy` means that all checks pass: no check that the report shows has failed."),
  "HLT-14": must(section, "`warnings` is there when the agent is degraded."),
  "HLT-15": must(section, "No rate limit applies: health answers 200 while invoke answers 429."),
  "HLT-16": must(section, "Health calls do not use up the allowance."),
  "HLT-17": advisory(
    section,
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
  "HLT-20": advisory(section, "The three keys of `checks` are `agent`, `dependencies` and `resources`."),
  "HLT-21": advisory(
    section,
    "`warnings` warns of something where the agent is degraded, and of nothing where it is healthy.",
  ),
  "HLT-22": advisory(
    section,
    "A report is no constant: `uptime` goes on with time, and `last_request` with each request.",
  ),
} as const satisfies ClauseTable;
