import { traceOf } from "../base/errors.ts";
import { ReceiverError } from "../receiver/receiver.ts";
import { shareClock } from "./time/shared-clock.ts";
import { needsMoreTime, type SkipCause, SkipError, TargetUnavailable } from "./skip-reason.ts";
import { describeStop } from "./time/stop-signal.ts";
import type { RequestBudget } from "./plan/request-budget.ts";
import { type ResolvedNeeds, hasFewRequests, type Need, resolveNeeds } from "./plan/needs.ts";
import type { TargetKey } from "../target/target.ts";
import { receiverByAttempt } from "./run-receiver.ts";
import { trackInterruptions } from "./interruptions.ts";
import type { OutageMonitor } from "./send/outages.ts";
import type { Pacer } from "./send/pacer.ts";
import type { PlannedProbe, ProbeRun, ProbeRunResult } from "./plan/plan.ts";
import { type LimitTest, type ProbeContext, probeDeadlineMs } from "./probe.ts";
import { buildSchedule } from "./plan/schedule.ts";
import { withReservedWait, type RunClock } from "./time/run-clock.ts";

export interface ExecutionResult {
  readonly runs: readonly ProbeRun[];
  /** Why the run ended early. `null` if it was complete. */
  readonly stopped: string | null;
}

/** Everything needed to run probes stage by stage. The command `plan` only simulates that. */
export interface StageContext {
  readonly time: RunClock;
  readonly signal: AbortSignal;
  readonly maxWaitMs: number;
  /** Settles when every request that the discovery left open has ended. */
  readonly pendingRequests: Promise<unknown>;
  readonly onProbe: (run: ProbeRun) => void;
  readonly outages: OutageMonitor;
  /** Whether the target has an agent that only the webhook probes call. */
  readonly hasWebhookAgent: boolean;
  /** Whether the main key's limit per minute is too small for all probes (see `hasFewRequests` in `plan/needs.ts`). */
  readonly hasFewRequests: boolean;
  /** Returns how many requests the main key can send now without waiting. */
  readonly availableRequests: () => number;
  /** Real time that one probe may take, not counting waits. Default: that of `probe.ts`. */
  readonly probeDeadlineMs?: number;
  readonly budget: RequestBudget;
  /** Runs one probe. Rejects if the probe throws. Calls `onAdmitted` as `Client.begin` does. */
  readonly perform: (
    planned: PlannedProbe,
    time: RunClock,
    onAdmitted: (executions: number) => void,
  ) => Promise<unknown>;
}

/** Everything needed to run probes that send real requests, below the limits of their keys. */
interface ExecutionContext
  extends
    Omit<ProbeContext, "given" | "limitTests">,
    Pick<StageContext, "signal" | "maxWaitMs" | "pendingRequests" | "onProbe" | "budget"> {
  readonly pacer: Pacer;
}

/** Maximum number of probes of the stage `shared` or `agent time` that run at once. */
const maxConcurrentProbes = 16;

/** Runs the planned probes stage by stage. Whatever the target does, the promise never rejects. */
export function executeProbes(planned: readonly PlannedProbe[], context: ExecutionContext): Promise<ExecutionResult> {
  const receiverFor = receiverByAttempt(context.receiver, ({ probe }: PlannedProbe) => probe.since);
  const ended = new Map<PlannedProbe, ProbeRun>();
  const limitTests = (): LimitTest[] => [...ended.values()].flatMap(limitTestOf);
  return executeStages(planned, {
    ...context,
    hasFewRequests: hasFewRequests(context.target),
    availableRequests: () => context.pacer.availableRequests(context.client.key),
    hasWebhookAgent: context.target.agents.webhooked !== undefined,
    perform: (each, time, onAdmitted) =>
      runProbe(each, { ...context, time, receiver: receiverFor(each), limitTests, onAdmitted }),
    onProbe: (run) => {
      ended.set(run.planned, run);
      context.onProbe(run);
    },
  });
}

function limitTestOf({ planned: { probe, tested }, result }: ProbeRun): LimitTest[] {
  if (probe.usesUp === undefined) return [];
  const how = result.kind === "skipped" ? result : { kind: result.kind };
  return [{ state: probe.usesUp, tier: tested?.tier ?? null, result: how }];
}

/** Runs probes in the order of the schedule. Skips probes once the run was stopped or has no requests left. */
export async function executeStages(planned: readonly PlannedProbe[], context: StageContext): Promise<ExecutionResult> {
  const runs = new Map<PlannedProbe, ProbeRun>();
  const interruptions = trackInterruptions(context.outages);
  let stopped: string | null = null;
  let reservedMs = 0;
  const ownTime = { time: context.time, deadlineMs: context.probeDeadlineMs ?? probeDeadlineMs };

  const runOne = async (
    each: PlannedProbe,
    own: Pick<TimedContext, "time" | "deadlineMs"> = ownTime,
  ): Promise<void> => {
    const time = each.probe.stage === "limits" ? own.time : withReservedWait(reservedMs, own.time);
    if (each.skip === null && !(await context.outages.awaitReturn()) && !context.signal.aborted)
      stopped ??= context.outages.describe();
    interruptions.begin(each);
    const ended = await runOrSkip(each, stopped, { ...context, ...own, time }, (error) => {
      stopped ??= error.message;
    });
    const result = interruptions.resultOf(each, ended);
    if (result === null) return;
    if (result.kind === "skipped" && context.signal.aborted)
      stopped ??= describeStop(context.signal, `${runs.size} of ${planned.length} probes were done`);
    const run = { planned: each, result };
    runs.set(each, run);
    context.onProbe(run);
  };

  /** Runs a probe, and again if an outage interrupted it, because later probes may need what it creates. */
  const runInOrder: typeof runOne = async (each, own) => {
    do await runOne(each, own);
    while (interruptions.takeFromRerunList(each));
  };
  /** Runs interrupted probes again, one at a time: if one crashes the target again, it is clear which. */
  const rerunInterrupted = async (): Promise<void> => {
    for (let each = interruptions.nextToRerun(); each !== undefined; each = interruptions.nextToRerun())
      await runOne(each);
  };
  const rerunOutdated = async (): Promise<void> => {
    for (const each of interruptions.outdated(runs.values())) await runOne(each);
    await rerunInterrupted();
  };

  const { hasWebhookAgent, hasFewRequests: isShort, time } = context;
  const conditions = { canAdvance: time.canAdvance, hasWebhookAgent, hasFewRequests: isShort };
  for (const { probes, mode, reserving } of buildSchedule(planned, conditions)) {
    // These probes count concurrency slots and requests, so no request of the discovery may still be open.
    if (probes.some(needsQuietTarget)) await context.pendingRequests;
    if (probes.some(isReview)) await rerunOutdated();
    time.reserve(reserving === "all" ? waitToReserve(planned, context.maxWaitMs) : 0);
    reservedMs = reserving === "all but limits" ? waitToReserve(planned.filter(isOfMain), context.maxWaitMs) : 0;
    if (mode === "shared clock") await runOnSharedClock(probes, time, runInOrder);
    else if (mode === "by key" || (mode === "by agent clock" && time.agentsUseRealTime()))
      await runByKey(probes, runInOrder);
    else if (mode === "pool") await runConcurrently(probes, maxConcurrentProbes, runOne);
    else await runConcurrently(probes, 1, runInOrder);
    await rerunInterrupted();
  }
  for (const each of interruptions.outdated(runs.values()))
    runs.set(each, { planned: each, result: interruptions.lostResult() });
  return { runs: [...runs.values()], stopped: stopped ?? interruptions.reason() };
}

const isReview = ({ probe }: PlannedProbe): boolean => probe.stage === "review";
const needsQuietTarget = ({ probe }: PlannedProbe): boolean =>
  probe.stage !== "opening" && probe.stage !== "shared" && probe.stage !== "agent time";

interface TimedContext extends StageContext {
  /** Real time that the probe may take, not counting waits. */
  readonly deadlineMs: number;
}

/** Runs probes on a shared test clock. A probe may have to wait for all others, so their deadlines add up. */
function runOnSharedClock(
  probes: readonly PlannedProbe[],
  time: RunClock,
  run: (each: PlannedProbe, own: Pick<TimedContext, "time" | "deadlineMs">) => Promise<void>,
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
 * Returns how much of the waiting time earlier probes must leave to the tests of limits: at most 55 %, and the longest
 * wait of one key, because keys wait at the same time.
 */
function waitToReserve(planned: readonly PlannedProbe[], maxWaitMs: number): number {
  const byKey = new Map<string, number>();
  for (const { probe, tested, skip } of planned) {
    if (probe.per !== "tier" || probe.stage !== "limits" || tested === null || skip !== null) continue;
    const reservedMs = byKey.get(tested.key.name) ?? 0;
    const ms = (probe.waitSeconds(tested) + (probe.optionalWaitSeconds ?? 0)) * 1000;
    if (reservedMs + ms <= maxWaitMs * maxReservedShare) byKey.set(tested.key.name, reservedMs + ms);
  }
  return Math.max(0, ...byKey.values());
}

const maxReservedShare = 0.55;

const isOfMain = (planned: PlannedProbe): boolean => planned.usesMainKey;

/** Runs one probe and returns its result, or why it was skipped. `onStop` gets an error after which none can run. */
async function runOrSkip(
  planned: PlannedProbe,
  stopped: string | null,
  context: TimedContext,
  onStop: (error: TargetUnavailable) => void,
): Promise<ProbeRunResult> {
  const { probe, skip } = planned;
  if (skip !== null) return { kind: "skipped", ...skip };
  if (stopped !== null && probe.stage !== "review")
    return { kind: "skipped", reason: `the run was stopped: ${stopped}`, needs: null };
  const beyondBudget = context.budget.reasonAgainst(planned);
  if (beyondBudget !== null) return { kind: "skipped", ...beyondBudget };
  const missingTime = explainTooLongWait(planned, context.time) ?? explainTooFewRequests(planned, context);
  if (missingTime !== null) return { kind: "skipped", reason: missingTime, needs: needsMoreTime };
  const reservation = context.budget.reserve(planned);
  try {
    const running = context.perform(planned, context.time, reservation.take);
    return { kind: "ran", evidence: await withinDeadline(running, context, isReview(planned)) };
  } catch (error) {
    if (error instanceof TargetUnavailable && !context.signal.aborted) onStop(error);
    return resultAfterError(error, context.signal);
  } finally {
    reservation.release();
  }
}

type ProbeExecution = ExecutionContext &
  Pick<ProbeContext, "limitTests"> & { readonly onAdmitted: (executions: number) => void };

async function runProbe({ probe, tested }: PlannedProbe, execution: ProbeExecution): Promise<unknown> {
  const context = execution.outages.count() === 0 ? execution : afterOutage(execution);
  const resolved = resolveNeeds(probe.needs, context.target);
  const found = resolved.kind === "given" ? resolved.given : {};
  const given = probe.needs.includes("receiver") ? { ...found, receiver: await context.receiver() } : found;
  const client = context.client.begin(execution.onAdmitted).since(probe.since);
  const probeContext: ProbeContext<Need> = { ...context, client, given: given as ResolvedNeeds<Need> };
  if (probe.per === "target") return probe.run(probeContext);
  if (tested === null) throw new Error(`the probe "${probe.name}" was planned without a tier`);
  const { keys } = context.target;
  return probe.run({ ...probeContext, tested: { ...tested, key: keys[tested.key.name] ?? tested.key } });
}

/** Returns the context of a probe after an outage, in which no key counts as unused. */
function afterOutage({ target, client, ...context }: ProbeExecution): ProbeExecution {
  const used = (key: TargetKey): TargetKey => ({ ...key, fresh: false });
  const keys = Object.fromEntries(Object.entries(target.keys).map(([name, key]) => [name, used(key)]));
  return { ...context, target: { ...target, keys }, client: client.as(used(client.key)) };
}

/** A rate-limit window of one minute, plus a second because headers round to whole seconds. */
const windowWithMarginMs = 61_000;

/** If the main key has too few requests left for the probe, and the run cannot wait for more, says so. */
function explainTooFewRequests(
  { probe, requests, usesMainKey }: PlannedProbe,
  { time, hasFewRequests: isShort, availableRequests }: StageContext,
): SkipCause | null {
  if (!isShort || !usesMainKey || probe.per !== "target" || probe.mayDropRequests || time.canWait(windowWithMarginMs))
    return null;
  const left = availableRequests();
  return requests <= left
    ? null
    : {
        why: "no time left",
        takes: `it sends ${requests} requests, and the key has room for ${left}: a window takes 60 s`,
      };
}

function explainTooLongWait({ probe, tested }: PlannedProbe, time: RunClock): SkipCause | null {
  if (probe.per !== "tier" || tested === null) return null;
  const waitSeconds = probe.waitSeconds(tested);
  if (time.canWait(waitSeconds * 1000)) return null;
  return { why: "no time left", takes: `it needs up to ${waitSeconds} s of waiting` };
}

function resultAfterError(error: unknown, signal: AbortSignal): ProbeRunResult {
  if (signal.aborted) return { kind: "skipped", reason: `the run was stopped: ${describeStop(signal)}`, needs: null };
  if (error instanceof SkipError) return { kind: "skipped", ...error.skipReason };
  if (error instanceof ReceiverError) return { kind: "skipped", reason: error.message, needs: null };
  return { kind: "broken", error: traceOf(error) };
}

/** Waits for a running probe. Rejects when its deadline passes, the run is stopped, or the target is lost. */
async function withinDeadline<T>(
  running: Promise<T>,
  { time, signal, deadlineMs, outages }: TimedContext,
  needsNoTarget: boolean,
): Promise<T> {
  const overdue = Promise.withResolvers<never>();
  const waitedBeforeMs = time.waitedMs();
  const checkDeadline = (): void => {
    const waitedMs = time.waitedMs() - waitedBeforeMs;
    if (waitedMs > 0 && waitedMs !== lastWaitedMs) {
      lastWaitedMs = waitedMs;
      timer = setTimeout(checkDeadline, waitedMs);
    } else overdue.reject(new SkipError(`the probe was not over after ${deadlineMs / 1000} s`));
  };
  let lastWaitedMs = 0;
  let timer = setTimeout(checkDeadline, deadlineMs);
  const interrupt = (): void => overdue.reject(signal.reason);
  signal.addEventListener("abort", interrupt, { once: true });
  if (signal.aborted) interrupt();
  try {
    // The waits of an interrupted probe may take minutes, so it is abandoned. On a test clock it would go on advancing
    // the clock, so it is abandoned only if the target does not come back.
    const lost = needsNoTarget ? [] : [outages.loss(!time.canAdvance)];
    return await Promise.race([running, overdue.promise, ...lost]);
  } finally {
    clearTimeout(timer);
    signal.removeEventListener("abort", interrupt);
  }
}

/** Runs probes concurrently, but those that share a key one after the other, in their order. */
export async function runByKey(
  probes: readonly PlannedProbe[],
  run: (each: PlannedProbe) => Promise<void>,
): Promise<void> {
  const latest = new Map<string, Promise<void>>();
  const runs = probes.map((each) => {
    const ended = Promise.all(each.keys.flatMap((key) => latest.get(key) ?? [])).then(() => run(each));
    for (const key of each.keys) latest.set(key, ended);
    return ended;
  });
  await Promise.all(runs);
}

async function runConcurrently<T>(
  items: readonly T[],
  atOnce: number,
  each: (item: T) => Promise<void>,
): Promise<void> {
  const waiting = items[Symbol.iterator]();
  const worker = async (): Promise<void> => {
    for (const item of waiting) await each(item);
  };
  await Promise.all(Array.from({ length: Math.min(atOnce, items.length) }, worker));
}
