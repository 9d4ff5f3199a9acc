import { setImmediate, setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from "vitest";
import { type EmbeddedServer, startEmbedded } from "../../reference/embedded/embedded-server.ts";
import type { Timers } from "../../run/time/run-clock.ts";
import { recovery } from "../../../scenarios/recovery.ts";
import {
  followRealTime,
  testIfClockStandsStill,
  serverTimeReader,
  type ServerTimes,
  withRetriedAdvance,
} from "./trial-clock.ts";
import { openTargetEnvironment } from "./trial-environment.ts";
import { clockOverHttp, ControlCallFailed } from "../../target/control-calls.ts";
import { TargetDied } from "../../load/target-watch.ts";
import { plainNetwork } from "../../base/network/network.ts";

/** Simulates real time, which passes only during sleeps, and a test clock that only counts its advances. */
function simulate() {
  let [realMs, advancedMs] = [0, 0];
  const timers: Timers = {
    now: () => realMs,
    sleep: async (ms) => {
      realMs += ms;
      await setImmediate();
    },
  };
  const clock = {
    advance: async (ms: number) => {
      advancedMs += ms;
      await Promise.resolve();
    },
    settleMs: 0,
    agentsFollow: true,
  };
  return { timers, clock, realMs: () => realMs, advancedMs: () => advancedMs, take: (ms: number) => (realMs += ms) };
}

describe("a test clock", () => {
  type Show = (real: number, advanced: number) => ServerTimes;
  it.each<[string, boolean, Show]>([
    ["that stands still", true, (_, advanced) => ({ limits: advanced, date: advanced })],
    ["of the limits alone", true, (real, advanced) => ({ limits: advanced, date: real })],
    ["of a target without headers about limits", true, (_, advanced) => ({ limits: null, date: advanced })],
    ["that runs by itself", false, (real, advanced) => ({ limits: real + advanced, date: real + advanced })],
    [
      "that runs by itself, in whole seconds",
      false,
      (real, advanced) => ({ limits: Math.floor(real + advanced), date: null }),
    ],
    ["that runs, beside a reset that never moves", false, (real, advanced) => ({ limits: 60, date: real + advanced })],
    ["that is not shown", false, () => ({ limits: null, date: null })],
  ])("%s: whether it has to be moved: %s", async (_, expected, show) => {
    const { timers, clock, realMs, advancedMs } = simulate();
    const read = () => Promise.resolve(show(realMs() / 1000 + 0.9, advancedMs() / 1000));
    expect(await testIfClockStandsStill({ clock, read, timers })).toBe(expected);
  });

  it("is moved by the real time that passes", async () => {
    const { timers, clock, realMs, advancedMs } = simulate();
    const inStep = followRealTime(clock, timers);
    await vi.waitUntil(() => realMs() > 60_000);
    await inStep.stop();
    expect(realMs() - advancedMs()).toBeLessThan(500);
    expect(inStep.problem()).toBeNull();
  });

  it.each<[string, number, string | null]>([
    ["for long", 11_000, "the target's test clock lagged behind by 11.1 s, though it was moved along with real time"],
    ["for a while", 3000, null],
  ])("that lags %s, since an advance takes %i ms, has the problem %s", async (_, tookMs, problem) => {
    const { timers, clock, realMs, take } = simulate();
    const advance = async (ms: number): Promise<void> => {
      if (realMs() > 2000 && realMs() < 2900) take(tookMs);
      await clock.advance(ms);
    };
    const inStep = followRealTime({ ...clock, advance }, timers);
    await vi.waitUntil(() => realMs() > 15_000);
    await inStep.stop();
    expect(inStep.problem()).toBe(problem);
    expect(inStep.lagMs()).toBeGreaterThanOrEqual(tookMs);
  });

  it("that lags, since an advance is refused, is a problem", async () => {
    const { timers, clock, realMs } = simulate();
    const advance = (): Promise<void> => Promise.reject(new Error("the call answered 500"));
    const inStep = followRealTime({ ...clock, advance }, timers);
    await vi.waitUntil(() => realMs() > 12_000);
    await inStep.stop();
    expect(inStep.problem()).toMatch(/test clock lagged behind by .* \(the call answered 500\)$/);
  });
});

describe("a load on a server whose clock stands still", () => {
  let embedded: EmbeddedServer;
  beforeAll(async () => {
    embedded = await startEmbedded();
  });
  afterAll(() => embedded.close());

  it("moves the clock during a trial, and no longer after it", async () => {
    const { target } = embedded;
    const pro = target.keys["pro"];
    const environment = openTargetEnvironment(target, new Map());
    onTestFinished(environment.close);
    if (pro === undefined) throw new Error("there is no key of the pro tier");
    const read = serverTimeReader(target, pro);
    const setup = await environment.setUp({ scenario: recovery, tier: "pro", engine: "autocannon" });
    const { date } = await read();
    await vi.waitUntil(async () => ((await read()).date ?? 0) > (date ?? 0), { timeout: 30_000, interval: 100 });
    await setup.tearDown();
    const after = await read();
    await sleep(1100);
    expect(await read()).toEqual(after);
  });
});

/** Simulates a test clock whose first advances fail, and timers whose time passes only during sleeps. */
function simulateFailures(failures: number, error: Error) {
  let [nowMs, calls] = [0, 0];
  const clock = {
    advance: async () => {
      calls += 1;
      await Promise.resolve();
      if (calls <= failures) throw error;
    },
    settleMs: 0,
    agentsFollow: false,
  };
  const timers = {
    now: () => nowMs,
    sleep: async (ms: number) => {
      await Promise.resolve();
      nowMs += ms;
    },
  };
  return { advance: () => withRetriedAdvance(clock, timers).advance(1000), calls: () => calls };
}

const temporary = new ControlCallFailed("answered 502", { isTemporary: true });

describe("an advance between two trials", () => {
  it("is sent again while a gateway responds in place of the target", async () => {
    const { advance, calls } = simulateFailures(5, temporary);
    await advance();
    expect(calls()).toBe(6);
  });

  it.each([
    ["the target stays away for 8 s", temporary, TargetDied, 9],
    ["the target refuses it", new ControlCallFailed("answered 403", { isTemporary: false }), TargetDied, 1],
    [
      "this machine has no files left",
      new ControlCallFailed("", { isTemporary: true, cause: Object.assign(new Error("no files"), { code: "EMFILE" }) }),
      ControlCallFailed,
      1,
    ],
  ])("fails if %s", async (_, error, kind, sent) => {
    const { advance, calls } = simulateFailures(Number.POSITIVE_INFINITY, error);
    await expect(advance()).rejects.toBeInstanceOf(kind);
    expect(calls()).toBe(sent);
  });

  it("counts a broken connection as temporary", async () => {
    const clock = clockOverHttp({ advance: { url: "http://127.0.0.1:1/clock", method: "POST" } }, plainNetwork);
    await expect(clock.advance(1000)).rejects.toMatchObject({
      name: "ControlCallFailed",
      isTemporary: true,
      isCarriedOut: "no",
    });
  });

  it.each(["EHOSTUNREACH", "ENETUNREACH"])("knows that it was not carried out if the error is %s", (code) => {
    const cause = Object.assign(new Error("no connection"), { code });
    expect(new ControlCallFailed("no connection", { isTemporary: true, cause }).isCarriedOut).toBe("no");
  });
});
