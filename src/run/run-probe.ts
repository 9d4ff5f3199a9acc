import { traceOf } from "../base/errors.ts";
import { ReceiverError } from "../receiver/receiver.ts";
import type { PlannedProbe, ProbeRun, ProbeRunResult } from "./plan/plan.ts";
import type { TargetKey } from "../target/target.ts";
import { type Need, type ResolvedNeeds, resolveNeeds } from "./plan/needs.ts";
import type { ProbeContext } from "./probe.ts";
import type { OutageMonitor } from "./send/outages.ts";
import type { Pacer } from "./send/pacer.ts";
import { need, needsMoreTime, type SkipCause, SkipError, type SkipReason, TargetUnavailable } from "./skip-reason.ts";
import type { RunClock } from "./time/run-clock.ts";
import { describeStop } from "./time/stop-signal.ts";
import { sumOf } from "../base/numbers.ts";
import type { Recorder } from "./send/recorder.ts";

interface RequestCounts {
  readonly requests: number;
  readonly executions: number;
}

interface BudgetBounds {
  readonly maxRequests: number;
  readonly maxExecutions: number | null;
  readonly recorder: Pick<Recorder, "sent" | "executions">;
}

/** The requests and agent executions that are reserved for a running probe. */
interface Reservation {
  readonly take: (executions: number) => void;
  readonly release: () => void;
}

/** The run's limits on requests and agent executions, divided among its probes. */
interface RequestBudget {
  /** Returns a skip reason if too few requests or executions are left for a probe; `null` if the probe may run. */
  readonly reasonAgainst: (planned: PlannedProbe) => SkipReason | null;
  /** Reserves requests and executions for a probe, so that other probes cannot use them. */
  readonly reserve: (planned: PlannedProbe) => Reservation;
}

export function startRequestBudget({ maxRequests, maxExecutions, recorder }: BudgetBounds): RequestBudget {
  const reserved = new Set<{ requests: number; executions: number }>();
  const leftNow = (): RequestCounts => {
    const open = (name: keyof RequestCounts): number => sumOf([...reserved].map((each) => Math.max(0, each[name])));
    return {
      requests: maxRequests - recorder.sent() - open("requests"),
      executions: (maxExecutions ?? Infinity) - recorder.executions() - open("executions"),
    };
  };
  return {
    reasonAgainst: (planned) => {
      if (isExemptFromBudget(planned)) return null;
      if (recorder.sent() >= maxRequests)
        return { reason: { why: "requests used up", most: maxRequests }, needs: need("maxRequests") };
      return mayDropRequests(planned) ? null : reasonOverBudget(planned, leftNow());
    },
    reserve: ({ requests, executions }) => {
      const own = { requests, executions };
      reserved.add(own);
      return {
        take: (started) => {
          own.requests -= 1;
          own.executions -= started;
        },
        release: () => void reserved.delete(own),
      };
    },
  };
}

export const unlimitedBudget: RequestBudget = {
  reasonAgainst: () => null,
  reserve: () => ({ take: () => {}, release: () => {} }),
};

export function reasonOverBudget({ requests, executions }: RequestCounts, left: RequestCounts): SkipReason | null {
  if (requests > left.requests)
    return {
      reason: { why: "too many requests", requests, left: Math.max(0, left.requests) },
      needs: need("maxRequests"),
    };
  if (executions > left.executions)
    return {
      reason: { why: "too many executions", executions, left: Math.max(0, left.executions) },
      needs: need("maxExecutions"),
    };
  return null;
}

/** Whether a probe runs even after `maxRequests` is reached, because it also provides earlier requests as evidence. */
const isExemptFromBudget = ({ probe }: PlannedProbe): boolean =>
  probe.stage === "review" || (probe.per === "target" && probe.countsRequests === true);

const mayDropRequests = ({ probe }: PlannedProbe): boolean => probe.per === "target" && probe.mayDropRequests === true;

/** Everything that `executeStages` needs to run probes. The command `plan` passes a simulation. */
export interface StageContext {
  readonly time: RunClock;
  readonly signal: AbortSignal;
  readonly maxWaitMs: number;
  /** Settles when the requests that search for a webhook agent have ended. Until then, they hold concurrency slots. */
  readonly pendingRequests: Promise<unknown>;
  readonly onProbe: (run: ProbeRun) => void;
  readonly outages: OutageMonitor;
  /** Whether the user named an agent for webhook probes, or the run found one other than the `answering` agent. */
  readonly hasWebhookAgent: boolean;
  readonly hasFewRequests: boolean;
  readonly availableRequests: () => number;
  readonly probeDeadlineMs?: number;
  readonly budget: RequestBudget;
  /** Runs one probe: `runProbe` in a run. Calls `onAdmitted` before each request, to deduct it from the reservation. */
  readonly perform: (
    planned: PlannedProbe,
    time: RunClock,
    onAdmitted: (executions: number) => void,
  ) => Promise<unknown>;
}

export interface TimedContext extends StageContext {
  readonly deadlineMs: number;
}

export interface ExecutionContext
  extends
    Omit<ProbeContext, "given" | "limitTests">,
    Pick<StageContext, "signal" | "maxWaitMs" | "pendingRequests" | "onProbe" | "budget"> {
  readonly pacer: Pacer;
}

export const isReview = ({ probe }: PlannedProbe): boolean => probe.stage === "review";

/**
 * Runs a probe and returns its evidence, or the reason why the probe was skipped or failed. Calls `onStop` if the
 * target became unavailable.
 */
export async function runOrSkip(
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

/** Duration of a rate-limit window of one minute, plus one second because headers report whole seconds. */
const windowWithMarginMs = 61_000;

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
    // With a test clock, abandons the probe only if the target stays away: the probe would still advance the clock.
    const lost = needsNoTarget ? [] : [outages.rejectOnLoss(!time.canAdvance)];
    return await Promise.race([running, overdue.promise, ...lost]);
  } finally {
    clearTimeout(timer);
    signal.removeEventListener("abort", interrupt);
  }
}

type ProbeExecution = ExecutionContext &
  Pick<ProbeContext, "limitTests"> & { readonly onAdmitted: (executions: number) => void };

/** Calls the probe's `run` with what the probe needs: its client, and the parts of the target that it names. */
export async function runProbe({ probe, tested }: PlannedProbe, execution: ProbeExecution): Promise<unknown> {
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

function afterOutage({ target, client, ...context }: ProbeExecution): ProbeExecution {
  const used = (key: TargetKey): TargetKey => ({ ...key, fresh: false });
  const keys = Object.fromEntries(Object.entries(target.keys).map(([name, key]) => [name, used(key)]));
  return { ...context, target: { ...target, keys }, client: client.as(used(client.key)) };
}
