import { setTimeout as sleep } from "node:timers/promises";

import { traceOf } from "../base/errors.ts";
import { type SkipReason, need, type SkipText, describeSkip, type Messages } from "../run/skip-reason.ts";
import type { EngineName, KeyRole } from "./scenarios.ts";
import { type Engine, EngineProblem, type EngineOptions, type LoadProgress, unsupportedReason } from "./engine.ts";
import type { LoadTrial } from "./trials.ts";
import { judgeLoad } from "./judge/judge.ts";
import type { LoadFinding } from "./judge/finding.ts";
import { type Validity, validityOf } from "./judge/validity.ts";
import type { LoadEvidence } from "./load-evidence.ts";
import { startStallTimeout } from "./stall-timeout.ts";
import { runInstrumented, type Instrumentation } from "./instrumented-run.ts";

/** What the engine is told of a target for one trial. */
export type EngineTarget = Pick<
  EngineOptions,
  "baseUrl" | "keys" | "tier" | "limits" | "isFresh" | "agents" | "roleRequests" | "speed" | "network"
>;

/** A target, ready for one trial. */
export interface TrialSetup {
  readonly target: EngineTarget;
  readonly instrumentation: Instrumentation;
  /** Ends what was started for this trial alone. */
  readonly tearDown: () => Promise<void>;
}

/** What load is sent to: the embedded server, or a target of somebody's. */
export interface LoadEnvironment {
  /** `null` where the trial can be sent. */
  readonly skipReason: (trial: LoadTrial) => SkipReason | null;
  /** Real time that the keys of a trial must rest before it, in milliseconds: what was sent on them last has used up their minute. */
  readonly cooldownMs: (trial: LoadTrial) => number;
  readonly setUp: (trial: LoadTrial) => Promise<TrialSetup>;
}

/** What became of a trial. */
export type TrialResult =
  | {
      readonly kind: "judged";
      readonly trial: LoadTrial;
      readonly evidence: LoadEvidence;
      readonly findings: readonly LoadFinding[];
      readonly validity: Validity;
    }
  | ({ readonly kind: "skipped"; readonly trial: LoadTrial } & SkipText)
  /** The harness itself failed; never the target's fault. */
  | {
      readonly kind: "broken";
      readonly trial: LoadTrial;
      readonly error: string;
      readonly evidence: LoadEvidence | null;
    };

export interface RunTrialsOptions {
  readonly trials: readonly LoadTrial[];
  readonly environment: LoadEnvironment;
  readonly engines: Readonly<Record<EngineName, Engine>>;
  /** Why an engine is not here; `null` where it is. */
  readonly missingEngine: (engine: EngineName) => SkipReason | null;
  readonly segments: number;
  /** File for k6's own page of a trial; `null` for none. */
  readonly dashboardOf: (trial: LoadTrial) => string | null;
  /** Requests that the trial sends for sure; `null` where answers decide. Trials beyond the rest of `maxRequests` are skipped. */
  readonly knownRequestCount: (trial: LoadTrial) => number | null;
  readonly maxRequests: number;
  /** In which is said why a trial was not sent. */
  readonly messages: Messages;
  /** Stops the trial that runs, and starts no other one. */
  readonly signal: AbortSignal;
  readonly onTrial: (trial: LoadTrial, at: number) => void;
  readonly onWait: (ms: number, why: string) => void;
  readonly onProgress: (progress: LoadProgress) => void;
  readonly onResult: (outcome: TrialResult) => void;
}

/** Sends one trial after another and judges each. What was not reached when the signal came is skipped, and says so. */
export async function runTrials(options: RunTrialsOptions): Promise<TrialResult[]> {
  const outcomes: TrialResult[] = [];
  let left = options.maxRequests;
  for (const [at, trial] of options.trials.entries()) {
    const outcome = await outcomeOf(trial, at, left, options);
    if (outcome.kind !== "skipped") left -= outcome.evidence?.generator.sent ?? 0;
    outcomes.push(outcome);
    options.onResult(outcome);
  }
  return outcomes;
}

async function outcomeOf(trial: LoadTrial, at: number, left: number, options: RunTrialsOptions): Promise<TrialResult> {
  const lack = options.signal.aborted ? stoppedEarly : lackOf(trial, left, options);
  if (lack !== null) return { kind: "skipped", trial, ...describeSkip(lack, options.messages) };
  options.onTrial(trial, at);
  try {
    await rest(trial, options);
    if (options.signal.aborted) return { kind: "skipped", trial, ...describeSkip(stoppedEarly, options.messages) };
    return judgeTrial(trial, await sent(trial, options));
  } catch (error) {
    if (error instanceof EngineProblem) return { kind: "skipped", trial, reason: error.message, needs: null };
    return { kind: "broken", trial, error: traceOf(error), evidence: null };
  }
}

/** The outcome that evidence gives, fresh or kept: pure. */
export function judgeTrial(trial: LoadTrial, evidence: LoadEvidence): TrialResult {
  try {
    const findings = judgeLoad(evidence, trial.scenario);
    return { kind: "judged", trial, evidence, findings, validity: validityOf(evidence) };
  } catch (error) {
    return { kind: "broken", trial, error: traceOf(error), evidence };
  }
}

const stoppedEarly: SkipReason = { reason: "the run was stopped before it", needs: null };

function lackOf(
  trial: LoadTrial,
  left: number,
  { environment, missingEngine, knownRequestCount, maxRequests }: RunTrialsOptions,
): SkipReason | null {
  const known = missingEngine(trial.engine) ?? environment.skipReason(trial);
  if (known !== null || !Number.isFinite(maxRequests)) return known;
  const requests = knownRequestCount(trial);
  if (requests === null) return { reason: { why: "requests without a bound" }, needs: need("unbounded requests") };
  return requests <= left ? null : { reason: { why: "too many requests", requests, left }, needs: need("maxRequests") };
}

async function rest(trial: LoadTrial, { environment, signal, onWait }: RunTrialsOptions): Promise<void> {
  const ms = environment.cooldownMs(trial);
  if (ms <= 0) return;
  onWait(ms, "the key's minute has to pass first");
  await sleep(ms, undefined, { signal }).catch((error: unknown) => {
    if (!signal.aborted) throw error;
  });
}

async function sent(trial: LoadTrial, options: RunTrialsOptions): Promise<LoadEvidence> {
  const { scenario, engine } = trial;
  const stage = await options.environment.setUp(trial);
  try {
    const reason = unsupportedReason(engine, scenario.flows(stage.target.limits));
    if (reason !== null) throw new EngineProblem(reason);
    const { signal, observe } = startStallTimeout(options.signal);
    const parts: EngineOptions = {
      ...stage.target,
      segments: options.segments,
      signal,
      onProgress: (progress) => {
        observe(progress);
        options.onProgress(progress);
      },
      dashboardFile: options.dashboardOf(trial),
    };
    return await runInstrumented(options.engines[engine], scenario, parts, stage.instrumentation);
  } finally {
    await stage.tearDown();
  }
}

/** What a need is called in a target file. */
const needNames = {
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

/** What a scenario needs of a target and does not find there. */
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
  if (missing !== undefined) return { reason: "the target lacks what it needs", needs: needNames[missing] };
  return has.agents.answering === null ? { reason: "no agent that answers is known", needs: need("agent") } : null;
}
