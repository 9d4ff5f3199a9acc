import { traceOf } from "../base/errors.ts";
import type { ProbeResult } from "../evidence/evidence.ts";
import type { Target } from "../target/target.ts";
import { type Receiver, ReceiverProblem } from "../receiver/receiver.ts";
import { shareClock } from "./time/shared-clock.ts";
import { RequestBudgetExhausted, type Client, TargetUnavailable } from "./send/client.ts";
import { type SkipReason, moreTime, type SkipCause, SkipError } from "./skip-reason.ts";
import { describeStop } from "./time/stop-signal.ts";
import { type ResolvedNeeds, hasFewRequests, type Need, resolveNeeds } from "./plan/needs.ts";
import type { Pacer } from "./send/pacing.ts";
import type { PlannedProbe } from "./plan/plan.ts";
import type { Discovery, ProbeContext } from "./probe.ts";
import type { Recorder } from "./send/recorder.ts";
import { runByKey, buildSchedule } from "./plan/schedule.ts";
import { withReservedWait, type RunClock } from "./time/run-clock.ts";

/** The result of a probe. Evidence contains skip reasons as text. */
export type ProbeRunResult = Exclude<ProbeResult, { kind: "skipped" }> | ({ readonly kind: "skipped" } & SkipReason);

export interface ProbeRun {
  readonly planned: PlannedProbe;
  readonly result: ProbeRunResult;
}

export interface ExecutionResult {
  readonly runs: readonly ProbeRun[];
  /** Why the run ended early. `null` if it was complete. */
  readonly stopped: string | null;
}

export interface ExecutionContext {
  readonly pacer: Pacer;
  readonly target: Target;
  readonly discovery: Discovery;
  readonly client: Client;
  readonly recorder: Recorder;
  /** Opens the receiver if it is not open yet. */
  readonly receiver: () => Promise<Receiver>;
  readonly time: RunClock;
  readonly signal: AbortSignal;
  readonly readOnly: boolean;
  readonly maxWaitMs: number;
  /** Settles once every request from before the first probe has ended. */
  readonly asked: Promise<unknown>;
  readonly onProbe: (run: ProbeRun) => void;
}

/** Everything needed to run probes stage by stage. A dry run uses the same steps, but sends nothing. */
export interface StageContext extends Pick<ExecutionContext, "time" | "signal" | "maxWaitMs" | "asked" | "onProbe"> {
  /** Whether webhooks have an agent that nothing else calls. */
  readonly isQuiet: boolean;
  /** Whether the main key has too few requests a minute for all probes. */
  readonly isShort: boolean;
  /** Requests that the main key can send now without waiting. */
  readonly room: () => number;
  /** Runs one probe. Rejects if the probe throws. */
  readonly perform: (planned: PlannedProbe, time: RunClock) => Promise<unknown>;
}

/** Maximum number of concurrent probes. The pacer of each key decides what is really sent. */
const mostAtOnce = 16;
/** Real time that one probe may take, waits not included. */
const probeDeadlineMs = 180_000;

/** Runs the planned probes stage by stage. Never throws because of a target's behaviour. */
export const executeProbes = (planned: readonly PlannedProbe[], parts: ExecutionContext): Promise<ExecutionResult> =>
  executeStages(planned, {
    ...parts,
    isShort: hasFewRequests(parts.target),
    room: () => parts.pacer.availableRequests(parts.client.key),
    isQuiet: parts.target.agents.webhooked !== undefined,
    perform: (each, time) => runProbe(each, { ...parts, time }),
  });

/** Runs probes in the order of the schedule, within the budget of requests and waiting time. */
export async function executeStages(planned: readonly PlannedProbe[], parts: StageContext): Promise<ExecutionResult> {
  const runs: ProbeRun[] = [];
  let stopped: string | null = null;
  let spent: RequestBudgetExhausted | null = null;
  let keptMs = 0;
  const alone = { time: parts.time, deadlineMs: probeDeadlineMs };

  const runOne = async (each: PlannedProbe, own: Pick<TimedParts, "time" | "deadlineMs"> = alone): Promise<void> => {
    const time = each.probe.lane === "limits" ? own.time : withReservedWait(keptMs, own.time);
    const result = await resultOf(each, { stopped, spent }, { ...parts, ...own, time }, (error) => {
      if (error instanceof TargetUnavailable) stopped ??= error.message;
      else spent ??= error;
    });
    if (result.kind === "skipped" && parts.signal.aborted)
      stopped ??= describeStop(parts.signal, `${runs.length} of ${planned.length} probes were done`);
    const run = { planned: each, result };
    runs.push(run);
    parts.onProbe(run);
  };

  const { isQuiet, isShort, time } = parts;
  const circumstances = { canMove: time.canMove, isQuiet, isShort };
  for (const { probes, how, isReserving } of buildSchedule(planned, circumstances)) {
    // A pending request holds a slot, and counts against limits when it ends.
    if (probes.some(countsOrHolds)) await parts.asked;
    parts.time.reserve(isReserving === true ? reserveFor(planned, parts.maxWaitMs) : 0);
    keptMs = isReserving === "but for the limits" ? reserveFor(planned.filter(isOfMain), parts.maxWaitMs) : 0;
    if (how === "abreast") await runAbreast(probes, time, runOne);
    else if (how === "by key" || (how === "as agents live" && time.agentsUseRealTime())) await runByKey(probes, runOne);
    else await sideBySide(probes, how === "pool" ? mostAtOnce : 1, runOne);
  }
  return { runs, stopped };
}

const countsOrHolds = ({ probe }: PlannedProbe): boolean => probe.lane !== "shared" && probe.lane !== "timed";

interface TimedParts extends StageContext {
  /** Real time that the probe may take, waits not included. */
  readonly deadlineMs: number;
}

/**
 * Runs probes on a shared test clock. Each may take its own time plus that of all others, because their clock stands
 * still while one sends.
 */
function runAbreast(
  probes: readonly PlannedProbe[],
  time: RunClock,
  run: (each: PlannedProbe, own: Pick<TimedParts, "time" | "deadlineMs">) => Promise<void>,
): Promise<void> {
  const join = shareClock(time);
  return runByKey(probes, async (each) => {
    const { time: own, leave } = join();
    try {
      await run(each, { time: own, deadlineMs: probeDeadlineMs * probes.length });
    } finally {
      leave();
    }
  });
}

/**
 * Waiting time to reserve for the limits, about half of the total, so that earlier probes cannot use it all up. Keys
 * wait at the same time, so the maximum of all keys counts.
 */
function reserveFor(planned: readonly PlannedProbe[], maxWaitMs: number): number {
  const byKey = new Map<string, number>();
  for (const { probe, tested, skip } of planned) {
    if (probe.per !== "tier" || probe.lane !== "limits" || tested === null || skip !== null) continue;
    const reservedMs = byKey.get(tested.key.name) ?? 0;
    const ms = (probe.waitSeconds(tested) + probe.spareSeconds) * 1000;
    if (reservedMs + ms <= maxWaitMs * mostReserved) byKey.set(tested.key.name, reservedMs + ms);
  }
  return Math.max(0, ...byKey.values());
}

const mostReserved = 0.55;

const isOfMain = (planned: PlannedProbe): boolean => planned.isOfMain;

/** Why no further probe can run. `null` if probes can run. */
interface Obstacle {
  readonly stopped: string | null;
  readonly spent: RequestBudgetExhausted | null;
}

/** @param onStop called with the error after which no further probe can run */
async function resultOf(
  planned: PlannedProbe,
  { stopped, spent }: Obstacle,
  parts: TimedParts,
  obstruct: (error: TargetUnavailable | RequestBudgetExhausted) => void,
): Promise<ProbeRunResult> {
  const { probe, skip } = planned;
  if (skip !== null) return { kind: "skipped", ...skip };
  if (stopped !== null && probe.lane !== "afterwards")
    return { kind: "skipped", reason: `the run was stopped: ${stopped}`, needs: null };
  // Later probes would wait for the effects of requests that were never sent.
  if (spent !== null && probe.lane !== "afterwards") return failureOf(spent, parts.signal);
  const tooLong = waitTooLong(planned, parts.time) ?? findsNoRoom(planned, parts);
  if (tooLong !== null) return { kind: "skipped", reason: tooLong, needs: moreTime };
  try {
    return { kind: "ran", evidence: await withinDeadline(parts.perform(planned, parts.time), parts) };
  } catch (error) {
    const isObstacle = error instanceof TargetUnavailable || error instanceof RequestBudgetExhausted;
    if (isObstacle && !parts.signal.aborted) obstruct(error);
    return failureOf(error, parts.signal);
  }
}

async function runProbe({ probe, tested }: PlannedProbe, parts: ExecutionContext): Promise<unknown> {
  const resolved = resolveNeeds(probe.needs, parts.target);
  const found = resolved.kind === "given" ? resolved.given : {};
  const given = probe.needs.includes("receiver") ? { ...found, receiver: await parts.receiver() } : found;
  const scene: ProbeContext<Need> = { ...parts, given: given as ResolvedNeeds<Need> };
  if (probe.per === "target") return probe.run(scene);
  if (tested === null) throw new Error(`the probe "${probe.name}" was planned without a tier`);
  return probe.run({ ...scene, tested });
}

/** A minute's window, plus a second, because headers are in whole seconds. */
const windowMs = 61_000;

/** Why the main key has too few requests left to finish the probe. Applies only to keys with few requests. */
function findsNoRoom({ probe, requests }: PlannedProbe, { time, isShort, room }: StageContext): SkipCause | null {
  if (!isShort || probe.per !== "target" || probe.doesWithout || time.canWait(windowMs)) return null;
  const left = room();
  return requests <= left
    ? null
    : {
        why: "no time left",
        takes: `it sends ${requests} requests, and the key has room for ${left}: a window takes 60 s`,
      };
}

function waitTooLong({ probe, tested }: PlannedProbe, time: RunClock): SkipCause | null {
  if (probe.per !== "tier" || tested === null) return null;
  const waitSeconds = probe.waitSeconds(tested);
  if (time.canWait(waitSeconds * 1000)) return null;
  return { why: "no time left", takes: `it needs up to ${waitSeconds} s of waiting` };
}

function failureOf(error: unknown, signal: AbortSignal): ProbeRunResult {
  if (signal.aborted) return { kind: "skipped", reason: `the run was stopped: ${describeStop(signal)}`, needs: null };
  if (error instanceof SkipError) return { kind: "skipped", ...error.skipReason };
  if (error instanceof ReceiverProblem) return { kind: "skipped", reason: error.message, needs: null };
  return { kind: "broken", error: traceOf(error) };
}

class ProbeOverdue extends SkipError {
  override readonly name = "ProbeOverdue";
}

/** Waits for a probe, but no longer than its deadline, or until the run is interrupted. */
async function withinDeadline<T>(running: Promise<T>, { time, signal, deadlineMs }: TimedParts): Promise<T> {
  const overdue = Promise.withResolvers<never>();
  const waitedBefore = time.waitedMs();
  const look = (): void => {
    const granted = time.waitedMs() - waitedBefore;
    if (granted > 0 && granted !== lastGranted) {
      lastGranted = granted;
      timer = setTimeout(look, granted);
    } else overdue.reject(new ProbeOverdue(`the probe was not over after ${deadlineMs / 1000} s`));
  };
  let lastGranted = 0;
  let timer = setTimeout(look, deadlineMs);
  const interrupt = (): void => overdue.reject(signal.reason);
  signal.addEventListener("abort", interrupt, { once: true });
  if (signal.aborted) interrupt();
  try {
    return await Promise.race([running, overdue.promise]);
  } finally {
    clearTimeout(timer);
    signal.removeEventListener("abort", interrupt);
  }
}

async function sideBySide<T>(items: readonly T[], atOnce: number, each: (item: T) => Promise<void>): Promise<void> {
  const waiting = items[Symbol.iterator]();
  const worker = async (): Promise<void> => {
    for (const item of waiting) await each(item);
  };
  await Promise.all(Array.from({ length: Math.min(atOnce, items.length) }, worker));
}
