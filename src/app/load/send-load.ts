import { conductLoad } from "../../load/conduct.ts";
import { evidenceFileOf, type LoadTrial } from "../../load/conduct-trials.ts";
import type { Patch } from "../../reference/patch.ts";
import { endedBy } from "../../run/ending.ts";
import type { Wording } from "../../run/lack.ts";
import { isLoopback } from "../../target/base-url.ts";
import type { Target } from "../../target/target.ts";
import { packageVersion } from "../version.ts";
import { assembleLoadReport, loadTargetOf } from "../../report/assemble/load-report.ts";
import { type EnginesHere, engines as sendingEngines, enginesFor, findEngines } from "./engines.ts";
import { chooseScenarios } from "./choice.ts";
import { lookForLoad } from "./first-look.ts";
import { keepLoad, type LoadKeeper, type SentLoad } from "./keep-load.ts";
import { type LoadView, silentView } from "./load-view.ts";
import { LoadProblem, type NoLoad } from "./no-load.ts";
import { openGround } from "./open-ground.ts";
import { boundOf, checkWish, type LoadPlan, type Outlook, outlookOf, planLoad } from "./plan-load.ts";
import { endFor } from "../../report/verdict.ts";
import { rolesIn } from "./target-ground.ts";
import { keepUnsent } from "./unsent.ts";
import { type LoadWish, plainWish } from "./wish.ts";

/** What load is sent to, and who is asked and told. What is left out of the wish is as in {@link plainWish}. */
export interface SendLoadOptions extends Partial<LoadWish> {
  /** `null`: the embedded server, in a process of its own. */
  readonly target: Target | null;
  /** Faults and variants of the embedded server. */
  readonly patches?: readonly Patch[];
  /** Engines that are here; looked for where they are not given. */
  readonly engines?: EnginesHere;
  /** When requests were last sent with the target's keys, by `performance.now()`; `null`, the default, where nobody has used them. */
  readonly usedAtMs?: number | null;
  /** Whether nothing but GET may be sent: then no load is. */
  readonly isReadOnly?: boolean;
  /** In which is said why something was not sent. */
  readonly wording: Wording;
  /** Asked before load is sent to a server that is not on loopback; without it, none is. */
  readonly agree?: (outlook: Outlook) => boolean | Promise<boolean>;
  readonly view?: LoadView;
  /** File for k6's own page of a trial; `null` for none. */
  readonly dashboardOf?: (trial: LoadTrial, trials: number) => string | null;
  /** Stops the trial that runs, and starts no other one. */
  readonly signal?: AbortSignal;
}

export interface NotSent {
  readonly kind: "not sent";
  readonly why: NoLoad;
}

export interface UnsentLoad extends NotSent {
  /** The report that says so; `null` where the choice itself was at fault. */
  readonly kept: SentLoad | null;
}

const notSent = (why: NoLoad): NotSent => ({ kind: "not sent", why });

/**
 * Sends load and judges the limits by it: looks at the target, plans, asks whoever must agree, sends one trial after another, and keeps the
 * evidence of each at once.
 *
 * @param folder where `report.json` and `load/*.json` are written; `null`: nowhere
 */
export async function sendLoad(
  options: SendLoadOptions,
  folder: string | null = null,
): Promise<({ readonly kind: "sent" } & SentLoad) | UnsentLoad> {
  const started = new Date();
  const opened = await openLoad(options);
  if (opened.kind === "not sent")
    return {
      ...opened,
      kept: keepUnsent(opened.why, { ...options, started }, folder, (options.view ?? silentView).problem),
    };
  try {
    return { kind: "sent", ...(await opened.send(opened.trials, folder)) };
  } finally {
    await opened.close();
  }
}

/** Load that everybody agrees to, on a target that answers. */
export interface OpenedLoad {
  readonly kind: "opened";
  readonly trials: readonly LoadTrial[];
  /** Sends some of the trials; may be called again, for some of them once more. */
  readonly send: (trials: readonly LoadTrial[], folder: string | null) => Promise<SentLoad>;
  readonly close: () => Promise<void>;
}

/** All of {@link sendLoad} but the sending, for whoever sends some of it again on the same server. */
export async function openLoad(options: SendLoadOptions): Promise<OpenedLoad | NotSent> {
  const { patches = [], usedAtMs = null, view = silentView, signal = new AbortController().signal } = options;
  if (options.isReadOnly === true) return notSent({ kind: "read only" });
  if (signal.aborted) return notSent({ kind: "interrupted" });
  const engines = enginesFor(options.engines ?? (await findEngines()), options.target);
  const wish: LoadWish = { ...plainWish, ...options };
  const planned = await plannedLoad(wish, options.target, engines, signal);
  if (planned.kind === "not sent") return planned;
  const { plan, target } = planned;
  const usedBefore = usedAtMs === null ? [] : Object.keys(target?.keys ?? {}).map((name) => [name, usedAtMs] as const);
  const ground = openGround(target, patches, new Map([...usedBefore, ...planned.used]));
  const parts: Sending = { ...options, wish, plan, target, engines, ground, view, signal };
  const outlook = outlookOf(plan, target, (trial) => engines.missing(trial.engine) ?? ground.lack(trial));
  view.planned(outlook);
  const isAgreed = target === null || isLoopback(target.baseUrl) || (await options.agree?.(outlook)) === true;
  if (isAgreed)
    return {
      kind: "opened",
      trials: plan.trials,
      send: (trials, folder) => send(trials, folder, parts),
      close: ground.close,
    };
  await ground.close();
  return notSent({ kind: signal.aborted ? "interrupted" : "not agreed" });
}

type Planned =
  | {
      readonly kind: "planned";
      readonly plan: LoadPlan;
      readonly target: Target | null;
      /** Keys that the look has used, and when, by `performance.now()`. */
      readonly used: ReadonlyMap<string, number>;
    }
  | NotSent;

/** The plan, once a look has shown what nobody had said of the target; what is wrong with the wish is found before. */
async function plannedLoad(
  wish: LoadWish,
  named: Target | null,
  engines: EnginesHere,
  signal: AbortSignal,
): Promise<Planned> {
  try {
    checkWish(wish, named, engines);
    if (named === null)
      return { kind: "planned", plan: planLoad(wish, null, engines.names), target: null, used: new Map() };
    const needed = new Set(chooseScenarios(wish.scenarios, true).flatMap(({ needs }) => needs));
    const looked = await lookForLoad(named, signal, needed);
    if (looked.kind !== "ready") return notSent(looked);
    const { target, used } = looked;
    return { kind: "planned", plan: planLoad(wish, target, engines.names), target, used };
  } catch (error) {
    if (error instanceof LoadProblem) return notSent(error.why);
    throw error;
  }
}

interface Sending extends Pick<SendLoadOptions, "dashboardOf" | "wording"> {
  readonly wish: LoadWish;
  readonly plan: LoadPlan;
  readonly target: Target | null;
  readonly engines: EnginesHere;
  readonly ground: ReturnType<typeof openGround>;
  readonly view: LoadView;
  readonly signal: AbortSignal;
}

async function send(trials: readonly LoadTrial[], folder: string | null, sending: Sending): Promise<SentLoad> {
  const { target, view, signal } = sending;
  const keeper = keepLoad(target, folder, view.problem);
  const started = new Date();
  const { outcomes, waitedMs } = await conducted(trials, sending, keeper);
  const report = assembleLoadReport(outcomes, {
    version: packageVersion(),
    target: { ...loadTargetOf(target), ...rolesIn(target) },
    started,
    finished: new Date(),
    waitedMs,
    end: endFor(signal.aborted ? endedBy(signal) : null),
    fileOf: evidenceFileOf,
  });
  const document = { report: keeper.keepReport(report), evidence: null, load: keeper.evidence };
  return { document, digests: Object.fromEntries(keeper.digests), folder: keeper.folder() };
}

async function conducted(trials: readonly LoadTrial[], sending: Sending, keeper: LoadKeeper) {
  const { wish, plan, engines, ground, view, wording, signal, dashboardOf } = sending;
  let waitedMs = 0;
  try {
    const outcomes = await conductLoad({
      trials,
      ground,
      engines: sendingEngines,
      missing: engines.missing,
      segments: wish.segments,
      maxRequests: wish.maxRequests,
      wording,
      requestsOf: (trial) => boundOf(plan, trial),
      dashboardOf: (trial) => dashboardOf?.(trial, trials.length) ?? null,
      signal,
      onTrial: (trial, at) => view.trial(trial, at, trials.length),
      onWait: (ms, why) => {
        waitedMs += ms;
        view.waiting(ms, why);
      },
      onProgress: view.progress,
      onOutcome: (outcome) => {
        view.outcome(outcome);
        keeper.keepOutcome(outcome);
      },
    });
    return { outcomes, waitedMs };
  } finally {
    view.done();
  }
}
