import { shareClock } from "./time/shared-clock.ts";
import { describeStop } from "./time/stop-signal.ts";
import { hasFewRequests } from "./plan/needs.ts";
import { receiverByAttempt } from "./run-receiver.ts";
import {
  type ExecutionContext,
  isReview,
  runOrSkip,
  runProbe,
  type StageContext,
  type TimedContext,
} from "./run-probe.ts";
import type { PlannedProbe, ProbeRun, ProbeRunResult } from "./plan/plan.ts";
import { type LimitTest, probeDeadlineMs } from "./probe.ts";
import { buildSchedule } from "./plan/schedule.ts";
import { type RunClock, withReservedWait } from "./time/run-clock.ts";
import type { OutageMonitor } from "./send/outages.ts";

/** A probe that outages interrupted this often is not repeated again, because it may cause the outages. */
const maxInterruptions = 2;

function trackInterruptions(outages: OutageMonitor) {
  const begunAt = new Map<PlannedProbe, number>();
  const counts = new Map<PlannedProbe, number>();
  const waiting: PlannedProbe[] = [];
  let hasLostProbe = false;

  const lost = (): ProbeRunResult => {
    hasLostProbe = true;
    return { kind: "skipped", reason: outages.describe() ?? "the target was lost", needs: null };
  };

  return {
    begin: (each: PlannedProbe): void => void begunAt.set(each, outages.count()),
    /**
     * Returns the final result of a probe that has ended; `null` if an outage interrupted the probe and it must run
     * again.
     */
    resultOf: (each: PlannedProbe, result: ProbeRunResult): ProbeRunResult | null => {
      // Probes of the stage `review` read recorded evidence, which an outage does not change.
      if (begunAt.get(each) === outages.count() || each.skip !== null || isReview(each)) return result;
      if (outages.isDead()) return lost();
      const count = (counts.get(each) ?? 0) + 1;
      counts.set(each, count);
      if (count >= maxInterruptions) return lost();
      waiting.push(each);
      return null;
    },
    takeFromRerunList: (each: PlannedProbe): boolean => {
      const at = waiting.indexOf(each);
      if (at !== -1) waiting.splice(at, 1);
      return at !== -1;
    },
    takeNextToRerun: (): PlannedProbe | undefined => waiting.shift(),
    lostResult: lost,
    /**
     * Returns the `isJudgedLater` probes that must run again, because an outage began during or after them. For
     * example, the outage may have prevented webhook retries.
     */
    outdated: (runs: Iterable<ProbeRun>): PlannedProbe[] =>
      [...runs].flatMap(({ planned, result }) =>
        planned.probe.per === "target" &&
        planned.probe.isJudgedLater === true &&
        result.kind === "ran" &&
        begunAt.get(planned) !== outages.count()
          ? [planned]
          : [],
      ),
    reason: (): string | null => (hasLostProbe || outages.hasSuspects() ? outages.describe() : null),
  };
}

interface ExecutionResult {
  readonly runs: readonly ProbeRun[];
  readonly stopped: string | null;
}

const maxConcurrentProbes = 16;

/** Runs the planned probes stage by stage. The promise never rejects, whatever the target does. */
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

/** Runs probes in the order of the schedule. Once the run is stopped, runs only probes of the stage `review`. */
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

  /** Runs a probe, and repeats it at once after an outage: the next probe may need objects that this one creates. */
  const runInOrder: typeof runOne = async (each, own) => {
    do await runOne(each, own);
    while (interruptions.takeFromRerunList(each));
  };
  /** Reruns interrupted probes one at a time, to find out which one crashes the target. */
  const rerunInterrupted = async (): Promise<void> => {
    for (let each = interruptions.takeNextToRerun(); each !== undefined; each = interruptions.takeNextToRerun())
      await runOne(each);
  };
  const rerunOutdated = async (): Promise<void> => {
    for (const each of interruptions.outdated(runs.values())) await runOne(each);
    await rerunInterrupted();
  };

  const { time } = context;
  for (const { probes, mode, reserving } of buildSchedule(planned, { ...context, canAdvance: time.canAdvance })) {
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

const needsQuietTarget = ({ probe }: PlannedProbe): boolean =>
  probe.stage !== "opening" && probe.stage !== "shared" && probe.stage !== "agent time";

/**
 * Runs probes that share a test clock. A probe's deadline grows with the number of probes, because probes wait for each
 * other.
 */
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

/** The limit tests of one key reserve at most this share of `maxWaitMs`, so that other probes can wait, too. */
const maxReservedShare = 0.55;

const isOfMain = (planned: PlannedProbe): boolean => planned.usesMainKey;

/** Runs probes concurrently, but probes that share a key one after the other, in their order. */
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
