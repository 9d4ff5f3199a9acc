import { defaultBounds } from "../../run/plan/bounds.ts";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type FastForwardServer, startFastForwardServer } from "../../reference/testing/test-server.ts";
import { runSuites } from "../../run/run.ts";
import { aKey, aTarget } from "../../run/testing/values.ts";
import { suites } from "../../suites/all.ts";
import { newestRequirements } from "../../spec/clause.ts";
import { planRun } from "./run-plan.ts";
import { cliMessages } from "../../cli/messages.ts";
import { virtualTimers } from "./simulate-run.ts";

const maxWaitMs = 90_000;

/** At most this many checks may lack time in a real run although the dry run did not foresee it. */
const mostUnforeseen = 6;

describe("a plan for one Free key on a real clock", () => {
  let passing: FastForwardServer;
  beforeAll(async () => {
    passing = await startFastForwardServer();
  });
  afterAll(() => passing.close());

  const target = () => {
    const free = passing.reference.keys.find((key) => key.tier === "free" && key.expiresInSeconds === null);
    return aTarget(passing.reference.baseUrl, {
      keys: { key: aKey({ key: free?.key ?? "", tier: "free" }) },
      agents: { answering: "echo", streaming: "echo" },
    });
  };
  const options = {
    ...defaultBounds,
    suites,
    maxWaitMs,
    maxRequests: 1000,
    requirements: newestRequirements,
    messages: cliMessages,
  } as const;
  const planAt = async (ms: number) => {
    const planned = await planRun({ ...options, target: target(), maxWaitMs: ms });
    if (planned === null) throw new Error("nothing was planned");
    return planned;
  };

  it("names the checks for which a run finds no time", async () => {
    const { shortOfTime } = await planAt(maxWaitMs);
    const short = new Set(shortOfTime?.checks);
    const { signal } = new AbortController();
    const result = await runSuites({ ...options, target: target(), signal, timers: passing.timers });
    if (result.kind !== "judged") throw new Error(JSON.stringify(result.sentence));
    const skipped = result.judgements.flatMap(({ check, finding }) =>
      finding.kind === "unproven"
        ? [{ id: check.id, needs: finding.needs === null ? "" : cliMessages.needs(finding.needs) }]
        : [],
    );
    const untimely = new Set(skipped.filter(({ needs }) => needs.includes("--max-wait")).map(({ id }) => id));
    expect(untimely.size).toBeGreaterThan(30);
    expect(short.difference(new Set(skipped.map(({ id }) => id)))).toEqual(new Set());
    expect(untimely.difference(short).size).toBeLessThanOrEqual(mostUnforeseen);
  });

  it("says how much time is enough, and is right by its own count", async () => {
    const enough = (await planAt(maxWaitMs)).shortOfTime?.enoughMinutes ?? 0;
    expect(enough).toBeGreaterThan(maxWaitMs / 60_000);
    expect((await planAt(enough * 60_000)).shortOfTime).toBeNull();
    expect((await planAt((enough - 1) * 60_000)).shortOfTime?.enoughMinutes).toBe(enough);
  });
});

describe("virtual timers", () => {
  it("wake sleepers in the order of their time, and show that time", async () => {
    const { now, sleep } = virtualTimers();
    const { signal } = new AbortController();
    const woken: [string, number][] = [];
    const nap = async (name: string, ms: number): Promise<void> => {
      await sleep(ms, signal);
      woken.push([name, now()]);
    };
    await Promise.all([nap("late", 90_000), nap("early", 1000).then(() => nap("again", 2000))]);
    expect(woken).toEqual([
      ["early", 1000],
      ["again", 3000],
      ["late", 90_000],
    ]);
  });
});
