import { describe, expect, it } from "vitest";

import type { LoadProgress } from "./engine.ts";
import { startStallTimeout, stopReason } from "./stall-timeout.ts";

const progress = (elapsedSeconds: number, other: Partial<LoadProgress> = {}): LoadProgress => ({
  elapsedMs: elapsedSeconds * 1000,
  expectedMs: 3000,
  sent: 10,
  admitted: 0,
  limited: 0,
  failed: 0,
  ...other,
});

describe("patience with a target under load", () => {
  it("ends with one that answers nothing, a minute after the load should have ended", () => {
    const { signal, observe } = startStallTimeout(new AbortController().signal);
    observe(progress(62, { failed: 10 }));
    expect(stopReason(signal)).toBeNull();
    observe(progress(64, { failed: 20 }));
    expect(stopReason(signal)).toBe("no 200 and no 429 for 64 s");
  });

  it.each(["admitted", "limited"] as const)("does not end with one that is slow, as long as some are %s", (name) => {
    const { signal, observe } = startStallTimeout(new AbortController().signal);
    for (let at = 1; at < 60; at += 1) observe(progress(at * 40, { [name]: at }));
    expect(stopReason(signal)).toBeNull();
    observe(progress(59 * 40 + 46, { [name]: 59 }));
    expect(stopReason(signal)).toMatch(/for 46 s/);
  });

  it("does not end with a load that rests as its scenario wants", () => {
    const { signal, observe } = startStallTimeout(new AbortController().signal);
    observe(progress(3000, { expectedMs: 3_000_000, admitted: 0 }));
    expect(stopReason(signal)).toBeNull();
  });

  it("ends when the run is interrupted, and says so", () => {
    const stop = new AbortController();
    const { signal } = startStallTimeout(stop.signal);
    stop.abort();
    expect(stopReason(signal)).toBe("interrupted");
  });
});
