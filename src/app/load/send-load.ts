import { newestRequirements } from "../../spec/requirements.ts";
import type { LoadProgress } from "../../load/engine.ts";
import { runTrials, type TrialResult, type LoadEnvironment } from "../../load/run-trials.ts";
import type { LoadTrial } from "../../load/trials.ts";
import type { Patch } from "../../reference/patch.ts";
import { runEndFor } from "../../report/model/verdict.ts";
import type { Messages } from "../../run/skip-reason.ts";
import { describeStop } from "../../run/time/stop-signal.ts";
import { isLoopback } from "../../target/base-url.ts";
import type { Target } from "../../target/target.ts";
import { warnOfUnwrittenFiles } from "../report-folder/write-files.ts";
import { chooseScenarios } from "./choose-scenarios.ts";
import { discoverForLoad } from "./discover-for-load.ts";
import { openEmbeddedEnvironment } from "./embedded-environment.ts";
import { type AvailableEngines, engines as sendingEngines, enginesFor, findEngines } from "./engines.ts";
import { type LoadParameters, defaultLoadParameters } from "./load-parameters.ts";
import { UnsendableLoadError, type NotSentReason } from "./not-sent-reason.ts";
import {
  maxRequestsOf,
  assertLoadParameters,
  type LoadPlan,
  type LoadPreview,
  previewOf,
  planLoad,
} from "./plan-load.ts";
import { openLoadWriter, type LoadWriter, type SentLoad, endOfNotSent } from "./save-load.ts";
import { openTargetEnvironment } from "./target-environment.ts";

/** Options of {@link sendLoad}. Load parameters default to {@link defaultLoadParameters}. */
export interface SendLoadOptions extends Partial<LoadParameters> {
  /** The target of the load. `null`: the embedded server, in a separate process. */
  readonly target: Target | null;
  /** Faults and variants to apply to the embedded server. */
  readonly patches?: readonly Patch[];
  /** Available engines. Default: the engines that are installed. */
  readonly engines?: AvailableEngines;
  /** When a request last used the target's keys (`performance.now()`). Default: `null`, for unused keys. */
  readonly usedAtMs?: number | null;
  /** Whether only GET requests are allowed, so that no load may be sent. */
  readonly readOnly?: boolean;
  /** Turns skip reasons into sentences. Command line and library word them differently. */
  readonly messages: Messages;
  /** Asks the user whether load may be sent to a server that is not on loopback. Without this function, such a server gets no load. */
  readonly agree?: (outlook: LoadPreview) => boolean | Promise<boolean>;
  readonly events?: LoadEvents;
  /** Names the file for k6's own HTML page of a trial. Returns `null` if no page is wanted. */
  readonly dashboardOf?: (trial: LoadTrial, trials: number) => string | null;
  /** When this signal aborts, the current trial ends, and no other starts. */
  readonly signal?: AbortSignal;
}

export interface NotSent {
  readonly kind: "not sent";
  readonly why: NotSentReason;
}

export interface NotSentLoad extends NotSent {
  /** The saved report that no load was sent. `null` if none was written, because the parameters were invalid or the user refused. */
  readonly kept: SentLoad | null;
}

const notSent = (why: NotSentReason): NotSent => ({ kind: "not sent", why });

/**
 * Sends load and judges the rate limits by the responses: discovers the target, plans the trials, asks for consent, and runs the trials in
 * sequence. Saves the evidence after each trial.
 *
 * @param folder folder for `report.json` and `load/*.json`; `null` if nothing is to be written
 */
export async function sendLoad(
  options: SendLoadOptions,
  folder: string | null = null,
): Promise<({ readonly kind: "sent" } & SentLoad) | NotSentLoad> {
  const started = new Date();
  const opened = await openLoad(options);
  if (opened.kind === "not sent") {
    const end = endOfNotSent(opened.why);
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

/** A load that is planned and permitted, on a target that answers. */
export interface OpenedLoad {
  readonly kind: "opened";
  readonly trials: readonly LoadTrial[];
  /** Runs some of the planned trials. A later call may repeat trials. */
  readonly sendTrials: (trials: readonly LoadTrial[], folder: string | null) => Promise<SentLoad>;
  readonly close: () => Promise<void>;
}

/**
 * Does everything that {@link sendLoad} does before the first trial. The caller then runs trials, and may repeat them on the same server.
 */
export async function openLoad(options: SendLoadOptions): Promise<OpenedLoad | NotSent> {
  const { patches = [], usedAtMs = null, events = silentLoadEvents, signal = new AbortController().signal } = options;
  if (options.readOnly === true) return notSent({ kind: "read only" });
  if (signal.aborted) return notSent({ kind: "interrupted" });
  const engines = enginesFor(options.engines ?? (await findEngines()), options.target);
  const parameters: LoadParameters = { ...defaultLoadParameters, ...options };
  const planned = await plannedLoad(parameters, options.target, engines, signal);
  if (planned.kind === "not sent") return planned;
  const { plan, target } = planned;
  const usedBefore =
    usedAtMs === null ? [] : Object.keys(options.target?.keys ?? {}).map((name) => [name, usedAtMs] as const);
  const environment = openEnvironment(target, patches, new Map([...usedBefore, ...planned.used]));
  const sending: TrialsContext = { ...options, parameters, plan, engines, environment, events, signal };
  const outlook = previewOf(plan, target, (trial) => engines.missing(trial.engine) ?? environment.skipReason(trial));
  events.planned(outlook, target);
  const isAgreed = target === null || isLoopback(target.baseUrl) || (await options.agree?.(outlook)) === true;
  if (isAgreed)
    return {
      kind: "opened",
      trials: plan.trials,
      sendTrials: (trials, folder) =>
        send(trials, openLoadWriter(target, folder, parameters.requirements, events.problem), sending),
      close: environment.close,
    };
  await environment.close();
  return notSent({ kind: signal.aborted ? "interrupted" : "not agreed" });
}

type PlannedLoad =
  | {
      readonly kind: "planned";
      readonly plan: LoadPlan;
      readonly target: Target | null;
      /** The keys that discovery used, with the time at which it ended (`performance.now()`). */
      readonly used: ReadonlyMap<string, number>;
    }
  | NotSent;

/** Checks the load parameters, discovers missing facts about the target, and plans the trials. */
async function plannedLoad(
  parameters: LoadParameters,
  named: Target | null,
  engines: AvailableEngines,
  signal: AbortSignal,
): Promise<PlannedLoad> {
  try {
    assertLoadParameters(parameters, named, engines);
    if (named === null)
      return { kind: "planned", plan: planLoad(parameters, null, engines.names), target: null, used: new Map() };
    const needed = new Set(chooseScenarios(parameters.scenarios, true).flatMap(({ needs }) => needs));
    const discovered = await discoverForLoad(named, signal, needed);
    if (discovered.kind !== "ready") return notSent(discovered);
    const { target, used } = discovered;
    return { kind: "planned", plan: planLoad(parameters, target, engines.names), target, used };
  } catch (error) {
    if (error instanceof UnsendableLoadError) return notSent(error.reason);
    throw error;
  }
}

interface TrialsContext extends Pick<SendLoadOptions, "dashboardOf" | "messages"> {
  readonly parameters: LoadParameters;
  readonly plan: LoadPlan;
  readonly engines: AvailableEngines;
  readonly environment: ReturnType<typeof openEnvironment>;
  readonly events: LoadEvents;
  readonly signal: AbortSignal;
}

/** Runs trials in sequence and writes their results. */
async function send(trials: readonly LoadTrial[], writer: LoadWriter, sending: TrialsContext): Promise<SentLoad> {
  const { parameters, plan, engines, environment, events, messages, signal, dashboardOf } = sending;
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
      missingEngine: engines.missing,
      segments: parameters.segments,
      maxRequests: parameters.maxRequests,
      maxConnections: Math.max(0, ...trials.map((trial) => plan.estimateOf(trial).connections)),
      messages,
      knownRequestCount: (trial) => maxRequestsOf(plan, trial),
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
  // Each pause is counted in full, even if it ended early. The sum must not exceed the duration of the load.
  waitedMs = Math.min(waitedMs, performance.now() - startedMs);
  return writer.finish({ started, waitedMs, end: runEndFor(signal.aborted ? describeStop(signal) : death) });
}

/** Callbacks that report the progress of a load. */
export interface LoadEvents {
  /** Called after discovery, before the first trial. The target has the keys that its test control issued; `null`: the embedded server. */
  readonly planned: (outlook: LoadPreview, target: Target | null) => void;
  readonly trial: (trial: LoadTrial, at: number, of: number) => void;
  readonly waiting: (ms: number, why: string) => void;
  readonly progress: (progress: LoadProgress) => void;
  readonly outcome: (outcome: TrialResult) => void;
  /** Called with a sentence if files could not be written. */
  readonly problem: (sentence: string) => void;
  /** Called at the end, as the last callback. */
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

/** The server, keys and clock that load trials use. The caller has to close them. */
export type OpenEnvironment = LoadEnvironment & { readonly close: () => Promise<void> };

/**
 * Creates the environment of load trials: server, keys and clock. Starts and sends nothing yet.
 *
 * @param target `null`: the embedded server, with faults and variants applied
 * @param used see {@link openTargetEnvironment}; has no effect on the embedded server, which creates fresh keys for each trial
 */
export const openEnvironment = (
  target: Target | null,
  patches: readonly Patch[],
  used: ReadonlyMap<string, number>,
): OpenEnvironment =>
  target === null
    ? openEmbeddedEnvironment(patches.map(({ kind, name }) => ({ kind, name })))
    : openTargetEnvironment(target, used);
