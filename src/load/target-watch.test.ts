import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";

import { startTargetWatch, TargetDied, type TargetWatch } from "./target-watch.ts";

beforeEach(() => void vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "performance"] }));
afterEach(() => void vi.useRealTimers());

const progress = { elapsedMs: 0, expectedMs: 0, sent: 0, admitted: 0, refused: 0, failed: 0 };

/** Watches a target that is away between two times, in ms. `slowMs`: how long a connection takes to fail. */
function watchTarget(away: { fromMs: number; toMs: number; slowMs?: number }, signal = new AbortController().signal) {
  const beganMs = performance.now();
  const attemptsMs: number[] = [];
  const connect = async (): Promise<boolean> => {
    const atMs = performance.now() - beganMs;
    attemptsMs.push(atMs);
    const isThere = atMs < away.fromMs || atMs >= away.toMs;
    if (!isThere && away.slowMs !== undefined) await vi.advanceTimersByTimeAsync(away.slowMs);
    return isThere;
  };
  return { watch: startTargetWatch({ signal, connect }), attemptsMs, nowMs: () => performance.now() - beganMs };
}

async function ended(watch: TargetWatch) {
  const outage = watch.end();
  await vi.advanceTimersByTimeAsync(20_000);
  return outage;
}

describe("the watch of a target", () => {
  it("connects every 2 s and reports nothing while the target is there", async () => {
    const { watch, attemptsMs } = watchTarget({ fromMs: Infinity, toMs: Infinity });
    await vi.advanceTimersByTimeAsync(6500);
    expect(attemptsMs.map(Math.round)).toEqual([2000, 4000, 6000]);
    expect(await ended(watch)).toBeNull();
    expect(watch.signal.aborted).toBe(false);
  });

  it("ends the load once the target has refused for 8 s in a row", async () => {
    const { watch } = watchTarget({ fromMs: 3000, toMs: Infinity });
    await vi.advanceTimersByTimeAsync(11_900);
    expect(watch.signal.aborted).toBe(false);
    await vi.advanceTimersByTimeAsync(400);
    expect(watch.signal.reason).toBeInstanceOf(TargetDied);
    expect((watch.signal.reason as Error).message).toMatch(
      /^the target died: it has accepted no connection since \d\d:\d\d:\d\d UTC$/,
    );
    expect(await ended(watch)).toMatchObject({ backMs: null });
  });

  it("connects at once when a request fails, so that a restart is noticed", async () => {
    const { watch } = watchTarget({ fromMs: 2500, toMs: 3000 });
    await vi.advanceTimersByTimeAsync(2600);
    watch.observe({ ...progress, failed: 1 });
    await vi.advanceTimersByTimeAsync(1000);
    const outage = await ended(watch);
    expect(outage).toMatchObject({ backMs: expect.any(Number) });
    expect((outage?.backMs ?? 0) - (outage?.failedMs ?? 0)).toBeLessThan(1000);
  });

  it("waits at the end until a target that is away is back", async () => {
    const { watch, nowMs } = watchTarget({ fromMs: 1000, toMs: 5000 });
    await vi.advanceTimersByTimeAsync(1500);
    const end = watch.end().then(nowMs);
    await vi.advanceTimersByTimeAsync(20_000);
    expect(await end).toBeGreaterThanOrEqual(5000);
    expect(watch.signal.aborted).toBe(false);
  });

  it("does not take a busy target for one that is away: it responds while a connection waits", async () => {
    const { watch } = watchTarget({ fromMs: 2000, toMs: 2001, slowMs: 2000 });
    await vi.advanceTimersByTimeAsync(2100);
    for (let admitted = 1; admitted < 8; admitted += 1) {
      watch.observe({ ...progress, admitted });
      await vi.advanceTimersByTimeAsync(500);
    }
    expect(await ended(watch)).toBeNull();
  });

  it("does not call a target dead that still responds on old connections", async () => {
    const { watch } = watchTarget({ fromMs: 1000, toMs: Infinity });
    for (let admitted = 1; admitted < 40; admitted += 1) {
      await vi.advanceTimersByTimeAsync(500);
      watch.observe({ ...progress, admitted });
    }
    expect(watch.signal.aborted).toBe(false);
  });

  it("ends at once when the user stops the load", async () => {
    const stop = new AbortController();
    const { watch } = watchTarget({ fromMs: 0, toMs: Infinity }, stop.signal);
    await vi.advanceTimersByTimeAsync(3000);
    stop.abort();
    expect(await watch.end()).toBeNull();
  });
});
