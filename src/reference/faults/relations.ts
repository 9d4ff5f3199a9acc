import type { ExecutionStage } from "../behaviour/webhooks.ts";
import { apiError } from "../behaviour/errors.ts";
import { setField } from "../json-edit.ts";
import { fixedWindow, windowsOf } from "../limits/windows.ts";
import { always, fault, faults, overrideByCount, overrideJson, overrideResult, type Override } from "../patch.ts";
import { stopRetriesAfter } from "./delivery-policy.ts";

const listBody = overrideJson("listBody");
const usageBody = overrideJson("usageBody");
const doneData = overrideJson("doneData");
const healthBody = overrideJson("healthBody");
const webhookBody = overrideJson("webhookBody");
const streamError = overrideJson("streamErrorData");

const completedData = overrideJson("executionEventData").when(({ stage }) => stage.kind === "completed");
const streamedData = overrideJson("executionEventData").when(
  ({ stage, endpoint }) => stage.kind === "completed" && endpoint === "stream",
);

const failedStage: ExecutionStage = { kind: "failed", message: "The agent failed.", details: "It did not." };

const completedStage = (elapsedMs: number): ExecutionStage => ({
  kind: "completed",
  text: "Done.",
  usage: { prompt: 1, completion: 2 },
  elapsedMs,
});

/**
 * Seconds in the `done` event of a short stream: 2.7 ms. The faulty webhook event says 2.7, which is also a plausible
 * number of seconds.
 */
const reportedSeconds = 0.0027;

function keepTwoConversations(): Override {
  return (base) => {
    const kept: string[] = [];
    const begun = new Map<string, number>();
    return {
      conversationKey: (input) => {
        const conversation = base.conversationKey(input);
        if (input.endpoint === "stream") return conversation;
        if (!kept.includes(conversation)) {
          begun.set(conversation, (begun.get(conversation) ?? 0) + 1);
          kept.push(conversation);
          if (kept.length > 2) kept.shift();
        }
        return `${conversation} begun ${begun.get(conversation) ?? 0}`;
      },
    };
  };
}

const executionFaults = faults("Events / Webhook events 2", {
  "event-request-id-of-its-own": fault("HOOK-42", "`request_id` of `agent.completed` is not that of the response.").by(
    completedData.change("request_id", (id) => `evt-${String(id)}`),
  ),
  "event-result-shortened": fault("HOOK-42", "`result` of `agent.completed` is shortened.").by(
    completedData.change("result.output", (text) => String(text).slice(0, 12)),
  ),
  "event-tokens-of-completion-alone": fault("HOOK-42", "`tokens_used` leaves the prompt out.").by(
    overrideJson("executionEventData")((data, { stage }) =>
      stage.kind === "completed" ? setField(data, "tokens_used", stage.usage.completion) : data,
    ),
    ["USE-8"],
  ),
  "event-time-in-milliseconds-if-slow": fault(
    "HOOK-42",
    "`execution_time` of `agent.completed` is in milliseconds if it is longer than a second.",
  ).by(
    completedData.change("execution_time", (seconds) => (Number(seconds) > 1 ? Number(seconds) * 1000 : seconds)),
    ["HOOK-17"],
  ),
  "event-time-in-milliseconds-of-streams": fault(
    "HOOK-42",
    "`execution_time` of `agent.completed` is in milliseconds if the execution was streamed.",
  ).by(
    streamedData.change("execution_time", (seconds) => Number(seconds) * 1000),
    ["HOOK-17"],
  ),
  "event-time-in-milliseconds-of-short-streams": fault(
    "HOOK-42",
    "`execution_time` of `agent.completed` is in milliseconds if a short execution was streamed.",
  ).by((base) => ({
    // On a virtual clock, a short stream takes 0 ms. The fault sets another duration, because 0 is the same in any
    // unit.
    ...doneData.set("execution_time", reportedSeconds)(base),
    ...streamedData.set("execution_time", 1000 * reportedSeconds)(base),
  })),
  "timed-out-and-completed": fault("HOOK-43", "An execution that times out is also told as completed.").by(() => ({
    endStages: (end) => (end.kind === "timeout" ? [completedStage(end.timeoutMs), end] : [end]),
  })),
  "completed-and-failed": fault("HOOK-43", "An execution that completes is also told as failed.").by(() => ({
    endStages: (end) => (end.kind === "completed" ? [end, failedStage] : [end]),
  })),
  "slow-success-told-as-failed": fault("HOOK-43", "A slow execution that completes is told as failed.").by(() => ({
    endStages: (end) => [end.kind === "completed" && end.elapsedMs > 1000 ? failedStage : end],
  })),
});

const responseFaults = faults("Errors / Error bodies 2", {
  "list-says-error": fault("ERR-18", "The list has the `status` of an error.").by(listBody.set("status", "error")),
  "usage-with-an-error": fault("ERR-18", "Usage has an error beside its counts.").by(
    usageBody.set("error", { code: "PARTIAL", message: "Something was odd.", status: 400 }),
  ),
});

const callFaults = faults("Endpoints / 2. Stream an agent response 2", {
  "degraded-agent-fails": fault("HLT-11", "A degraded agent responds with 500.").by(
    overrideResult("timeoutMs")((timeoutMs, { health }) => (health === "degraded" ? -1 : timeoutMs)),
  ),
  "max-tokens-ignored-in-streams": fault("INV-15", "A stream ignores `max_tokens`.").by(
    overrideResult("truncateText")((truncated, text, _maxTokens, endpoint) =>
      endpoint === "stream" ? text : truncated,
    ),
  ),
  "stream-tokens-do-not-add-up": fault("INV-7", "`prompt_tokens` of `done` is one too high.").by(
    doneData.change("usage.prompt_tokens", (count) => Number(count) + 1),
  ),
  "timeout-code-is-number": fault("SSE-15", "The `error` event of a timeout has a number as its `code`.").by(
    streamError.when(({ cause }) => cause === "timeout").set("code", 504),
  ),
  "timeout-ends-silently": fault(["SSE-5", "SSE-17"], "A stream that times out ends without an `error` event.").by(
    overrideResult("planSteps")((steps, { ending }) =>
      ending.kind === "error" && ending.cause === "timeout" ? steps.filter(({ kind }) => kind !== "error") : steps,
    ),
  ),
  "third-session-replaces-the-first": fault("INV-18", "An agent keeps two sessions.").by(keepTwoConversations()),
});

const listingFaults = faults("Resources / Pagination block 2", {
  "pages-of-one-agent-repeat": fault("LST-7", "With a limit of 1, page 2 is page 1.").by((base) => ({
    pageItems: (agents, { page, limit }) =>
      base.pageItems(agents, { page: limit === 1 && page > 1 ? page - 1 : page, limit }),
  })),
  "third-page-is-the-second": fault("LST-7", "Page 3 is page 2.").by((base) => ({
    pageItems: (agents, { page, limit }) => base.pageItems(agents, { page: page === 3 ? 2 : page, limit }),
  })),
  "third-page-too-short": fault("LST-11", "Page 3 has one agent less than there are.").by(
    overrideResult("pageItems")((items, _agents, { page }) => items.slice(0, page === 3 ? -1 : undefined)),
  ),
});

const receiverFaults = faults("States and transitions / Webhook delivery 2", {
  "only-named-successes": fault("HOOK-25", "Of the successes, those above 206 count as failures.").by(
    overrideResult("isDelivered")((is, status) => is && status <= 206),
  ),
  "receiver-with-retry-after-fails": fault(
    "HOOK-25",
    "A `Retry-After` in a receiver's response fails the delivery.",
  ).by(() => ({ acceptsResponse: (names) => !names.includes("retry-after") })),
  "gone-is-final": fault("HOOK-26", "A delivery with the response 410 is not retried.").by(
    stopRetriesAfter((status) => status === 410),
  ),
});

const severalFaults = faults("Endpoints / 8. Create a usage alert 2", {
  "second-alert-refused": fault("ALR-1", "The second alert of a type responds with 500.").by((base) => {
    let count = 0;
    return overrideResult("validateAlert")((error) => {
      if (error === null) count += 1;
      return error ?? (count > 1 ? apiError("crash", "The server failed.") : null);
    })(base);
  }),
  "one-id-for-all-alerts": fault("ALR-6", "Every alert has the same id.").by(always("alertId", "alert_000001")),
  "one-id-for-webhooks-of-deployments": fault("WHK-13", "Webhooks of deployment events have the id of the first.").by(
    webhookBody
      .when(({ events }) => events.every((type) => type.startsWith("deployment.")))
      .set("webhook_id", "wh_000001"),
  ),
  "one-id-for-all-operations": fault("OPS-7", "Every operation has the same id.").by(
    always("operationId", "op_00000001"),
  ),
  "second-key-has-a-burst": fault("HDR-20", "Every other key of a tier has a burst on top, and shows it.").by(
    (base) => {
      const counts = new Map<number, number>();
      return {
        limiters: (limits) => {
          const count = (counts.get(limits.perMinute) ?? 0) + 1;
          counts.set(limits.perMinute, count);
          if (count % 2 === 1 || limits.burst === null) return base.limiters(limits);
          const { hour, minute } = windowsOf(limits);
          return [fixedWindow(hour), fixedWindow({ ...minute, limit: limits.perMinute + limits.burst })];
        },
      };
    },
  ),
  "tokens-fall": fault("USE-10", "Every third report of usage lacks the last tokens.").by(
    overrideByCount("usageBody")((body, count, { tokens: { used, limit } }) => {
      const half = Math.floor(used / 2);
      return count % 3 === 0 ? setField(body, "tokens", { used: half, limit, remaining: limit - half }) : body;
    }),
    ["USE-8"],
  ),
  "healthy-with-a-check-that-is-down": fault("HLT-23", "A healthy agent's dependency is down.").by(
    healthBody.when(({ agent }) => agent.health === "healthy").set("checks.dependencies.store", "down"),
  ),
});

/** Faults in the relations between messages. In most of these faults, each message is correct by itself. */
export const relationFaults = [
  ...callFaults,
  ...listingFaults,
  ...responseFaults,
  ...executionFaults,
  ...receiverFaults,
  ...severalFaults,
];
