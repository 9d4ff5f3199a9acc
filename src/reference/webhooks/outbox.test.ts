import { describe, expect, it } from "vitest";
import { hourMs, minuteMs } from "../../base/duration.ts";
import { virtualEpochMs } from "../clock.ts";
import { agentEvent, newWebhook, outboxFixture, type Reaction } from "./testing/outbox-fixture.ts";

const wholeSchedule = [0, minuteMs, 6 * minuteMs, 36 * minuteMs, 2 * hourMs + 36 * minuteMs];

describe("attempts", () => {
  const cases: readonly (readonly [string, readonly Reaction[], readonly number[], string])[] = [
    ["stop after the fifth failure", [500], wholeSchedule, "failed"],
    ["stop after a success", [500, 503, 204], wholeSchedule.slice(0, 3), "delivered"],
    ["succeed with 200", [200], [0], "delivered"],
    ["succeed with 299", [299], [0], "delivered"],
    ["succeed at the head of a body that never ends", ["endless"], [0], "delivered"],
    ["fail with 404", [404, 204], [0, minuteMs], "delivered"],
    ["fail with 401", [401, 204], [0, minuteMs], "delivered"],
    ["fail with 304", [304, 204], [0, minuteMs], "delivered"],
    ["fail with a reset", ["reset", 204], [0, minuteMs], "delivered"],
    ["fail with silence, every time", ["silence"], wholeSchedule, "failed"],
  ];
  it.each(cases)("%s", async (_name, reactions, times, state) => {
    const { outbox, advance, receiver, times: timesOf } = outboxFixture();
    const target = await receiver(...reactions);
    const { id } = outbox.add(newWebhook(target.url));
    outbox.emit(agentEvent());
    await advance(3 * hourMs);
    await advance(9 * hourMs);
    expect(timesOf(target)).toEqual(times);
    const [delivery] = outbox.deliveriesOf(id);
    expect(delivery).toMatchObject({ state, nextAttemptMs: null });
    expect(delivery?.attempts.map(({ atMs }) => atMs - virtualEpochMs)).toEqual(times);
  });

  it("give a receiver three seconds, and no more", async () => {
    const { outbox, advance, receiver } = outboxFixture();
    const target = await receiver("silence");
    const { id } = outbox.add(newWebhook(target.url));
    outbox.emit(agentEvent());
    await advance(2999);
    expect(outbox.deliveriesOf(id)[0]?.attempts).toHaveLength(0);
    await advance(1);
    expect(outbox.deliveriesOf(id)[0]?.attempts).toEqual([
      { atMs: virtualEpochMs, endedMs: virtualEpochMs + 3000, status: null, failure: "no response within 3 s" },
    ]);
  });

  it("follow no redirect", async () => {
    const { outbox, advance, receiver } = outboxFixture();
    const elsewhere = await receiver(204);
    const target = await receiver({ status: 307, headers: { location: elsewhere.url } });
    outbox.add(newWebhook(target.url));
    outbox.emit(agentEvent());
    await advance(hourMs);
    expect(target.received).toHaveLength(4);
    expect(elsewhere.received).toHaveLength(0);
  });

  it("have a reason if no response came", async () => {
    const { outbox, advance, receiver } = outboxFixture();
    const target = await receiver("reset");
    const reset = outbox.add(newWebhook(target.url));
    const nobody = outbox.add(newWebhook("http://127.0.0.1:1/"));
    outbox.emit(agentEvent());
    await advance(0);
    expect(outbox.deliveriesOf(reset.id)[0]?.attempts[0]?.failure).toMatch(/the connection was (reset|closed)/);
    expect(outbox.deliveriesOf(nobody.id)[0]?.attempts[0]?.failure).toBe("the connection was refused");
  });
});

describe("a delivery", () => {
  it("is the event record, signed, with the webhook's own headers", async () => {
    const { outbox, advance, receiver } = outboxFixture();
    const target = await receiver(500, 204);
    const headers = { "X-Team": "blue", "content-TYPE": "text/plain", Host: "other", "x-service-signature": "mine" };
    outbox.add(newWebhook(target.url, { headers }));
    outbox.emit(agentEvent());
    await advance(hourMs);
    const [first, second] = target.received;
    expect(first).toMatchObject({
      method: "POST",
      path: "/hook",
      headers: { "content-type": "application/json", "x-team": "blue", host: new URL(target.url).host },
      json: {
        id: "evt_000001",
        type: "agent.completed",
        created: "2026-03-04T05:06:07.000Z",
        data: { tokens_used: 3 },
        agent_id: "echo",
        deployment_id: "dep_1",
      },
    });
    expect(first?.rawHeaders.filter((name) => name.toLowerCase() === "x-service-signature")).toEqual([
      "X-Service-Signature",
    ]);
    expect(first?.headers["x-service-signature"]).toMatch(/^[0-9a-f]{64}$/);
    expect(second?.bytes).toEqual(first?.bytes);
  });

  it("has no signature without a secret, and no deployment_id without a deployment", async () => {
    const { outbox, advance, receiver } = outboxFixture();
    const target = await receiver(204);
    outbox.add(newWebhook(target.url, { secret: null }));
    outbox.emit(agentEvent({ deploymentId: null }));
    await advance(0);
    expect(target.received[0]?.headers).not.toHaveProperty("x-service-signature");
    expect(target.received[0]?.json).not.toHaveProperty("deployment_id");
  });

  it("has the data as it was when the event was emitted", async () => {
    const { outbox, advance, receiver } = outboxFixture();
    const target = await receiver(204);
    outbox.add(newWebhook(target.url));
    const data = { text: "before" };
    outbox.emit(agentEvent({ data }));
    data.text = "after";
    await advance(0);
    expect(target.received[0]?.json["data"]).toEqual({ text: "before" });
  });

  it("has empty data if the data is no JSON", async () => {
    const { outbox, advance, receiver } = outboxFixture();
    const target = await receiver(204);
    outbox.add(newWebhook(target.url));
    const circle: Record<string, unknown> = {};
    circle["self"] = circle;
    outbox.emit(agentEvent({ data: circle }));
    outbox.emit(agentEvent({ data: 1n }));
    await advance(0);
    expect(target.received.map(({ json }) => json["data"])).toEqual([{}, {}]);
  });

  it("fails alone if its headers cannot be written", async () => {
    const { outbox, advance, receiver } = outboxFixture();
    const target = await receiver(204);
    const { id } = outbox.add(newWebhook(target.url, { headers: { "bad name": "x", good: "a\r\nb" } }));
    outbox.emit(agentEvent());
    await advance(3 * hourMs);
    expect(target.received).toHaveLength(0);
    expect(outbox.deliveriesOf(id)[0]).toMatchObject({ state: "failed" });
  });
});

describe("selection", () => {
  const cases: readonly (readonly [readonly string[], string | null, number])[] = [
    [["agent.*"], null, 1],
    [["agent.completed"], null, 1],
    [["agent.completed", "agent.*"], null, 1],
    [["agent.failed"], null, 0],
    [["deployment.*"], null, 0],
    [["agent"], null, 0],
    [["*"], null, 0],
    [[], null, 0],
    [["agent.*"], "echo", 1],
    [["agent.*"], "worn", 0],
  ];
  it.each(cases)("of %j tied to %j", async (events, agentId, count) => {
    const { outbox, advance, receiver } = outboxFixture();
    const target = await receiver(204);
    outbox.add(newWebhook(target.url, { events, agentId }));
    outbox.emit(agentEvent());
    await advance(0);
    expect(target.received).toHaveLength(count);
  });

  it("skips a retired webhook, but still sends its pending deliveries", async () => {
    const { outbox, advance, receiver } = outboxFixture();
    const target = await receiver(500);
    const { id } = outbox.add(newWebhook(target.url));
    outbox.emit(agentEvent());
    outbox.retire(id);
    outbox.emit(agentEvent());
    await advance(hourMs);
    expect(outbox.webhooks()).toEqual([]);
    expect(target.received.map(({ json }) => json["id"])).toEqual(Array(4).fill("evt_000001"));
  });
});

describe("many at once", () => {
  it("are all delivered, each once", async () => {
    const { outbox, advance, receiver } = outboxFixture();
    const target = await receiver(204);
    const { id } = outbox.add(newWebhook(target.url));
    for (let number = 0; number < 500; number += 1) outbox.emit(agentEvent({ data: { number } }));
    expect(target.received).toHaveLength(0);
    await advance(0);
    const numbers = target.received.map(({ json }) => (json["data"] as { number: number }).number);
    expect(numbers.toSorted((one, other) => one - other)).toEqual(Array.from({ length: 500 }, (_, index) => index));
    expect(outbox.totalsOf(id)).toMatchObject({ delivered: 500, failed: 0 });
  });

  it("do not wait for the silent receiver of another webhook", async () => {
    const { outbox, advance, receiver } = outboxFixture();
    const [dumb, quick] = [await receiver("silence"), await receiver(204)];
    outbox.add(newWebhook(dumb.url));
    outbox.add(newWebhook(quick.url));
    for (let number = 0; number < 100; number += 1) outbox.emit(agentEvent());
    await advance(0);
    expect(quick.received).toHaveLength(100);
    await advance(12 * hourMs);
    expect(dumb.received).toHaveLength(500);
    expect(quick.received).toHaveLength(100);
  });
});

describe("metrics", () => {
  it("are empty before the first delivery", () => {
    const { outbox } = outboxFixture();
    const { id } = outbox.add(newWebhook("http://127.0.0.1:1/"));
    expect(outbox.totalsOf(id)).toEqual({
      delivered: 0,
      failed: 0,
      answers: 0,
      answersMs: 0,
      lastAttemptMs: null,
    });
  });

  it("count ended deliveries, but not pending ones", async () => {
    const { outbox, advance, receiver } = outboxFixture();
    const target = await receiver(204, 500);
    const { id } = outbox.add(newWebhook(target.url));
    outbox.emit(agentEvent());
    await advance(minuteMs);
    outbox.emit(agentEvent());
    await advance(minuteMs);
    expect(outbox.totalsOf(id)).toMatchObject({ delivered: 1, failed: 0, answersMs: 0 });
    await advance(3 * hourMs);
    expect(outbox.totalsOf(id)).toMatchObject({
      delivered: 1,
      failed: 1,
      lastAttemptMs: virtualEpochMs + minuteMs + 2 * hourMs + 36 * minuteMs,
    });
  });

  it("count more deliveries than the thousand that are kept", async () => {
    const { outbox, advance, receiver } = outboxFixture();
    const target = await receiver(204);
    const { id } = outbox.add(newWebhook(target.url));
    for (let number = 0; number < 1005; number += 1) outbox.emit(agentEvent());
    await advance(0);
    expect(outbox.deliveriesOf(id)).toHaveLength(1000);
    expect(outbox.totalsOf(id)).toMatchObject({ delivered: 1005, failed: 0 });
  });
});

describe("a notice", () => {
  it("is sent, signed and retried like an event", async () => {
    const { outbox, advance, receiver, times } = outboxFixture();
    const target = await receiver(500, 204);
    outbox.notify({ url: target.url, secret: "whsec" }, { type: "rate_limit" });
    await advance(hourMs);
    expect(times(target)).toEqual([0, minuteMs]);
    expect(target.received[0]?.json).toEqual({ type: "rate_limit" });
    expect(target.received[0]?.headers["x-service-signature"]).toMatch(/^[0-9a-f]{64}$/);
  });
});

describe("a closed outbox", () => {
  it("sends nothing more and throws nothing", async () => {
    const { outbox, advance, receiver } = outboxFixture();
    const target = await receiver(500);
    outbox.add(newWebhook(target.url));
    outbox.emit(agentEvent());
    await advance(0);
    outbox.emit(agentEvent());
    await outbox.close();
    outbox.emit(agentEvent());
    await advance(3 * hourMs);
    expect(target.received.length).toBeLessThanOrEqual(2);
    expect(target.received.every(({ atMs }) => atMs === virtualEpochMs)).toBe(true);
  });
});

describe("decisions", () => {
  it("can repeat a delivered event, send in chunks, and make new ids for each attempt", async () => {
    const { outbox, advance, receiver, times } = outboxFixture({
      behaviour: {
        nextAttemptMs: ({ attemptCount, lastMs }) => (attemptCount < 3 ? lastMs : null),
        deliveryFraming: () => "chunked",
        eventId: (number, attempt) => `evt-${number}-${attempt}`,
        firstDelayMs: () => 50,
      },
    });
    const target = await receiver(204);
    const { id } = outbox.add(newWebhook(target.url));
    outbox.emit(agentEvent());
    await advance(1000);
    expect(times(target)).toEqual([50, 50, 50]);
    expect(target.received.map(({ json }) => json["id"])).toEqual(["evt-1-1", "evt-1-2", "evt-1-3"]);
    expect(target.received[0]?.headers).toMatchObject({ "transfer-encoding": "chunked" });
    expect(outbox.totalsOf(id)).toMatchObject({ delivered: 1, failed: 0 });
  });

  it("can wait without a timeout", async () => {
    const { outbox, advance, receiver } = outboxFixture({
      behaviour: { responseTimeoutMs: () => Number.POSITIVE_INFINITY },
    });
    const target = await receiver("silence");
    outbox.add(newWebhook(target.url));
    outbox.emit(agentEvent());
    await advance(9 * hourMs);
    expect(target.received).toHaveLength(1);
  });
});
