import { describe, expect, it } from "vitest";

import type { Sample } from "../../rules/limits/sample.ts";
import { noRateLimitInfo } from "../../rules/limits/rate-limit-info.ts";
import { publishedTiers, type TierLimits } from "../../spec/tiers.ts";
import { startPacer } from "./pacer.ts";
import { aKey } from "../testing/values.ts";
import { startRunClock } from "../time/run-clock.ts";
import { WaitRefused } from "../skip-reason.ts";
import { ControlCallFailed } from "../../target/control-calls.ts";

/** Creates a run clock on which time passes only in waits. */
function startSimulatedClock(maxWaitMs = Infinity) {
  let nowMs = 0;
  const timers = {
    now: () => nowMs,
    sleep: (ms: number) => {
      nowMs += ms;
      return Promise.resolve();
    },
  };
  const time = startRunClock({ clock: null, maxWaitMs, signal: new AbortController().signal, timers });
  return { time, pass: (ms: number) => (nowMs += ms) };
}

const sampleWith = (changes: Partial<Sample> = {}): Sample => ({
  id: "x",
  kind: "invoke",
  sentMs: 0,
  headMs: 0,
  endMs: 0,
  sentClockMs: 0,
  headClockMs: 0,
  endClockMs: 0,
  status: 200,
  ...noRateLimitInfo,
  ...changes,
});

const key = aKey({ tier: "free" });

describe("pacing", () => {
  const start = (limits: TierLimits | null, maxWaitMs?: number) => {
    const { time, pass } = startSimulatedClock(maxWaitMs);
    const pacer = startPacer(time, () => limits);
    const send = async (changes: Partial<Sample> = {}): Promise<void> => {
      const done = await pacer.acquire(key);
      pacer.observe(key, sampleWith(changes));
      done();
    };
    return { time, pass, pacer, send };
  };

  it("sends a minute's requests at once, then waits until the first one is a minute old", async () => {
    const { time, pass, send } = start(publishedTiers.free);
    await send();
    pass(20_000);
    for (let sent = 1; sent < 10; sent++) await send();
    expect(time.waitedMs()).toBe(0);
    await send();
    expect(time.waitedMs()).toBe(41_000);
  });

  it("paces a key of unknown tier as a free one", async () => {
    const { time, send } = start(null);
    for (let sent = 0; sent < 11; sent++) await send();
    expect(time.waitedMs()).toBe(61_000);
  });

  it("detects the tier from the headers", async () => {
    const { time, pacer, send } = start(null);
    for (let sent = 0; sent < 60; sent++) await send({ limit: 500, remaining: 499 - sent, resetAfter: 60 });
    expect(pacer.detectedTier(key)).toBe("team");
    expect(time.waitedMs()).toBe(0);
  });

  it.each([
    [10, "free"],
    [1000, "pro"],
    [500, "team"],
    [100, null],
  ])("without Reset-After, detects from the limit %i the tier %s", async (limit, tier) => {
    const { pacer, send } = start(null);
    await send({ limit, remaining: limit - 1, resetAfter: null });
    expect(pacer.detectedTier(key)).toBe(tier);
  });

  it("keeps to the tier that the user told if the headers do not show one", async () => {
    const { time, pacer, send } = start(null);
    pacer.assumeTier(key, "pro");
    for (let sent = 0; sent < 50; sent++) await send({ limit: 100, remaining: 99 - sent, resetAfter: null });
    expect(time.waitedMs()).toBe(0);
  });

  it("does not mistake the last minute of a free hour for the minute of a pro key", async () => {
    const { pacer, send } = start(null);
    await send({ limit: 100, remaining: 80, resetAfter: 60 });
    expect(pacer.detectedTier(key)).toBeNull();
  });

  it("waits for the reset if the headers report no remaining request", async () => {
    const { time, send } = start(publishedTiers.pro);
    await send({ limit: 100, remaining: 0, resetAfter: 30 });
    await send({ limit: 100, remaining: 99, resetAfter: 60 });
    expect(time.waitedMs()).toBe(31_000);
  });

  it("keeps to the minute even if the headers report the hour", async () => {
    const { time, send } = start(publishedTiers.free);
    for (let sent = 0; sent < 11; sent++) await send({ limit: 100, remaining: 99 - sent, resetAfter: 3600 });
    expect(time.waitedMs()).toBe(61_000);
  });

  it("does not count health", async () => {
    const { time, pacer, send } = start(publishedTiers.free);
    for (let sent = 0; sent < 50; sent++) pacer.observe(key, sampleWith({ kind: "health" }));
    await send();
    expect(time.waitedMs()).toBe(0);
  });

  it("refuses a wait above the budget, and continues once requests are available again", async () => {
    const { pass, send } = start(publishedTiers.free, 1000);
    for (let sent = 0; sent < 10; sent++) await send();
    await expect(send()).rejects.toThrow(WaitRefused);
    await expect(send()).rejects.toMatchObject({
      skipReason: {
        reason: {
          why: "too long a wait",
          for: "the 10 requests a minute of the key `key` are used up",
          ms: 61_000,
          leftMs: 1000,
        },
        needs: { need: "maxWaitMs" },
      },
    });
    pass(61_000);
    await send();
  });

  it("uses half of a key's slots, and at least one", async () => {
    for (const [limits, atOnce] of [
      [publishedTiers.free, 1],
      [publishedTiers.pro, 5],
      [publishedTiers.team, 8],
    ] as const) {
      const { pacer } = start(limits);
      const releases: (() => void)[] = [];
      const acquire = async (): Promise<void> => void releases.push(await pacer.acquire(key));
      for (let count = 0; count < 30; count++) void acquire();
      await new Promise(setImmediate);
      expect(releases.length).toBe(atOnce);
      releases[0]?.();
      await new Promise(setImmediate);
      expect(releases.length).toBe(atOnce + 1);
    }
  });
});

describe("the clock of a run", () => {
  it("counts overlapping waits once", async () => {
    const timers = { now: () => 0, sleep: () => Promise.resolve() };
    const time = startRunClock({ clock: null, maxWaitMs: 6000, signal: new AbortController().signal, timers });
    await Promise.all([time.passTime(5000, "one"), time.passTime(3000, "another")]);
    expect(time.waitedMs()).toBe(5000);
  });

  it("advances the target's clock instead of waiting", async () => {
    const advances: number[] = [];
    const clock = { advance: (ms: number) => Promise.resolve(void advances.push(ms)), settleMs: 0, agentsFollow: true };
    const time = startRunClock({ clock, maxWaitMs: 0, signal: new AbortController().signal });
    await Promise.all([time.passTime(5000, "one"), time.passTime(7000, "another")]);
    expect([advances, time.clockOffsetMs(), time.waitedMs()]).toEqual([[5000, 7000], 12_000, 0]);
  });

  type Answer = "carried out" | "connection refused" | 403 | 502;
  /** Starts a run's clock whose advances get these answers, and are carried out afterwards. Time passes only in sleeps. */
  const startWithAnswers = (...answers: readonly Answer[]) => {
    let [nowMs, calls] = [0, 0];
    const advance = async (): Promise<void> => {
      await Promise.resolve();
      const answer = answers[calls++] ?? "carried out";
      if (answer === "carried out") return;
      if (answer !== "connection refused")
        throw new ControlCallFailed(`answered ${answer}`, { isTemporary: answer === 502, status: answer });
      const cause = Object.assign(new Error("refused"), { code: "ECONNREFUSED" });
      throw new ControlCallFailed("got no response", { isTemporary: true, cause });
    };
    const sleep = async (ms: number): Promise<void> => {
      await Promise.resolve();
      nowMs += ms;
    };
    const timers = { now: () => nowMs, sleep };
    const clock = { advance, settleMs: 0, agentsFollow: true };
    const time = startRunClock({ clock, maxWaitMs: 0, signal: new AbortController().signal, timers });
    return { time, calls: () => calls };
  };
  const away = Array.from({ length: 20 }, () => "connection refused" as const);

  it.each<[string, readonly Answer[], readonly number[], object]>([
    ["a short advance gets a 502", [502], [500], { passed: 1, min: 500, max: 1000, calls: 2, isKnown: true }],
    ["two short advances get a 502", [502, 502], [500], { passed: 1, min: 500, max: 1500, calls: 3, isKnown: true }],
    [
      "three short advances get a 502",
      [502, 502, 502],
      [500, 1],
      { passed: 0, min: 0, max: 1500, calls: 3, isKnown: false },
    ],
    ["a long advance gets a 502", [502], [60_000, 1], { passed: 0, min: 0, max: 60_000, calls: 1, isKnown: false }],
    [
      "the target is away for a while",
      away.slice(0, 5),
      [60_000],
      { passed: 1, min: 60_000, max: 60_000, calls: 6, isKnown: true },
    ],
    [
      "the target is away for 8 s",
      away.slice(0, 9),
      [60_000, 1],
      { passed: 0, min: 0, max: 0, calls: 9, isKnown: true },
    ],
    ["an advance is refused", [403], [60_000, 1], { passed: 1, min: 1, max: 1, calls: 2, isKnown: true }],
  ])("knows how far the target's clock may have moved if %s", async (_, answers, advancesMs, expected) => {
    const { time, calls } = startWithAnswers(...answers);
    const ended = await Promise.allSettled(advancesMs.map((ms) => time.passTime(ms, "a window passes")));
    expect({
      passed: ended.filter(({ status }) => status === "fulfilled").length,
      min: time.clockOffsetMs(),
      max: time.maxClockOffsetMs(),
      calls: calls(),
      isKnown: time.clockProblem()?.includes("time is unknown") !== true,
    }).toEqual(expected);
  });

  it("says why it advances the target's clock no more", async () => {
    const { time } = startWithAnswers(502);
    const reason = "the target's time is unknown, so the run advanced its clock no more: answered 502";
    for (const ms of [60_000, 1])
      await expect(time.passTime(ms, "a window passes")).rejects.toMatchObject({ skipReason: { reason, needs: null } });
    expect(time.clockProblem()).toBe(reason);
  });

  it("refuses a wait that a broken target clock cannot serve", async () => {
    const clock = {
      advance: () => Promise.reject(new Error("the target's clock did not advance")),
      settleMs: 0,
      agentsFollow: true,
    };
    const time = startRunClock({ clock, maxWaitMs: 0, signal: new AbortController().signal });
    await expect(time.passTime(1000, "a window passes")).rejects.toSatisfy(
      (error) => error instanceof WaitRefused && error.skipReason.needs === null,
    );
  });

  it("advances the clock in steps until the promise settles", async () => {
    let clockMs = 0;
    const arrived = Promise.withResolvers<string>();
    const advance = (ms: number): Promise<void> => {
      clockMs += ms;
      if (clockMs >= 1500) arrived.resolve("there");
      return Promise.resolve();
    };
    const time = startRunClock({
      clock: { advance, settleMs: 0, agentsFollow: true },
      maxWaitMs: 0,
      signal: new AbortController().signal,
    });
    expect(await time.passUntil(arrived.promise, 60_000)).toBe("there");
    expect(clockMs).toBe(1500);
  });

  it("stops waiting when the run is interrupted", async () => {
    const controller = new AbortController();
    const time = startRunClock({ clock: null, maxWaitMs: 100_000, signal: controller.signal });
    const waiting = time.passTime(60_000, "a window passes");
    controller.abort();
    await expect(waiting).rejects.toThrow(/abort/i);
  });
});
