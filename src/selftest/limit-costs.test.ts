import { describe, expect, it } from "vitest";

import { targetOf } from "../reference/embedded/embedded-server.ts";
import { patchesByName } from "../reference/catalogue.ts";
import { startReference, virtualClock } from "../reference/reference.ts";
import { fixedWindow, hideUntilRefusal, overrideLimiter, windowsOf } from "../reference/limits/windows.ts";
import { fault, faults, type Patch } from "../reference/patch.ts";
import type { RequestLine } from "../reference/server/app.ts";
import { check, suite, type Suite } from "../run/judge/check.ts";
import { holds } from "../run/judge/finding.ts";
import { planProbes } from "../run/plan/plan.ts";
import type { Probe } from "../run/probe.ts";
import { runSuites } from "../run/run.ts";
import { tierNames } from "../spec/tiers.ts";
import { hourExhausted } from "../suites/limits/hour-probe.ts";
import { minuteExhausted } from "../suites/limits/minute-probe.ts";

const only = (probe: Probe): Suite[] => [suite("Limits", [check("LIM-1", probe, holds)])];

/** Whether a request ran an agent. */
const isExecution = ({ path, status }: RequestLine): boolean => /\/(invoke|stream)$/.test(path) && status === 200;

/** Runs one probe for each tier. Returns what was planned and what was sent, by the name of the tier. */
async function costsOf(probe: Probe, patches: readonly Patch[] = []) {
  const lines: RequestLine[] = [];
  const reference = await startReference({ clock: virtualClock(), patches, onRequest: (line) => lines.push(line) });
  const target = targetOf(reference);
  const { signal } = new AbortController();
  await runSuites({ target, suites: only(probe), maxWaitMs: 0, signal });
  await reference.close();
  return planProbes(only(probe), target).map(({ tested, requests, executions }) => {
    const own = lines.filter(({ key, path }) => key === tested?.key.name && !path.endsWith("/health"));
    return {
      tier: tested?.tier,
      planned: { requests, executions },
      sent: { requests: own.length, executions: own.filter(isExecution).length },
    };
  });
}

describe("what is planned for a limit", () => {
  it.each([
    ["minute", minuteExhausted],
    ["hour", hourExhausted],
  ] as const)("is enough for the %s of each tier, and at most about twice as much", async (_, probe) => {
    const costs = await costsOf(probe);
    expect(costs.map(({ tier }) => tier)).toEqual(tierNames);
    for (const { tier, planned, sent } of costs)
      for (const what of ["requests", "executions"] as const) {
        expect(planned[what], `${what} of ${tier}`).toBeGreaterThanOrEqual(sent[what]);
        expect(planned[what], `${what} of ${tier}`).toBeLessThanOrEqual(2.1 * sent[what]);
      }
  });
});

/** A server that admits half as many GET requests of the list and of usage in a minute as invokes. */
const readsLimitedApart = faults("Limits", {
  "reads-limited-apart": fault("LIM-2", "Half of a minute's requests may be reads.").by((base) => {
    let isRead = false;
    return {
      isLimited: (endpoint) => {
        isRead = endpoint === "list" || endpoint === "usage";
        return base.isLimited(endpoint);
      },
      limiters: (limits) => {
        const { minute } = windowsOf(limits);
        const half = hideUntilRefusal(
          fixedWindow({ ...minute, limit: minute.limit / 2, advertisedLimit: minute.limit }),
        );
        const ofReads = overrideLimiter(half, {
          hasRoom: (nowMs) => !isRead || half.hasRoom(nowMs),
          count: (nowMs) => (isRead ? half.count(nowMs) : undefined),
        });
        return [...base.limiters(limits), ofReads];
      },
    };
  }),
});

it.each([
  ["no GET request counts", patchesByName(["only-turns-count"], [])],
  ["GET requests have a smaller limit", readsLimitedApart],
])("using up the hours of all tiers runs at most 300 agents if %s", async (_, patches) => {
  const costs = await costsOf(hourExhausted, patches);
  expect(costs.reduce((sum, { sent }) => sum + sent.executions, 0)).toBeLessThanOrEqual(300);
});
