import { getPath, isObject } from "../../base/json.ts";
import { getOrAdd } from "../../base/memoize.ts";
import type { WebhookEvent } from "../../spec/events-and-errors.ts";
import { apiError, fieldError, formB } from "../behaviour/errors.ts";
import type { Endpoint } from "../endpoint.ts";
import { removeField, setField } from "../json-edit.ts";
import { fault, faults, overrideJson, overrideResult, withLast, type Override } from "../patch.ts";
import { signOtherBody } from "./authentication.ts";
import { countTwice } from "./limits.ts";
import { withoutVersionIn } from "./other-endpoints.ts";

const bothMissing = "Fields url and events: missing.";

const hasEmptyLine = (text: unknown): boolean => typeof text === "string" && text.includes("\n\n");

const omitStreamTimeouts = (matches: (events: readonly string[]) => boolean): Override =>
  withLast("executionEventData", (last) =>
    overrideResult("selectsType")((selects, events, type) => {
      const isOfStream = type === "agent.timeout" && last()?.[0].endpoint === "stream";
      return selects && !(isOfStream && matches(events));
    }),
  );

const omitEvents = (omitted: WebhookEvent, on: Endpoint): Override =>
  withLast("executionEventData", (last) =>
    overrideResult("selectsType")(
      (selects, _events, type) => selects && !(type === omitted && last()?.[0].endpoint === on),
    ),
  );

export const rareRequestFaults = faults("Endpoints / Common request rules 2", {
  "alert-fraction-refused": fault("ALR-1", "A `threshold` that is no whole number is refused.").by(
    overrideResult("validateAlert")((error, body) => {
      const threshold = getPath(body, "threshold");
      const isFraction = typeof threshold === "number" && !Number.isInteger(threshold);
      return isFraction ? fieldError("invalid-input", "threshold", "must be a whole number") : error;
    }),
  ),
  "second-alert-of-address-crashes": fault("ALR-1", "A key's second alert with a `webhook_url` responds with 500.").by(
    (base) => {
      const urls = new Set<unknown>();
      return overrideResult("validateAlert")((error, body) => {
        const url = getPath(body, "webhook_url");
        const isSecond = error === null && urls.has(url);
        if (error === null) urls.add(url);
        return isSecond ? apiError("crash", "The server failed.") : error;
      })(base);
    },
  ),
  "details-array-for-two-fields": fault("ERR-7", "An error about two fields has an array as its `details`.").by(
    (base) => ({
      validateWebhook: (body, addressRefusal) =>
        isObject(body) && body["url"] === undefined && body["events"] === undefined
          ? apiError("missing-field", bothMissing)
          : base.validateWebhook(body, addressRefusal),
      errorBody: (input) =>
        input.message === bothMissing
          ? setField(
              formB(input),
              "error.details",
              ["url", "events"].map((field) => ({ field, reason: "missing" })),
            )
          : base.errorBody(input),
    }),
  ),
  "check-url-without-version-of-eleven": fault(
    "OPS-3",
    "`check_url` lacks the version for a batch of more than ten.",
  ).by(withoutVersionIn(({ total }) => total > 10)),
  "tokens-of-batches-halved": fault("USE-8", "`tokens.used` grows by half of the tokens of a batch.").by((base) => ({
    chargeTokens: (account, count, nowMs, endpoint) =>
      base.chargeTokens(account, endpoint === "batch" ? Math.floor(count / 2) : count, nowMs, endpoint),
  })),
  "time-of-batches-in-milliseconds": fault(
    "HOOK-17",
    "`execution_time` in the `agent.completed` of a batch is in milliseconds.",
  ).by(
    overrideJson("executionEventData")
      .when(({ stage, endpoint }) => stage.kind === "completed" && endpoint === "batch")
      .change("execution_time", (seconds) => Number(seconds) * 1000),
  ),
  "failed-batch-without-input": fault("HOOK-18", "`agent.failed` has no `input` after a batch.").by(
    overrideJson("executionEventData")
      .when(({ stage, endpoint }) => stage.kind === "failed" && endpoint === "batch")
      .remove("input"),
  ),
  "empty-lines-refused": fault(["INV-1", "SSE-1"], "A query with an empty line is refused.").by(
    overrideResult("validateBody")((error, body) =>
      hasEmptyLine(getPath(body, "query"))
        ? fieldError("invalid-input", "query", "must not have an empty line")
        : error,
    ),
  ),
  "request-signature-without-empty-lines": fault(
    "AUTH-10",
    "The signature is expected over the body without its empty lines.",
  ).by(signOtherBody((body) => body.replaceAll(/\n{2,}/g, "\n"))),
  "health-cached-after-a-change": fault("HOOK-14", "The status of an agent is cached for five minutes.").by((base) => {
    const known = new Map<string, unknown>();
    return {
      healthBody: (input) => {
        const body = base.healthBody(input);
        const first = getOrAdd(known, input.agent.id, () => body);
        if (getPath(first, "status") === getPath(body, "status")) return body;
        const cached = setField(removeField(body, "warnings"), "status", getPath(first, "status"));
        return setField(cached, "checks", getPath(first, "checks"));
      },
    };
  }),
  "warnings-missing-after-a-change": fault("HLT-14", "An agent that becomes degraded has no `warnings`.").by(
    overrideJson("healthBody")
      .when(({ agent }) => agent.warnings.includes("its health was changed"))
      .remove("warnings"),
  ),
  "streams-from-two-count-twice": fault("LIM-11", "A stream that resumes at index 2 counts as two requests.").by(
    countTwice((parameters) => parameters["resume_from_index"] === 2),
    ["HDR-12"],
  ),
  "every-300-chunks-count": fault("LIM-11", "A stream counts as another request for every 300 chunks.").by(
    withLast("planSteps", (last) => {
      const counted = new WeakSet();
      return overrideResult("requestsPerChunk")(() => {
        const [input] = last() ?? [];
        if (input === undefined || counted.has(input)) return 0;
        counted.add(input);
        return Math.floor(input.chunks.length / 300);
      });
    }),
    ["HDR-12"],
  ),
  "done-without-tokens-past-the-end": fault(
    "SSE-13",
    "`done` has no `total_tokens` if a stream resumes after its last chunk.",
  ).by(
    withLast("planSteps", (last) =>
      overrideJson("doneData")
        .when(() => last()?.[0].chunks.length === 0)
        .remove("usage.total_tokens"),
    ),
  ),
  "slot-lost-to-timed-out-streams": fault("LIM-17", "A stream that runs into a timeout keeps its slot.").by((base) => {
    let timedOut = 0;
    return {
      streamErrorData: (ending) => {
        if (ending.cause === "timeout") timedOut += 1;
        return base.streamErrorData(ending);
      },
      releasesSlot: (event, head) => {
        const isKept = event === "end" && head.endpoint === "stream" && timedOut > 0;
        if (isKept) timedOut -= 1;
        return !isKept && base.releasesSlot(event, head);
      },
    };
  }),
  "slot-late-after-streams-past-their-end": fault(
    "LIM-17",
    "The slot of a stream that resumes after its last chunk is free after 90 seconds.",
  ).by(
    withLast("planSteps", (last) =>
      overrideResult("releaseDelayMs")((delayMs, event, { endpoint }) =>
        endpoint === "stream" && event === "end" && last()?.[0].chunks.length === 0 ? 90_000 : delayMs,
      ),
    ),
  ),
  "slot-late-after-timed-out-invokes": fault(
    "LIM-17",
    "The slot of an invoke that runs into a timeout is free after 90 seconds.",
  ).by((base) => {
    let timedOut = 0;
    return {
      errorStatus: (cause, endpoint) => {
        if (cause === "timeout" && endpoint === "invoke") timedOut += 1;
        return base.errorStatus(cause, endpoint);
      },
      releaseDelayMs: (event, head) => {
        const isLate = event === "end" && head.endpoint === "invoke" && head.status >= 500 && timedOut > 0;
        if (isLate) timedOut -= 1;
        return isLate ? 90_000 : base.releaseDelayMs(event, head);
      },
    };
  }),
  "completed-stream-not-sent": fault("HOOK-8", "`agent.completed` is not sent after a stream.").by(
    omitEvents("agent.completed", "stream"),
    ["HOOK-42"],
  ),
  "completed-batch-not-sent": fault("HOOK-8", "`agent.completed` is not sent after a batch.").by(
    omitEvents("agent.completed", "batch"),
  ),
  "failed-stream-not-sent": fault("HOOK-9", "`agent.failed` is not sent after a stream.").by(
    omitEvents("agent.failed", "stream"),
  ),
  "failed-batch-not-sent": fault("HOOK-9", "`agent.failed` is not sent after a batch.").by(
    omitEvents("agent.failed", "batch"),
  ),
  "stream-timeout-not-to-wildcards": fault("HOOK-16", "`agent.*` does not select the `agent.timeout` of a stream.").by(
    omitStreamTimeouts((events) => events.includes("agent.*")),
  ),
  "stream-timeout-not-sent": fault("HOOK-10", "`agent.timeout` is not sent after a stream.").by(
    omitStreamTimeouts(() => true),
  ),
});
