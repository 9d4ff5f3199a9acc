import { isLoopback } from "../../base/network/network.ts";
import { newestRequirements } from "../../spec/clause.ts";
import type { LoadProgress } from "../../load/engine.ts";
import { runTrials, type TrialResult } from "../../load/run-trials.ts";
import type { LoadTrial } from "../../load/trials.ts";
import type { Patch } from "../../reference/patch.ts";
import type { Report } from "../../report/model/report.ts";
import { runEndFromReason } from "../../report/model/verdict.ts";
import type { Need } from "../../run/plan/needs.ts";
import type { Messages } from "../../run/skip-reason.ts";
import { describeStop } from "../../run/time/stop-signal.ts";
import type { Target } from "../../target/target.ts";
import { warnOfUnwrittenFiles } from "../report-folder/write-files.ts";
import {
  chooseScenarios,
  type LoadParameters,
  defaultLoadParameters,
  maxRequestsOfTrial,
  assertLoadParameters,
  type LoadPlan,
  type LoadPreview,
  previewLoad,
  planLoad,
} from "./plan-load.ts";
import { discoverForLoad } from "./discover-for-load.ts";
import { type ClosableEnvironment, openEmbeddedEnvironment, openTargetEnvironment } from "./trial-environment.ts";
import {
  type AvailableEngines,
  usableEngineNames,
  enginesByName as sendingEngines,
  enginesForTarget,
  findEngines,
} from "./available-engines.ts";
import { UnsendableLoadError, type NotSentReason } from "./not-sent-reason.ts";
import { openLoadWriter, type LoadWriter, type RedactedLoad, runEndWithoutLoad } from "./save-load.ts";

/** Options of {@link sendLoad}. Missing parameters have the values of {@link defaultLoadParameters}. */
export interface SendLoadOptions extends Partial<LoadParameters> {
  readonly target: Target | null;
  readonly patches?: readonly Patch[];
  readonly engines?: AvailableEngines;
  /** Time of the last use of the target's keys (`performance.now()`). Default: `null`, for unused keys. */
  readonly usedAtMs?: number | null;
  readonly readOnly?: boolean;
  readonly messages: Messages;
  /** Asks the user whether to send the load to a target that is not on loopback. Default: the load is not sent. */
  readonly agree?: (outlook: LoadPreview) => boolean | Promise<boolean>;
  readonly events?: LoadEvents;
  readonly dashboardOf?: (trial: LoadTrial, trials: number) => string | null;
  readonly signal?: AbortSignal;
}

export interface NotSent {
  readonly kind: "not sent";
  readonly why: NotSentReason;
}

export interface NotSentLoad extends NotSent {
  readonly kept: RedactedLoad | null;
}

/** Sends load, and judges the target's rate limits by the responses. Writes the report and evidence into `folder`, if given. */
export async function sendLoad(
  options: SendLoadOptions,
  folder: string | null = null,
): Promise<({ readonly kind: "sent" } & RedactedLoad) | NotSentLoad> {
  const started = new Date();
  const opened = await prepareLoad(options);
  if (opened.kind === "not sent") {
    const end = runEndWithoutLoad(opened.why);
    const { target, events = silentLoadEvents, requirements = newestRequirements } = options;
    const kept =
      end && openLoadWriter(target, folder, requirements, events.problem).finish({ started, waitedMs: 0, end });
    return { ...opened, kept };
  }
  try {
    return { kind: "sent", ...(await opened.sendTrials(opened.trials, folder)) };
  } finally {
    await opened.close();
  }
}

export interface PreparedLoad {
  readonly kind: "opened";
  readonly trials: readonly LoadTrial[];
  readonly sendTrials: (trials: readonly LoadTrial[], folder: string | null) => Promise<RedactedLoad>;
  readonly close: () => Promise<void>;
}

export async function prepareLoad(options: SendLoadOptions): Promise<PreparedLoad | NotSent> {
  try {
    return await openLoad(options);
  } catch (error) {
    if (error instanceof UnsendableLoadError) return { kind: "not sent", why: error.reason };
    throw error;
  }
}

async function openLoad(options: SendLoadOptions): Promise<PreparedLoad> {
  const { patches = [], usedAtMs = null, events = silentLoadEvents, signal = new AbortController().signal } = options;
  if (options.readOnly === true) throw new UnsendableLoadError({ kind: "read only" });
  if (signal.aborted) throw new UnsendableLoadError({ kind: "interrupted" });
  const engines = enginesForTarget(options.engines ?? (await findEngines()), options.target);
  const parameters: LoadParameters = { ...defaultLoadParameters, ...options };
  assertLoadParameters(parameters, options.target, engines);
  const { target, used } =
    options.target === null
      ? { target: null, used: new Map<string, number>() }
      : await discoverForLoad(options.target, signal, neededInRealTime(parameters));
  const plan = planLoad(parameters, target, usableEngineNames(engines));
  const usedBefore =
    usedAtMs === null ? [] : Object.keys(options.target?.keys ?? {}).map((name) => [name, usedAtMs] as const);
  const environment = createEnvironment(target, patches, new Map([...usedBefore, ...used]));
  let { maxRequests } = parameters;
  const sending = { ...options, parameters, plan, engines, environment, events, signal };
  const outlook = previewLoad(plan, target, (trial) => engines[trial.engine] ?? environment.skipReason(trial));
  events.planned(outlook, target);
  const isAgreed = target === null || isLoopback(target.baseUrl) || (await options.agree?.(outlook)) === true;
  if (isAgreed)
    return {
      kind: "opened",
      trials: plan.trials,
      sendTrials: async (trials, folder) => {
        const writer = openLoadWriter(target, folder, parameters.requirements, events.problem);
        const sent = await runAndSaveTrials(trials, writer, { ...sending, maxRequests });
        maxRequests = requestsLeft(maxRequests, sent.document.report);
        return sent;
      },
      close: environment.close,
    };
  await environment.close();
  throw new UnsendableLoadError({ kind: signal.aborted ? "interrupted" : "not agreed" });
}

const neededInRealTime = ({ scenarios }: LoadParameters): ReadonlySet<Need> =>
  new Set(chooseScenarios(scenarios, true).flatMap(({ needs }) => needs));

interface TrialsContext extends Pick<SendLoadOptions, "dashboardOf" | "messages"> {
  readonly parameters: LoadParameters;
  readonly maxRequests: number;
  readonly plan: LoadPlan;
  readonly engines: AvailableEngines;
  readonly environment: ClosableEnvironment;
  readonly events: LoadEvents;
  readonly signal: AbortSignal;
}

async function runAndSaveTrials(
  trials: readonly LoadTrial[],
  writer: LoadWriter,
  sending: TrialsContext,
): Promise<RedactedLoad> {
  const { parameters, maxRequests, plan, engines, environment, events, messages, signal, dashboardOf } = sending;
  const started = new Date();
  const startedMs = performance.now();
  let waitedMs = 0;
  let death: string | null = null;
  try {
    await runTrials({
      trials,
      started,
      environment,
      engines: sendingEngines,
      missingEngine: (engine) => engines[engine],
      segments: parameters.segments,
      maxRequests,
      maxConnections: Math.max(0, ...trials.map((trial) => plan.estimateOf(trial).connections)),
      messages,
      knownRequestCount: (trial) => maxRequestsOfTrial(plan, trial),
      dashboardOf: (trial) => dashboardOf?.(trial, trials.length) ?? null,
      signal,
      onTrial: (trial, index) => events.trial(trial, index, trials.length),
      onWait: (ms, why) => {
        waitedMs += ms;
        events.waiting(ms, why);
      },
      onProgress: events.progress,
      onResult: (outcome) => {
        events.outcome(outcome);
        writer.add(outcome);
      },
      onDeath: (reason) => void (death = reason),
    });
  } finally {
    events.done();
  }
  // A stopped load ends its pause early, but `onWait` has already added the full pause.
  waitedMs = Math.min(waitedMs, performance.now() - startedMs);
  return writer.finish({ started, waitedMs, end: runEndFromReason(signal.aborted ? describeStop(signal) : death) });
}

export const requestsLeft = (maxRequests: number | null, { requests }: Report): number =>
  maxRequests === null ? Number.POSITIVE_INFINITY : Math.max(0, maxRequests - requests);

export interface LoadEvents {
  /** Called before the first trial. `target` includes keys that were issued for this load; `null`: the embedded server. */
  readonly planned: (outlook: LoadPreview, target: Target | null) => void;
  readonly trial: (trial: LoadTrial, at: number, of: number) => void;
  readonly waiting: (ms: number, why: string) => void;
  readonly progress: (progress: LoadProgress) => void;
  readonly outcome: (outcome: TrialResult) => void;
  readonly problem: (sentence: string) => void;
  readonly done: () => void;
}

export const silentLoadEvents: LoadEvents = {
  planned() {},
  trial() {},
  waiting() {},
  progress() {},
  outcome() {},
  problem: warnOfUnwrittenFiles,
  done() {},
};

const createEnvironment = (
  target: Target | null,
  patches: readonly Patch[],
  used: ReadonlyMap<string, number>,
): ClosableEnvironment =>
  target === null
    ? openEmbeddedEnvironment(patches.map(({ kind, name }) => ({ kind, name })))
    : openTargetEnvironment(target, used);
