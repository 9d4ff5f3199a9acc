import { expect, it, onTestFinished } from "vitest";

import { startReceiver } from "../receiver/receiver.ts";
import { receiverByAttempt, receiverOnDemand } from "./run-receiver.ts";
import { aTarget } from "./testing/values.ts";

const time = { now: () => 0, clockOffsetMs: () => 0, maxClockOffsetMs: () => 0 };

it("takes deliveries that it did not store for a flood only if executions do not explain them", async () => {
  const webhooks = { listen: "127.0.0.1:0", publicUrl: null, isReachabilityPromised: true, sources: null };
  const receiver = receiverOnDemand(aTarget("http://127.0.0.1:9/v1", { webhooks }), time);
  onTestFinished(receiver.close);
  const hook = (await receiver.open()).open("wildcard", { secret: null, replies: [] });
  expect(receiver.floodReason(0)).toBeNull();
  const large = "a".repeat(240 * 1024);
  while (hook.droppedCount() < 4) await fetch(hook.url, { method: "POST", body: large });
  expect(receiver.floodReason(1)).toBeNull();
  expect(receiver.floodReason(0)).toMatch(/deliveries arrived, of which 4 were counted and not stored/);
});

it("keeps deliveries of an interrupted try apart from those of the next", async () => {
  const receiver = await startReceiver({ listen: "127.0.0.1:0", publicUrl: null, time });
  onTestFinished(receiver.close);
  const receiverFor = receiverByAttempt<string>(
    () => Promise.resolve(receiver),
    (probe) => (probe === "other" ? "1.1" : "1.0"),
  );
  const plan = { secret: null, replies: [{ kind: "status", status: 500 }] } as const;
  const deliver = async (url: string): Promise<number> => (await fetch(url, { method: "POST", body: "{}" })).status;

  const other = (await receiverFor("other")()).open("other", plan);
  const interrupted = await receiverFor("probe")();
  const first = interrupted.open("failing", plan);
  expect(await deliver(first.url)).toBe(500);
  const second = (await receiverFor("probe")()).open("failing", plan);
  const late = interrupted.open("late", plan);
  expect([await deliver(first.url), await deliver(late.url)]).toEqual([204, 204]);
  expect([await deliver(second.url), await deliver(other.url)]).toEqual([500, 500]);

  const names = ["interrupted-failing", "interrupted-failing", "interrupted-late", "failing", "other"];
  expect(receiver.deliveries().map(({ hook }) => hook)).toEqual(names);
  expect(receiver.deliveries().flatMap(({ hook, since }) => (since === undefined ? [] : [hook, since]))).toEqual([
    "other",
    "1.1",
  ]);
  const { hooks, deliveries } = receiver.record();
  expect({ hooks: hooks.map(({ name }) => name), deliveries }).toEqual({ hooks: ["other", "failing"], deliveries: 5 });
});
