import { createMessages } from "../app/messages/messages.ts";

/** Reasons and needs in the words of what `judge` takes. */
export const libraryMessages = createMessages({
  names: {
    agent: "`agent`",
    maxExecutions: "maxExecutions",
    maxRequests: "maxRequests",
    maxWait: "maxWaitMs",
    maxWindow: "maxWindow",
    readOnly: "readOnly",
  },
  hints: {
    agent: { give: "an agent that answers", is: "`agent` of the target, or agents.answering in a target file" },
    "limit within reach": { give: "a key whose limit may be used up", is: "a known tier, and more `maxWaitMs`" },
    maxExecutions: { give: "a larger `maxExecutions`", is: null },
    maxRequests: { give: "a larger `maxRequests`", is: null },
    maxTime: { give: "a longer `maxTimeMs`", is: null },
    maxWait: { give: "a longer `maxWaitMs`", is: null },
    maxWindow: { give: "a larger `maxWindow`", is: null },
    receiver: { give: "`webhooks` of the target", is: "where the target can reach the harness" },
    "receiver that is taken": {
      give: "`webhooks.publicUrl` of the target",
      is: "an address of the harness that the target accepts",
    },
    "receiver within reach": {
      give: "`webhooks.publicUrl` of the target",
      is: "where the target can reach the harness",
    },
    tier: { give: "`tier` beside `apiKey`", is: null },
    "unbounded requests": { give: "no `maxRequests`", is: null },
    // Only the command line goes on listening.
    watch: { give: "`conformance run --watch`", is: null },
    writing: { give: "a run without `readOnly`", is: null },
  },
});
