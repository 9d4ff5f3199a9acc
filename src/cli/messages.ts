import { createMessages } from "../app/messages/messages.ts";

/** Reasons and needs in the words of the command line. */
export const cliMessages = createMessages({
  names: {
    agent: "--agent",
    maxExecutions: "--max-executions",
    maxRequests: "--max-requests",
    maxWait: "--max-wait",
    maxWindow: "--max-window",
    readOnly: "--read-only",
  },
  hints: {
    agent: { give: "an agent that answers", is: "`--agent`, or agents.answering in the target file" },
    "limit within reach": { give: "a key whose limit may be used up", is: "a known tier, and more `--max-wait`" },
    maxExecutions: { give: "a larger `--max-executions`", is: null },
    maxRequests: { give: "a larger `--max-requests`", is: null },
    maxTime: { give: "a longer `--max-time`", is: null },
    maxWait: { give: "a longer `--max-wait`", is: null },
    maxWindow: { give: "a larger `--max-window`", is: null },
    receiver: {
      give: "`webhooks` in the target file (or `--receiver-listen`, `--receiver-url`)",
      is: "where the target can reach the harness",
    },
    "receiver that is taken": {
      give: "`webhooks.publicUrl` in the target file, or `--receiver-url`",
      is: "an address of the harness that the target accepts",
    },
    "receiver within reach": {
      give: "`webhooks.publicUrl` in the target file, or `--receiver-url`",
      is: "where the target can reach the harness",
    },
    tier: { give: "`--tier`", is: null },
    "unbounded requests": { give: "a run without `--max-requests`", is: null },
    watch: { give: "`--watch`", is: null },
    writing: { give: "a run without `--read-only`", is: null },
  },
});
