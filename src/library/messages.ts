import { createMessages } from "../app/messages/messages.ts";

/** Messages of the library: skip reasons and hints that name its options. */
export const libraryMessages = createMessages({
  nameOf: (setting) => setting,
  hints: {
    agent: { give: "an agent that answers", is: "`agent` of the target, or agents.answering in a target file" },
    receiver: { give: "`webhooks` of the target", is: "where the target can reach the harness" },
    "receiver that is taken": {
      give: "`webhooks.publicUrl` of the target",
      is: "an address of the harness that the target accepts",
    },
    "receiver within reach": {
      give: "`webhooks.publicUrl` of the target",
      is: "where the target can reach the harness",
    },
    selection: { give: "a run without `only` and `skip`", is: null },
    tier: { give: "`tier` beside `apiKey`", is: null },
    // The library cannot listen after a run, so this hint names a command.
    watch: { give: "`conformance run --watch`", is: null },
  },
});
