import { advisory, gap, must, should, type ClauseTable } from "../clause.ts";

const section = "Endpoints / 1. Invoke an agent";

export const invokeClauses = {
  "INV-1": must(section, "`POST /v1/agents/{agent_id}/invoke` with a `query` answers 200."),
  "INV-2": must(section, "The answer has `result`, an object."),
  "INV-3": must(
    section,
    "`usage`, where present, is an object, and what it has of `prompt_tokens`, `completion_tokens` and `total_tokens` are integers.",
    { readings: { absent: "`usage` is left out", present: "`usage` is there" } },
  ),
  "INV-4": must(section, "`metadata.execution_time`, where present, is a number of seconds.", {
    readings: { absent: "it is left out", present: "it is there" },
  }),
  "INV-5": must(section, "`metadata.agent_version`, where present, is a string.", {
    readings: { absent: "it is left out", present: "it is there" },
  }),
  "INV-6": must(section, "`metadata.request_id`, where present, is a string.", {
    readings: { absent: "it is left out", present: "it is there" },
  }),
  "INV-7": advisory(section, "`total_tokens` is the sum of `prompt_tokens` and `completion_tokens`."),
  "INV-8": advisory(section, "`metadata.request_id` differs from one request to the next."),
  "INV-9": advisory(section, "`metadata.execution_time` is not negative, and not longer than the request took."),
  "INV-10": must(section, "An absent `query` answers 400 `MISSING_REQUIRED_FIELD`."),
  "INV-11": must(section, "An agent that does not exist answers 404 `AGENT_NOT_FOUND`."),
  "INV-12": must(section, "Unknown keys inside `parameters` are accepted."),
  "INV-13": must(section, "`parameters.temperature` is accepted from 0.0 to 2.0, both included."),
  "INV-14": must(section, "`parameters.max_tokens` accepts an integer."),
  "INV-15": should(section, "The answer's `completion_tokens` does not exceed `parameters.max_tokens`."),
  "INV-16": must(section, "`parameters.context` accepts an object."),
  "INV-17": must(section, "`session_id` accepts a string, and is optional."),
  "INV-18": must(section, "Calls with the same `session_id` share their conversation's context."),
  "INV-19": gap(section, "The answer to an out-of-range parameter value is not shown."),
  "INV-20": must(
    "Errors / Error codes",
    "A `query` that is not a string, where it is refused, answers 400, with a code that the table does not give to another status.",
    { readings: { refused: "it is refused as invalid input", accepted: "it is taken as if it were a string" } },
  ),
  "INV-21": gap(section, "The answer to an empty `query` is not shown."),
  "INV-22": must("What the service does 1", "A `query` in any script is carried unharmed, as JSON text is Unicode."),
  "INV-23": gap(section, "The inner shape of `result` depends on the agent."),
} as const satisfies ClauseTable;
