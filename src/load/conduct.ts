import { setTimeout as sleep } from "node:timers/promises";

import { traceOf } from "../base/errors.ts";
import { type Lack, need, type SaidLack, saidLack, type Wording } from "../run/lack.ts";
import type { EngineName, KeyRole } from "../../scenarios/scenario.ts";
import { type Engine, EngineProblem, type EngineParts, type LoadProgress, whyNot } from "./engine.ts";
import type { LoadTrial } from "./conduct-trials.ts";
import { judgeLoad } from "./judging/judge.ts";
import type { LoadFinding } from "./judging/finding.ts";
import { type Validity, validityOf } from "./judging/validity.ts";
import type { LoadEvidence } from "./load-evidence.ts";
import { openPatience } from "./patience.ts";
import { runSurrounded, type Surroundings } from "./surroundings.ts";

/** What the engine is told of a target for one trial. */
export type StageParts = Pick<
  EngineParts,
  "baseUrl" | "keys" | "tier" | "limits" | "isFresh" | "agents" | "players" | "speed" | "network"
>;

/** A target, ready for one trial. */
export interface Stage {
  readonly parts: StageParts;
  readonly surroundings: Surroundings;
  /** Ends what was started for this trial alone. */
  readonly end: () => Promise<void>;
}

/** What load is sent to: the embedded server, or a target of somebody's. */
export interface Ground {
  /** `null` where the trial can be sent. */
  readonly lack: (trial: LoadTrial) => Lack | null;
  /** Real time that the keys of a trial must rest before it, in milliseconds: what was sent on them last has used up their minute. */
  readonly restMs: (trial: LoadTrial) => number;
  readonly open: (trial: LoadTrial) => Promise<Stage>;
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
  | ({ readonly kind: "skipped"; readonly trial: LoadTrial } & SaidLack)
  /** The harness itself failed; never the target's fault. */
  | {
      readonly kind: "broken";
      readonly trial: LoadTrial;
      readonly error: string;
      readonly evidence: LoadEvidence | null;
    };

export interface ConductOptions {
  readonly trials: readonly LoadTrial[];
  readonly ground: Ground;
  readonly engines: Readonly<Record<EngineName, Engine>>;
  /** Why an engine is not here; `null` where it is. */
  readonly missing: (engine: EngineName) => Lack | null;
  readonly segments: number;
  /** File for k6's own page of a trial; `null` for none. */
  readonly dashboardOf: (trial: LoadTrial) => string | null;
  /** Requests that the trial sends for sure; `null` where answers decide. Trials beyond the rest of `maxRequests` are skipped. */
  readonly requestsOf: (trial: LoadTrial) => number | null;
  readonly maxRequests: number;
  /** In which is said why a trial was not sent. */
  readonly wording: Wording;
  /** Stops the trial that runs, and starts no other one. */
  readonly signal: AbortSignal;
  readonly onTrial: (trial: LoadTrial, at: number) => void;
  readonly onWait: (ms: number, why: string) => void;
  readonly onProgress: (progress: LoadProgress) => void;
  readonly onOutcome: (outcome: TrialResult) => void;
}

/** Sends one trial after another and judges each. What was not reached when the signal came is skipped, and says so. */
export async function conductLoad(options: ConductOptions): Promise<TrialResult[]> {
  const outcomes: TrialResult[] = [];
  let left = options.maxRequests;
  for (const [at, trial] of options.trials.entries()) {
    const outcome = await outcomeOf(trial, at, left, options);
    if (outcome.kind !== "skipped") left -= outcome.evidence?.generator.sent ?? 0;
    outcomes.push(outcome);
    options.onOutcome(outcome);
  }
  return outcomes;
}

async function outcomeOf(trial: LoadTrial, at: number, left: number, options: ConductOptions): Promise<TrialResult> {
  const lack = options.signal.aborted ? stoppedEarly : lackOf(trial, left, options);
  if (lack !== null) return { kind: "skipped", trial, ...saidLack(lack, options.wording) };
  options.onTrial(trial, at);
  try {
    await rest(trial, options);
    if (options.signal.aborted) return { kind: "skipped", trial, ...saidLack(stoppedEarly, options.wording) };
    return judged(trial, await sent(trial, options));
  } catch (error) {
    if (error instanceof EngineProblem) return { kind: "skipped", trial, reason: error.message, needs: null };
    return { kind: "broken", trial, error: traceOf(error), evidence: null };
  }
}

/** The outcome that evidence gives, fresh or kept: pure. */
export function judged(trial: LoadTrial, evidence: LoadEvidence): TrialResult {
  try {
    const findings = judgeLoad(evidence, trial.scenario);
    return { kind: "judged", trial, evidence, findings, validity: validityOf(evidence) };
  } catch (error) {
    return { kind: "broken", trial, error: traceOf(error), evidence };
  }
}

const stoppedEarly: Lack = { reason: "the run was stopped before it", needs: null };

function lackOf(
  trial: LoadTrial,
  left: number,
  { ground, missing, requestsOf, maxRequests }: ConductOptions,
): Lack | null {
  const known = missing(trial.engine) ?? ground.lack(trial);
  if (known !== null || !Number.isFinite(maxRequests)) return known;
  const requests = requestsOf(trial);
  if (requests === null) return { reason: { why: "requests without a bound" }, needs: need("unbounded requests") };
  return requests <= left ? null : { reason: { why: "too many requests", requests, left }, needs: need("maxRequests") };
}

async function rest(trial: LoadTrial, { ground, signal, onWait }: ConductOptions): Promise<void> {
  const ms = ground.restMs(trial);
  if (ms <= 0) return;
  onWait(ms, "the key's minute has to pass first");
  await sleep(ms, undefined, { signal }).catch((error: unknown) => {
    if (!signal.aborted) throw error;
  });
}

async function sent(trial: LoadTrial, options: ConductOptions): Promise<LoadEvidence> {
  const { scenario, engine } = trial;
  const stage = await options.ground.open(trial);
  try {
    const reason = whyNot(engine, scenario.flows(stage.parts.limits));
    if (reason !== null) throw new EngineProblem(reason);
    const { signal, look } = openPatience(options.signal);
    const parts: EngineParts = {
      ...stage.parts,
      segments: options.segments,
      signal,
      onProgress: (progress) => {
        look(progress);
        options.onProgress(progress);
      },
      dashboardFile: options.dashboardOf(trial),
    };
    return await runSurrounded(options.engines[engine], scenario, parts, stage.surroundings);
  } finally {
    await stage.end();
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
export function lackOfNeeds(
  { scenario, tier }: LoadTrial,
  has: {
    readonly agents: EngineParts["agents"];
    readonly keys: Readonly<Record<KeyRole, unknown>>;
    readonly hasReceiver: boolean;
  },
): Lack | null {
  if (has.keys.main === null)
    return { reason: `there is no key of the ${tier} tier`, needs: `a ${tier} key in the target file` };
  const missing = scenario.needs.find((each) => {
    if (each === "keys.second") return has.keys.second === null;
    return each === "receiver" ? !has.hasReceiver : has.agents[agentOfNeed[each]] === null;
  });
  if (missing !== undefined) return { reason: "the target lacks what it needs", needs: needNames[missing] };
  return has.agents.answering === null ? { reason: "no agent that answers is known", needs: need("agent") } : null;
}
