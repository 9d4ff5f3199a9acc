import { createMessages } from "../app/messages/messages.ts";
import { flagForSetting } from "./options.ts";

export const cliMessages = createMessages({
  nameOf: flagForSetting,
  hints: {
    agent: { give: "an agent that answers", is: "`--agent`, or agents.answering in the target file" },
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
    selection: { give: "a run without `--only`, `--skip` and `--profile`", is: null },
    tier: { give: "`--tier`", is: null },
    watch: { give: "`--watch`", is: null },
  },
});
