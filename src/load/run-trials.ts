import { userAgent } from "../base/package-root.ts";
import { setTimeout as sleep } from "node:timers/promises";

import { traceOf } from "../base/errors.ts";
import { assertOpenFiles, HarnessLimitError, harnessLimitOf } from "../base/harness-limit.ts";
import { isAboutCounts } from "../run/disturbances/disturbance.ts";
import { describeSkip, type Messages, need, type SkipReason, type SkipText } from "../run/skip-reason.ts";
import { type Engine, type EngineOptions, EngineProblem, type LoadProgress, unsupportedReason } from "./engine.ts";
import { type Instrumentation, runInstrumented } from "./instrumented-run.ts";
import type { LoadFinding } from "./judge/finding.ts";
import { judgeLoad } from "./judge/judge.ts";
import { type Validity, validityOf } from "./judge/validity.ts";
import type { LoadEvidence } from "../evidence/load-evidence.ts";
import type { EngineName, KeyRole } from "./scenarios.ts";
import type { LoadOutage } from "./judge/target-loss.ts";
import {
  acceptsConnectionTo,
  startStallTimeout,
  startTargetWatch,
  TargetDied,
  type TargetWatch,
} from "./target-watch.ts";
import type { LoadTrial } from "./trials.ts";

type EngineTarget = Pick<
  EngineOptions,
  "baseUrl" | "keys" | "tier" | "limits" | "isFresh" | "agents" | "roleRequests" | "speed" | "network"
>;

export interface TrialObservations {
  readonly wasAway: boolean;
  readonly limitsBroken: () => boolean;
}

export interface TrialSetup {
  readonly target: EngineTarget;
  readonly instrumentation: Instrumentation;
  /** Finds disturbances that are not the target's fault, such as other traffic on the key. */
  readonly disturbance: (observations: TrialObservations) => Promise<Pick<LoadEvidence, "disturbance" | "clockLagMs">>;
  readonly tearDown: () => Promise<void>;
}

export interface LoadEnvironment {
  readonly skipReason: (trial: LoadTrial) => SkipReason | null;
  /** Real milliseconds to wait before a trial, so that the keys' limits per minute no longer count earlier requests. */
  readonly cooldownMs: (trial: LoadTrial) => number;
  readonly setUp: (trial: LoadTrial) => Promise<TrialSetup>;
  /** The target to watch during the cooldown; `null` if each trial starts a server of its own. */
  readonly target: Pick<EngineTarget, "baseUrl" | "network"> | null;
}

export type TrialResult =
  | {
      readonly kind: "judged";
      readonly trial: LoadTrial;
      readonly evidence: LoadEvidence;
      readonly findings: readonly LoadFinding[];
      readonly validity: Validity;
    }
  | ({ readonly kind: "skipped"; readonly trial: LoadTrial } & SkipText)
  /** The harness itself failed, so the trial has no verdict. */
  | {
      readonly kind: "broken";
      readonly trial: LoadTrial;
      readonly error: string;
      readonly evidence: LoadEvidence | null;
    };

export interface RunTrialsOptions {
  readonly trials: readonly LoadTrial[];
  readonly started: Date;
  readonly environment: LoadEnvironment;
  readonly engines: Readonly<Record<EngineName, Engine>>;
  readonly missingEngine: (engine: EngineName) => SkipReason | null;
  readonly segments: number;
  readonly dashboardOf: (trial: LoadTrial) => string | null;
  readonly knownRequestCount: (trial: LoadTrial) => number | null;
  readonly maxRequests: number;
  /** Number of connections of the largest trial. If the process cannot open as many sockets, no trial starts. */
  readonly maxConnections: number;
  readonly messages: Messages;
  readonly signal: AbortSignal;
  readonly onTrial: (trial: LoadTrial, at: number) => void;
  readonly onWait: (ms: number, why: string) => void;
  readonly onProgress: (progress: LoadProgress) => void;
  readonly onResult: (result: TrialResult) => void;
  /** Called at the end, with the reason, if the target died. The remaining trials have then been skipped. */
  readonly onDeath: (reason: string) => void;
  readonly acceptsConnectionTo?: typeof acceptsConnectionTo;
}

/** Sends and judges the trials one by one. Skips the rest if `signal` aborts, the target dies or resources run out. */
export async function runTrials(options: RunTrialsOptions): Promise<TrialResult[]> {
  const results: TrialResult[] = [];
  const stop = new AbortController();
  const stoppable: StoppableOptions = { ...options, stop, signal: AbortSignal.any([options.signal, stop.signal]) };
  let requestsLeft = options.maxRequests;
  for (const [at, trial] of options.trials.entries()) {
    const result = await runTrial(trial, at, requestsLeft, stoppable);
    if (result.kind !== "skipped") requestsLeft -= result.evidence?.generator.sent ?? 0;
    results.push(result);
    options.onResult(result);
  }
  if (stop.signal.reason instanceof TargetDied) options.onDeath(stop.signal.reason.message);
  return results;
}

interface StoppableOptions extends RunTrialsOptions {
  /** Aborted with a {@link TargetDied} or a {@link HarnessLimitError}, to skip the remaining trials. */
  readonly stop: AbortController;
}

async function runTrial(
  trial: LoadTrial,
  at: number,
  requestsLeft: number,
  options: StoppableOptions,
): Promise<TrialResult> {
  const { signal, messages } = options;
  const skipped = (skip: SkipReason): TrialResult => ({ kind: "skipped", trial, ...describeSkip(skip, messages) });
  const skip = signal.aborted ? stopOf(signal) : skipReasonOf(trial, requestsLeft, options);
  if (skip !== null) return skipped(skip);
  options.onTrial(trial, at);
  try {
    assertOpenFiles(options.maxConnections);
    await coolDown(trial, options);
    if (signal.aborted) return skipped(stopOf(signal));
    return judgeTrial(trial, await sendTrial(trial, options));
  } catch (error) {
    if (signal.reason instanceof TargetDied) return skipped(stopOf(signal));
    const limit = harnessLimitOf(error);
    if (limit !== null) {
      options.stop.abort(limit);
      return { kind: "broken", trial, error: limit.message, evidence: null };
    }
    if (error instanceof TargetDied) {
      options.stop.abort(error);
      return skipped(stopOf(signal));
    }
    if (error instanceof EngineProblem) return skipped({ reason: error.message, needs: null });
    return { kind: "broken", trial, error: traceOf(error), evidence: null };
  }
}

export function judgeTrial(trial: LoadTrial, evidence: LoadEvidence): TrialResult {
  try {
    const findings = judgeLoad(evidence, trial.scenario);
    return { kind: "judged", trial, evidence, findings, validity: validityOf(evidence) };
  } catch (error) {
    return { kind: "broken", trial, error: traceOf(error), evidence };
  }
}

const hasBrokenLimits = (result: TrialResult): boolean =>
  result.kind === "judged" &&
  result.findings.some(({ kind, clause }) => kind === "breach" && clause !== null && isAboutCounts(clause));

const stopOf = ({ reason }: AbortSignal): SkipReason => ({
  reason:
    reason instanceof TargetDied || reason instanceof HarnessLimitError
      ? reason.message
      : "the run was stopped before it",
  needs: null,
});

function skipReasonOf(
  trial: LoadTrial,
  left: number,
  { environment, missingEngine, knownRequestCount, maxRequests }: RunTrialsOptions,
): SkipReason | null {
  const known = missingEngine(trial.engine) ?? environment.skipReason(trial);
  if (known !== null || !Number.isFinite(maxRequests)) return known;
  const requestCount = knownRequestCount(trial);
  if (requestCount === null) return { reason: { why: "requests without a bound" }, needs: need("unbounded requests") };
  return requestCount <= left
    ? null
    : { reason: { why: "too many requests", requests: requestCount, left }, needs: need("maxRequests") };
}

async function coolDown(trial: LoadTrial, options: StoppableOptions): Promise<void> {
  const { environment, onWait } = options;
  const ms = environment.cooldownMs(trial);
  if (ms <= 0) return;
  onWait(ms, "the key's minute has to pass first");
  const pause = (signal: AbortSignal): Promise<void> =>
    sleep(ms, undefined, { signal }).catch((error: unknown) => {
      if (!signal.aborted) throw error;
    });
  if (environment.target === null) await pause(options.signal);
  else await runWatched(environment.target, options, ({ signal }) => pause(signal));
}

async function sendTrial(trial: LoadTrial, options: StoppableOptions): Promise<LoadEvidence> {
  const { scenario, engine } = trial;
  const setup = await options.environment.setUp(trial);
  try {
    const reason = unsupportedReason(engine, scenario.flows(setup.target.limits));
    if (reason !== null) throw new EngineProblem(reason);
    const { result, outage } = await runWatched(setup.target, options, (watch) => {
      const { signal, observe } = startStallTimeout(watch.signal);
      const engineOptions: EngineOptions = {
        ...setup.target,
        segments: options.segments,
        signal,
        onProgress: (progress) => {
          watch.observe(progress);
          observe(progress);
          options.onProgress(progress);
        },
        dashboardFile: options.dashboardOf(trial),
        userAgent: userAgent(options.started),
      };
      return runInstrumented(options.engines[engine], scenario, engineOptions, setup.instrumentation);
    });
    const evidence = { ...result, ...(outage !== null && { outage }) };
    const limitsBroken = (): boolean => hasBrokenLimits(judgeTrial(trial, evidence));
    return { ...evidence, ...(await setup.disturbance({ wasAway: outage !== null, limitsBroken })) };
  } finally {
    await setup.tearDown();
  }
}

async function runWatched<T>(
  target: Pick<EngineTarget, "baseUrl" | "network">,
  options: StoppableOptions,
  act: (watch: TargetWatch) => Promise<T>,
): Promise<{ readonly result: T; readonly outage: LoadOutage | null }> {
  const connect = (options.acceptsConnectionTo ?? acceptsConnectionTo)(target);
  const watch = startTargetWatch({ signal: options.signal, connect });
  const [acted] = await Promise.allSettled([act(watch)]);
  const outage = await watch.end();
  if (watch.signal.reason instanceof TargetDied) options.stop.abort(watch.signal.reason);
  if (acted.status === "rejected") throw acted.reason;
  return { result: acted.value, outage };
}

/** Texts for the report: what the user must provide for each need of a scenario. */
const requirements = {
  "agents.slow": "`agents.slow` in the target file",
  "agents.slowStreaming": "`agents.slowStreaming` in the target file",
  "agents.failing": "`agents.failing` in the target file",
  "keys.second": "a second key of the same tier in the target file",
  receiver: need("receiver"),
} as const;

const agentOfNeed = {
  "agents.slow": "slow",
  "agents.slowStreaming": "slowStreaming",
  "agents.failing": "failing",
} as const;

export function missingRequirement(
  { scenario, tier }: LoadTrial,
  has: {
    readonly agents: EngineOptions["agents"];
    readonly keys: Readonly<Record<KeyRole, unknown>>;
    readonly hasReceiver: boolean;
  },
): SkipReason | null {
  if (has.keys.main === null)
    return { reason: `there is no key of the ${tier} tier`, needs: `a ${tier} key in the target file` };
  const missing = scenario.needs.find((each) => {
    if (each === "keys.second") return has.keys.second === null;
    return each === "receiver" ? !has.hasReceiver : has.agents[agentOfNeed[each]] === null;
  });
  if (missing !== undefined) return { reason: "the target lacks what it needs", needs: requirements[missing] };
  return has.agents.answering === null ? { reason: "no agent that answers is known", needs: need("agent") } : null;
}
