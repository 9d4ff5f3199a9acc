import { describe, expect, it } from "vitest";

import type { LoadProgress } from "./engine.ts";
import { startStallTimeout, stopReason } from "./target-watch.ts";

const progress = (elapsedSeconds: number, other: Partial<LoadProgress> = {}): LoadProgress => ({
  elapsedMs: elapsedSeconds * 1000,
  expectedMs: 3000,
  sent: 10,
  admitted: 0,
  refused: 0,
  failed: 0,
  ...other,
});

describe("the stall timeout of a load", () => {
  it("aborts if the target is silent a minute after the expected end", () => {
    const { signal, observe } = startStallTimeout(new AbortController().signal);
    observe(progress(62, { failed: 10 }));
    expect(stopReason(signal)).toBeNull();
    observe(progress(64, { failed: 20 }));
    expect(stopReason(signal)).toBe("no 200 and no 429 for 64 s");
  });

  it.each(["admitted", "refused"] as const)("never aborts a slow load as long as requests are %s", (name) => {
    const { signal, observe } = startStallTimeout(new AbortController().signal);
    for (let at = 1; at < 60; at += 1) observe(progress(at * 40, { [name]: at }));
    expect(stopReason(signal)).toBeNull();
    observe(progress(59 * 40 + 46, { [name]: 59 }));
    expect(stopReason(signal)).toMatch(/for 46 s/);
  });

  it("does not abort a load with pauses that its scenario plans", () => {
    const { signal, observe } = startStallTimeout(new AbortController().signal);
    observe(progress(3000, { expectedMs: 3_000_000, admitted: 0 }));
    expect(stopReason(signal)).toBeNull();
  });

  it("aborts if the run is interrupted, with that reason", () => {
    const stop = new AbortController();
    const { signal } = startStallTimeout(stop.signal);
    stop.abort();
    expect(stopReason(signal)).toBe("interrupted");
  });
});
