import { describe, expect, it, vi } from "vitest";

import { scenarioNamed } from "./scenarios.ts";
import { plainNetwork } from "../base/network/network.ts";
import { publishedTiers } from "../spec/tiers.ts";
import {
  runTrials,
  type RunTrialsOptions,
  type LoadEnvironment,
  missingRequirement,
  type TrialResult,
  type TrialSetup,
} from "./run-trials.ts";
import { stopReason, TargetDied } from "./target-watch.ts";
import type { LoadTrial } from "./trials.ts";
import { type Engine, EngineProblem } from "./engine.ts";
import { evidenceOf, sample } from "./testing/samples.ts";
import { cliMessages } from "../cli/messages.ts";

const trial = (name: string): LoadTrial => {
  const scenario = scenarioNamed(name);
  if (scenario === undefined) throw new Error(`no scenario ${name}`);
  return { scenario, tier: "free", engine: "autocannon" };
};

const agents = { answering: "echo", streaming: "echo", slow: "sleeper", slowStreaming: "dripper", failing: "crasher" };
const stage: TrialSetup = {
  target: {
    baseUrl: "http://127.0.0.1:9/v1",
    keys: { main: "one", second: "two" },
    tier: "free",
    limits: publishedTiers.free,
    isFresh: true,
    agents,
    roleRequests: {},
    speed: 1,
    network: plainNetwork,
  },
  instrumentation: { receiver: null, rssBytes: null, deliveryTimeoutMs: 0 },
  disturbance: async () => ({}),
  tearDown: async () => {},
};
const ground: LoadEnvironment = { skipReason: () => null, cooldownMs: () => 0, setUp: async () => stage, target: null };
const answering: Engine = async ({ name }) => evidenceOf([sample(), sample({ sentMs: 1010 })], { scenario: name });

const conduct = (trials: readonly LoadTrial[], options: Partial<RunTrialsOptions> = {}): Promise<TrialResult[]> =>
  runTrials({
    trials,
    started: new Date(0),
    environment: ground,
    engines: { autocannon: answering, k6: answering },
    missingEngine: () => null,
    segments: 1,
    dashboardOf: () => null,
    knownRequestCount: () => 2,
    maxRequests: Number.POSITIVE_INFINITY,
    messages: cliMessages,
    signal: new AbortController().signal,
    onTrial: () => {},
    onWait: () => {},
    onProgress: () => {},
    onResult: () => {},
    maxConnections: 0,
    onDeath: () => {},
    acceptsConnectionTo: () => async () => true,
    ...options,
  });

const kindsOf = (outcomes: readonly TrialResult[]): string[] => outcomes.map(({ kind }) => kind);
const reasonOf = (outcome: TrialResult | undefined): string => (outcome?.kind === "skipped" ? outcome.reason : "");

describe("running trials", () => {
  it("judges each trial and tears down its setup", async () => {
    let ended = 0;
    const counting: LoadEnvironment = {
      ...ground,
      setUp: async () => ({ ...stage, tearDown: async () => void (ended += 1) }),
    };
    const told: TrialResult[] = [];
    const outcomes = await conduct([trial("burst"), trial("minute-limit")], {
      environment: counting,
      onResult: (outcome) => told.push(outcome),
    });
    expect(kindsOf(outcomes)).toEqual(["judged", "judged"]);
    expect(told).toEqual(outcomes);
    expect(ended).toBe(2);
  });

  it("gives no verdict on a trial that something else disturbed", async () => {
    const disturbance = "another run used the same keys";
    const disturbed: LoadEnvironment = {
      ...ground,
      setUp: async () => ({ ...stage, disturbance: async () => ({ disturbance }) }),
    };
    const [outcome] = await conduct([trial("burst")], { environment: disturbed });
    expect(outcome).toMatchObject({ kind: "judged", evidence: { disturbance }, validity: { invalid: disturbance } });
    const kinds = outcome?.kind === "judged" ? outcome.findings.map(({ kind }) => kind) : [];
    expect(new Set(kinds)).toEqual(new Set(["unproven"]));
  });

  it("skips a trial that the engine cannot send, with its message, and continues", async () => {
    const refusing: Engine = async () => {
      throw new EngineProblem("the target does not answer");
    };
    const outcomes = await conduct([trial("burst"), { ...trial("burst"), engine: "k6" }], {
      engines: { autocannon: refusing, k6: answering },
    });
    expect(kindsOf(outcomes)).toEqual(["skipped", "judged"]);
    expect(reasonOf(outcomes[0])).toBe("the target does not answer");
  });

  it("reports any other error as one of the harness", async () => {
    const failing: Engine = async () => {
      throw new TypeError("undefined is no function");
    };
    const outcomes = await conduct([trial("burst")], { engines: { autocannon: failing, k6: failing } });
    expect(outcomes[0]).toMatchObject({ kind: "broken", error: expect.stringContaining("undefined is no function") });
  });

  it("skips trials with a missing requirement, without sending", async () => {
    const missing = { reason: "there is no k6", needs: "install it" };
    const outcomes = await conduct([trial("burst")], { missingEngine: () => missing });
    expect(outcomes).toEqual([{ kind: "skipped", trial: trial("burst"), ...missing }]);
  });

  it("skips trials that exceed --max-requests, or might", async () => {
    const trials = [trial("burst"), trial("minute-limit"), trial("concurrency")];
    const bounds = new Map<string, number | null>([
      ["burst", 2],
      ["minute-limit", 3],
      ["concurrency", null],
    ]);
    const outcomes = await conduct(trials, {
      maxRequests: 4,
      knownRequestCount: ({ scenario }) => bounds.get(scenario.name) ?? null,
    });
    expect(kindsOf(outcomes)).toEqual(["judged", "skipped", "skipped"]);
    expect(reasonOf(outcomes[1])).toBe("it sends 3 requests, and --max-requests leaves 2");
    expect(reasonOf(outcomes[2])).toMatch(/cannot limit it/);
  });

  it("starts no further trial after a stop, and ends the cooldown", async () => {
    const stopping = new AbortController();
    const waits: number[] = [];
    const outcomes = await conduct([trial("burst"), trial("minute-limit")], {
      environment: { ...ground, cooldownMs: ({ scenario }) => (scenario.name === "burst" ? 0 : 3_600_000) },
      signal: stopping.signal,
      onWait: (ms) => {
        waits.push(ms);
        stopping.abort();
      },
    });
    expect(waits).toEqual([3_600_000]);
    expect(kindsOf(outcomes)).toEqual(["judged", "skipped"]);
    expect(reasonOf(outcomes[1])).toBe("the run was stopped before it");
  });
});

describe("the missing requirement of a trial", () => {
  const all = { agents, keys: { main: "one", second: "two" }, hasReceiver: true };
  it.each([
    ["concurrency", "a slow agent", { ...all, agents: { ...agents, slow: null } }, "`agents.slow` in the target file"],
    [
      "burst",
      "a second key",
      { ...all, keys: { ...all.keys, second: null } },
      "a second key of the same tier in the target file",
    ],
    ["webhook-storm", "a receiver", { ...all, hasReceiver: false }, { need: "receiver" }],
    ["minute-limit", "a key", { ...all, keys: { main: null, second: null } }, "a free key in the target file"],
    ["minute-limit", "an agent that answers", { ...all, agents: { ...agents, answering: null } }, { need: "agent" }],
  ])("%s: %s", (name, _lacking, has, needs) => {
    expect(missingRequirement(trial(name), has)?.needs).toEqual(needs);
  });

  it("is null if the target meets all requirements", () => {
    expect(missingRequirement(trial("slots-back"), all)).toBeNull();
  });
});

describe("a target that dies", () => {
  const refuses = () => async () => false;

  it("ends the load, keeps the evidence so far, and says when the target died", async () => {
    const untilStopped: Engine = async ({ name }, { signal, onProgress }) => {
      onProgress({ elapsedMs: 0, expectedMs: 60_000, sent: 1, admitted: 0, refused: 0, failed: 1 });
      await new Promise((resolve) => signal.addEventListener("abort", resolve, { once: true }));
      return evidenceOf([sample()], { scenario: name, stopped: stopReason(signal) });
    };
    const deaths: string[] = [];
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "performance"] });
    const running = conduct([trial("burst"), trial("minute-limit")], {
      engines: { autocannon: untilStopped, k6: untilStopped },
      acceptsConnectionTo: refuses,
      onDeath: (reason) => deaths.push(reason),
    });
    await vi.advanceTimersByTimeAsync(15_000);
    const outcomes = await running;
    vi.useRealTimers();
    const reason = expect.stringMatching(/^the target died: it has accepted no connection since/);
    expect(deaths).toEqual([reason]);
    expect(outcomes).toMatchObject([
      { kind: "judged", evidence: { stopped: reason, outage: { backMs: null } } },
      { kind: "skipped", reason },
    ]);
  });

  it("ends the load if the test clock cannot be moved: that is no failure of the harness", async () => {
    const deaths: string[] = [];
    const error = new TargetDied("the clock did not advance: answered 503");
    const outcomes = await conduct([trial("burst"), trial("minute-limit")], {
      environment: { ...ground, setUp: () => Promise.reject(error) },
      onDeath: (reason) => deaths.push(reason),
    });
    expect(kindsOf(outcomes)).toEqual(["skipped", "skipped"]);
    expect([...outcomes.map(reasonOf), ...deaths]).toEqual(Array.from({ length: 3 }, () => error.message));
  });

  it("ends a pause between two trials", async () => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "performance"] });
    const pausing: LoadEnvironment = { ...ground, target: stage.target, cooldownMs: () => 0.5 };
    const running = conduct([trial("burst")], { environment: pausing, acceptsConnectionTo: refuses });
    await vi.advanceTimersByTimeAsync(15_000);
    const outcomes = await running;
    vi.useRealTimers();
    expect(kindsOf(outcomes)).toEqual(["skipped"]);
    expect(reasonOf(outcomes[0])).toMatch(/^the target died/);
  });
});
