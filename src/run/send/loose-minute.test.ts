import { afterAll, beforeAll, describe, expect, it } from "vitest";

import { type FastForwardServer, startFastForwardServer } from "../../reference/testing/test-server.ts";
import { anchoredWindow, windowsOf } from "../../reference/limits/windows.ts";
import { fault, faults } from "../../reference/patch.ts";
import { suites } from "../../suites/all.ts";
import { aKey, aTarget } from "../testing/values.ts";
import { runSuites } from "../run.ts";

/**
 * Admits 390 requests a minute, which is too many. Its headers are about the hour, so only the number of admitted
 * requests shows the fault.
 */
const looseMinute = faults("Limits / Request rate", {
  "minute-of-390": fault("LIM-1", "A minute that a request opens admits 390.").by((base) => ({
    limiters: (limits) => {
      const { hour, minute } = windowsOf(limits);
      return [anchoredWindow(hour), anchoredWindow({ ...minute, limit: 390, advertisedLimit: limits.perMinute })];
    },
    advertisedWindow: (readings) => readings.find(({ window }) => window === "hour") ?? base.advertisedWindow(readings),
  })),
});

describe("one pro key on a real clock", () => {
  let server: FastForwardServer;
  beforeAll(async () => {
    server = await startFastForwardServer(looseMinute);
  });
  afterAll(() => server.close());

  it("reveals a minute of 390, although alerts use waiting time too", async () => {
    const pro = server.reference.keys.find(({ name }) => name === "pro");
    const judged = await runSuites({
      target: aTarget(server.reference.baseUrl, {
        keys: { key: aKey({ key: pro?.key ?? "", tier: "pro" }) },
        webhooks: { listen: "127.0.0.1:0", publicUrl: null, isReachabilityPromised: false, sources: null },
      }),
      suites,
      maxRequests: null,
      maxWaitMs: 120_000,
      signal: new AbortController().signal,
      timers: server.timers,
    });
    if (judged.kind !== "judged") throw new Error(JSON.stringify(judged.sentence));
    const found = judged.judgements.find(({ check }) => check.id === "LIM-1")?.finding.kind;
    expect(found).toBe("breach");
  });
});
