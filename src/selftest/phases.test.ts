import { expect, it } from "vitest";

import { sampleOf } from "../base/testing/test-scope.ts";
import { startEmbedded } from "../reference/embedded/embedded-server.ts";
import { findPatch } from "../reference/catalogue.ts";
import { runSuites } from "../run/run.ts";
import { suites } from "../suites/all.ts";

const overMinute = suites.map((suite) => ({ ...suite, checks: suite.checks.filter(({ id }) => id === "LIM-1") }));

const seconds = Array.from({ length: 10 }, (_, second) => second);

// Earlier probes decide when in a minute this probe begins. The probe must detect a window that is too short, whenever
// the probe begins.
it.each(sampleOf(seconds, { of: 3 }))(
  "a minute that lasts ten seconds is found where the run begins %i s later",
  async (second) => {
    const patch = findPatch("fault", "minute-too-short");
    const embedded = await startEmbedded(patch === undefined ? [] : [patch]);
    try {
      await embedded.target.clock?.advance(second * 1000);
      const keys = Object.entries(embedded.target.keys).filter(([, { tier }]) => tier === "free");
      const result = await runSuites({
        target: { ...embedded.target, keys: Object.fromEntries(keys) },
        suites: overMinute,
        maxRequests: Number.POSITIVE_INFINITY,
        maxWaitMs: 0,
        signal: new AbortController().signal,
      });
      expect(result).toMatchObject({ judgements: [{ check: { id: "LIM-1" }, finding: { kind: "breach" } }] });
    } finally {
      await embedded.close();
    }
  },
);
