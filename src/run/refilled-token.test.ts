import { expect, it } from "vitest";

import { startFastForwardServer } from "../reference/testing/test-server.ts";
import { fixedWindow, hideUntilRefusal, type Limiter, tokenBucket } from "../reference/limits/windows.ts";
import { variant, variants, withLimiters } from "../reference/patch.ts";
import { suites } from "../suites/all.ts";
import { runSuites } from "./run.ts";
import { aKey, aTarget } from "./testing/values.ts";

const latencyMs = 300;

/** Returns a limiter on a slow server: time passes with each request. */
function onSlowServer(limiter: Limiter): Limiter {
  let passedMs = 0;
  return {
    window: limiter.window,
    hasRoom: (nowMs) => {
      passedMs += latencyMs;
      return limiter.hasRoom(nowMs + passedMs);
    },
    count: (nowMs) => limiter.count(nowMs + passedMs),
    uncount: (countedAtMs, nowMs) => limiter.uncount(countedAtMs + passedMs, nowMs + passedMs),
    status: (nowMs) => {
      const status = limiter.status(nowMs + passedMs);
      return { ...status, resetAtMs: status.resetAtMs - passedMs };
    },
    roomAtMs: (nowMs) => limiter.roomAtMs(nowMs + passedMs) - passedMs,
  };
}

const slowBucket = variants("Limits / Request rate", {
  "slow-hidden-bucket": variant("A hidden bucket of ten tokens, on a slow server.").by(
    withLimiters(({ hour, minute }) => [fixedWindow(hour), onSlowServer(hideUntilRefusal(tokenBucket(minute)))]),
  ),
});

it("finds no breach if the run's own requests take a token between a refusal and its retry", async () => {
  const { reference, timers, close } = await startFastForwardServer(slowBucket);
  try {
    const free = reference.keys.find(({ name }) => name === "free");
    const result = await runSuites({
      target: aTarget(reference.baseUrl, { keys: { key: aKey({ key: free?.key ?? "", tier: "free" }) } }),
      suites,
      maxRequests: 1000,
      maxWaitMs: 120_000,
      signal: new AbortController().signal,
      timers,
    });
    if (result.kind !== "judged") throw new Error(JSON.stringify(result.sentence));
    const breaches = result.judgements.filter(({ finding }) => ["breach", "error"].includes(finding.kind));
    expect(breaches.map(({ check }) => check.id)).toEqual([]);
  } finally {
    await close();
  }
});
