import { describe, expect, it } from "vitest";

import type { Hook } from "../../receiver/receiver.ts";
import { startRunClock } from "../../run/time/run-clock.ts";
import { awaitDeliveries } from "./create-webhook.ts";

/** An address that gets a delivery only if the caller waits for at least this long at once, in real time. */
const slowAddress = (takesMs: number): Hook => ({
  name: "webhook-slow",
  url: "http://127.0.0.1:9/",
  secret: null,
  otherSecrets: [],
  deliveries: () => [],
  droppedCount: () => 0,
  waitForDeliveries: async (_count, realMs) => realMs >= takesMs,
  release: () => {},
  acceptAll: () => {},
  setAside: () => {},
});

const movedTime = (agentsFollow: boolean) =>
  startRunClock({
    clock: { advance: async () => {}, settleMs: 1, agentsFollow },
    maxWaitMs: 0,
    signal: new AbortController().signal,
  });

describe("a delivery that waits in a queue which is looked at every few seconds of real time", () => {
  it.each([
    ["is waited for although the clock was moved", false, true],
    ["is not waited for where everything follows the clock that is moved, as promised", true, false],
  ])("%s", async (_, agentsFollow, expected) => {
    const awaited = [{ address: slowAddress(5000), count: 1 }];
    expect(await awaitDeliveries(awaited, movedTime(agentsFollow))).toBe(expected);
  });
});
