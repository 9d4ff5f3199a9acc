import { createHmac } from "node:crypto";
import { loopbackSources } from "../behaviour/deliveries.ts";
import { deliveryPolicy } from "../../spec/events-and-errors.ts";
import { escapeNonAscii, fieldsOf, setField } from "../json-edit.ts";
import { always, overrideByCount, overrideJson, overrideResult, variant, variants, type Override } from "../patch.ts";

const eventBody = overrideJson("eventBody");

const { retryDelaysMs, maxAttempts } = deliveryPolicy;

const replaceRetryDelays =
  (delaysMs: readonly number[], from: "previous" | "first"): Override =>
  () => ({
    nextAttemptMs: ({ attemptCount, firstMs, lastMs, delivered }) => {
      const delayMs = delaysMs[attemptCount - 1];
      return delivered || delayMs === undefined ? null : (from === "first" ? firstMs : lastMs) + delayMs;
    },
  });

const deliveredEventVariants = variants("Resources / Webhook delivery event", {
  "event-without-deployment": variant("An event has no `deployment_id`.").by(eventBody.remove("deployment_id")),
  "event-id-of-attempt": variant("Each attempt has an event id of its own.").by(
    () => ({ eventId: (number, attempt) => `evt_${number}_${attempt}` }),
    ["HOOK-32"],
  ),
  "event-id-of-request": variant("The events of one execution have the id of its request.").by(
    eventBody((body, { data }) => {
      const request = fieldsOf(data)["request_id"];
      return typeof request === "string" ? setField(body, "id", request) : body;
    }),
    ["HOOK-40"],
  ),
  "event-ids-of-uuid": variant("Events have UUIDs.").by(() => ({
    eventId: (number) => `00000000-0000-4000-8000-${String(number).padStart(12, "0")}`,
  })),
  "event-created-in-basic-form": variant("`created` is in the basic form, with a decimal comma.").by(
    eventBody.change("created", (at) => new Date(String(at)).toISOString().replaceAll(/[-:]/g, "").replace(".", ",")),
  ),
  "event-created-with-offset": variant("`created` has microseconds and the offset +00:00.").by(
    eventBody.change("created", (time) => String(time).replace("Z", "000+00:00")),
  ),
  "event-with-more": variant("An event has fields that the document does not name.").by(
    eventBody((body) => setField(setField(body, "api_version", "v1"), "data.more", { of: "this" })),
  ),
  "event-payloads-of-other-shape": variant("The payloads that the document does not show are empty.").by(
    eventBody((body, { type }) =>
      type === "agent.completed" || type === "agent.failed" ? body : setField(body, "data", {}),
    ),
  ),
  "stream-left-fails": variant("A stream whose client leaves before its end has failed.").by(
    always("disconnectEvent", "agent.failed"),
  ),
  "event-created-without-zone": variant("`created` is in UTC, without a zone.").by(
    eventBody.change("created", (time) => String(time).replace("Z", "")),
    ["HOOK-39"],
  ),
  "event-deployment-always-null": variant("`deployment_id` is `null`.").by(eventBody.set("deployment_id", null)),
});

const deliveryWireVariants = variants("Events / Delivery security and policy", {
  "delivery-headers": variant("Deliveries carry their event type, their id and their attempt in headers.").by(
    overrideResult("deliveryHeaders")((headers, { type, deliveryId, attempt }) => [
      ...headers,
      ["X-Event-Type", type ?? "alert"],
      ["X-Delivery-Id", deliveryId],
      ["X-Attempt", String(attempt)],
    ]),
  ),
  "delivery-headers-lower-case": variant("Deliveries have their header names in lower case, and a charset.").by(
    overrideResult("deliveryHeaders")((headers) =>
      headers.map(([name, value]) => [name.toLowerCase(), name === "Content-Type" ? `${value}; charset=utf-8` : value]),
    ),
  ),
  "delivery-pretty": variant("The body of a delivery is printed over many lines.").by(() => ({
    deliveryBytes: (body) => Buffer.from(`${JSON.stringify(body, null, 2)}\n`),
  })),
  "delivery-escaped": variant("All but ASCII is escaped in the body of a delivery.").by(() => ({
    deliveryBytes: (body) => Buffer.from(escapeNonAscii(JSON.stringify(body))),
  })),
  "delivery-awaits-answer-body": variant("A response counts only after its whole body.").by(
    always("awaitsResponseBody", true),
  ),
  "delivery-chunked": variant("The body of a delivery is chunked.").by(always("deliveryFraming", "chunked")),
  "delivery-signed-without-secret": variant(
    "Deliveries of a webhook without a secret are signed with an empty one.",
  ).by(
    overrideResult("deliverySignature")((signature, bytes, secret) =>
      secret === null ? createHmac("sha256", "").update(bytes).digest("hex") : signature,
    ),
  ),
  "delivery-late": variant("Events are sent 50 ms later.").by(always("firstDelayMs", 50)),
  "delivery-twice": variant("Every event that was delivered at once is delivered a second time.").by((base) => ({
    nextAttemptMs: (progress) =>
      progress.delivered && progress.attemptCount === 1 ? progress.lastMs + 5 : base.nextAttemptMs(progress),
    stateAfter: (progress, nextMs) => (progress.delivered ? "delivered" : base.stateAfter(progress, nextMs)),
  })),
  "attempts-twice": variant("Each attempt is made twice.").by((base) => ({
    nextAttemptMs: ({ attemptCount, lastMs, delivered }) => {
      if (attemptCount % 2 === 1) return lastMs + 5;
      const delayMs = retryDelaysMs[attemptCount / 2];
      return delivered || attemptCount / 2 >= maxAttempts || delayMs === undefined ? null : lastMs + delayMs;
    },
    stateAfter: (progress, nextMs) => (progress.delivered ? "delivered" : base.stateAfter(progress, nextMs)),
  })),
  "delivery-one-at-a-time": variant("A webhook gets one delivery at a time.").by(always("maxConcurrentPerQueue", 1)),
  "redirects-followed": variant("A redirect of a receiver is followed by a GET.").by(always("followsRedirects", true)),
  "receiver-has-ten-seconds": variant("A receiver has 10 seconds.").by(always("responseTimeoutMs", 10_000)),
  "receiver-has-two-minutes": variant("A receiver has two minutes.").by(always("responseTimeoutMs", 120_000)),
});

const sourceVariants = variants("Events / Delivery security and policy 2", {
  "deliveries-from-three-addresses": variant("Deliveries come from three published addresses in turn.").by(
    overrideByCount("deliverySource")((_, count) => loopbackSources[count % loopbackSources.length] ?? null),
  ),
});

const scheduleVariants = variants("Events / Delivery security and policy 4", {
  "retries-from-first": variant("The delays of retries count from the first attempt.").by(
    replaceRetryDelays(retryDelaysMs.slice(1, maxAttempts), "first"),
  ),
  "six-attempts": variant("A first delivery, an immediate retry, and then the rest of the schedule.").by(
    replaceRetryDelays(retryDelaysMs, "previous"),
  ),
  "six-attempts-from-first": variant("Six attempts, with delays that count from the first.").by(
    replaceRetryDelays(retryDelaysMs, "first"),
  ),
  "four-retries": variant("A first delivery, an immediate retry, and then the schedule up to the fifth attempt.").by(
    replaceRetryDelays(retryDelaysMs.slice(0, maxAttempts - 1), "previous"),
  ),
  "retries-with-jitter": variant("Retries come up to five per cent late.").by(
    overrideResult("nextAttemptMs")((nextMs, { lastMs }) =>
      nextMs === null ? null : nextMs + Math.round((nextMs - lastMs) / 20),
    ),
  ),
});

export const deliveryVariants = [
  ...deliveredEventVariants,
  ...deliveryWireVariants,
  ...sourceVariants,
  ...scheduleVariants,
];
