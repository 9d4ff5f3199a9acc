import type { PublishedTier } from "../spec/tiers.ts";
import { withConfirmedFreshness } from "../target/control-calls.ts";
import { type Target, type TargetKey, withDetectedTier } from "../target/target.ts";
import { HarnessLimitError, harnessLimitOf } from "../base/harness-limit.ts";
import { type DiscoveryResult, discoverTarget } from "./discovery/discover-target.ts";
import { assignDerivedRoles, withDetectedTiers, withWebhookAgent } from "./discovery/complete-target.ts";
import { describeDisturbance, isAboutCounts } from "./disturbances/disturbance.ts";
import { skipDisturbed } from "./disturbances/skip-disturbed.ts";
import { type DisturbanceWatch, watchDisturbances } from "./disturbances/watch-disturbances.ts";
import { executeProbes } from "./execute.ts";
import { breachShownBy, type Judgement, judgeEvidence, resultsByProbe } from "./judge/judge-evidence.ts";
import { type Suite, filterChecks } from "./judge/check.ts";
import { defaultBounds, maxRunTimeMs, defaultCoverageSeed } from "./plan/bounds.ts";
import { hasFewRequests, mainKey } from "./plan/needs.ts";
import { createsWebhooks, planProbes, type ProbeRun } from "./plan/plan.ts";
import { suitesFor } from "./plan/selection.ts";
import { isReview, startRequestBudget } from "./run-probe.ts";
import { receiverOnDemand } from "./run-receiver.ts";
import { createContext, type SendingOptions, type RunContextOptions } from "./run-context.ts";
import {
  brokenRun,
  judgeRun,
  type RunResult,
  stoppedTooEarly,
  type UnjudgedReason,
  unjudgedRun,
  withoutBreaches,
} from "./run-result.ts";
import { type Client, openClient } from "./send/client.ts";
import type { ClientContext } from "./send/send-request.ts";
import { fastSkip, FirstBreach, TargetLost, TargetUnavailable, RunTimeout, isBudgetExhausted } from "./skip-reason.ts";
import { startStopSignal } from "./time/stop-signal.ts";

export interface RunOptions extends SendingOptions {
  readonly suites: readonly Suite[];
  /** Whether the webhook receiver stays open after the run, for the caller to close. Default `false`. */
  readonly keepsListening?: boolean;
  /** Asks the user for the tier of the main key, if neither the target file nor the response headers show it. */
  readonly onUnknownTier?: (keyName: string) => Promise<PublishedTier | null>;
  readonly onPlan?: (probes: number, target: Target) => void;
  readonly onProbe?: (run: ProbeRun) => void;
  /** Whether the given breach ends the run. Default: no breach ends the run. */
  readonly stopsAt?: (breach: Judgement) => boolean;
  /**
   * Whether to announce the keys of this run to other runs on this machine. If so, the run also looks for other users
   * of these keys. Default: `false`.
   */
  readonly announces?: boolean;
  /** The reason why nothing can be judged, as a sentence for the report. If set, the run sends nothing. */
  readonly obstacle?: string;
}

export const noUsableKey =
  "The target has no key for general use: each is expired or restricted. Add a valid one under `keys`.";

/** Runs the suites' probes on a target, and judges the evidence. A failing target does not reject the promise. */
export async function runSuites(options: RunOptions): Promise<RunResult> {
  const { signal, stop, release, end } = startStopSignal(
    options.signal,
    maxRunTimeMs({ ...defaultBounds, ...options }),
  );
  try {
    const target = await withConfirmedFreshness(options.target);
    const suites = suitesFor(options.suites, target);
    const result = await runWithSignal({ ...options, suites, target, signal, stop, onHarnessLimit: stop });
    // A receiver that stays open still waits on the run's clock, and `end` would abort its waits.
    if (result.listening === null) end();
    if (!(signal.reason instanceof HarnessLimitError)) return result;
    const judgements = withoutBreaches(result.judgements, signal.reason);
    return { ...result, kind: "judged", stopped: signal.reason.message, judgements };
  } finally {
    release();
  }
}

async function runWithSignal(
  given: RunOptions & RunContextOptions & { readonly stop: (reason: Error) => void },
): Promise<RunResult> {
  const { target, signal, stopsAt } = given;
  const done: ProbeRun[] = [];
  const options: RunOptions & RunContextOptions = {
    ...given,
    onProbe: (run) => {
      done.push(run);
      watch.ended(run);
      given.onProbe?.(run);
      if (stopsAt === undefined || signal.aborted) return;
      const breach = breachShownBy(run, done, { suites: given.suites, stopsAt });
      if (breach !== null) given.stop(new FirstBreach(breach.check.clause));
    },
  };
  const key = mainKey(target);
  const context = createContext(options);
  const { time } = context;
  const isSimulated = given.timers !== undefined;
  const watch = watchDisturbances({ target, time, isSimulated, announces: given.announces ?? false });
  const receiver = receiverOnDemand(target, time);
  const closeAll = (): void => void Promise.all([context.transport.close(), receiver.close()]);
  signal.addEventListener("abort", closeAll, { once: true });
  try {
    if (given.obstacle !== undefined) return unjudgedRun(options, context, stoppedTooEarly(given.obstacle));
    if (key === null) return unjudgedRun(options, context, stoppedTooEarly(noUsableKey));
    const client = openClient(context, key);
    const result = await retryAfterOutage(context, () => discoverOrExplain(client.begin(), target, context));
    if (result.kind !== "ready") return unjudgedRun(options, context, result);
    const known = await withKnownTier(result.target, key, context, options.onUnknownTier);
    const tiered = await retryAfterOutage(context, () => withDetectedTiers(client.begin(), known, signal));
    const chosen = await withHighestLimitKey({ ...result, target: tiered }, client, context);
    return await runProbesAndJudge(options, context, chosen.client, chosen.ready, { receiver, watch });
  } catch (error) {
    const limit = harnessLimitOf(error);
    if (limit !== null) options.onHarnessLimit(limit);
    return brokenRun(options, context, done, error);
  } finally {
    signal.removeEventListener("abort", closeAll);
    watch.close();
    context.outages.close();
    await receiver.close();
    await context.transport.close();
  }
}

async function withKnownTier(
  target: Target,
  key: TargetKey,
  { pacer }: Pick<ClientContext, "pacer">,
  onUnknownTier: RunOptions["onUnknownTier"],
): Promise<Target> {
  if (target.auth === "none") return target;
  if (key.tier !== null || pacer.detectedTier(key) !== null)
    return withDetectedTier(target, key.name, pacer.detectedTier(key));
  const tier = (await onUnknownTier?.(key.name)) ?? null;
  if (tier !== null) pacer.assumeTier(key, tier);
  return withDetectedTier(target, key.name, tier);
}

type ReadyTarget = Extract<DiscoveryResult, { kind: "ready" }>;

/**
 * Repeats the discovery with another key if that key is now the main key: detected tiers may show that its limit is
 * higher.
 */
async function withHighestLimitKey(
  ready: ReadyTarget,
  client: Client,
  context: ClientContext,
): Promise<{ readonly ready: ReadyTarget; readonly client: Client }> {
  const main = mainKey(ready.target);
  if (main === null || main.key === client.key.key) return { ready, client };
  const own = client.as(main);
  const again = await retryAfterOutage(context, () => discoverOrExplain(own.begin(), ready.target, context));
  return again.kind === "ready" ? { ready: again, client: own } : { ready, client };
}

async function retryAfterOutage<T>({ outages }: ClientContext, action: () => Promise<T>): Promise<T> {
  const before = outages.count();
  const result = await action();
  return outages.count() === before || !(await outages.awaitReturn()) ? result : action();
}

async function runProbesAndJudge(
  options: RunOptions,
  context: ClientContext,
  client: Client,
  { discovery, target: discovered }: ReadyTarget,
  { receiver, watch }: { readonly receiver: ReturnType<typeof receiverOnDemand>; readonly watch: DisturbanceWatch },
): Promise<RunResult> {
  const { recorder, pacer, time, signal, readOnly, fast, maxWindow } = context;
  const first = planProbes(options.suites, discovered, { readOnly, maxWindow, fast });
  const usesWebhooks = first.some((each) => each.skip === null && createsWebhooks(each.probe));
  // A search for agents sends invokes. A read-only run must send none, and a key with few requests has none to spare.
  const mustSaveRequests = hasFewRequests(discovered) || readOnly;
  const { target: assigned, pendingRequests } =
    usesWebhooks && !mustSaveRequests
      ? await retryAfterOutage(context, () => withWebhookAgent(client.begin(), discovered, discovery, { signal }))
      : { target: discovered, pendingRequests: Promise.resolve() };
  const needed = new Set(first.flatMap(({ probe, skip }) => (skip === fastSkip ? [] : probe.needs)));
  const target = mustSaveRequests
    ? assigned
    : await retryAfterOutage(context, () => assignDerivedRoles(client.begin(), assigned, { time, signal, needed }));
  const planned = target === discovered ? first : planProbes(options.suites, target, { readOnly, maxWindow, fast });
  options.onPlan?.(planned.length, target);
  const execution = {
    ...context,
    target,
    discovery,
    client,
    receiver: receiver.open,
    coverageSeed: options.coverageSeed ?? defaultCoverageSeed,
    budget: startRequestBudget(context),
    pendingRequests,
    onProbe: (run: ProbeRun) => options.onProbe?.(run),
  };
  const executed = await executeProbes(planned, execution);
  const limitsBroken = (): boolean => hasBrokenLimits(options.suites, executed.runs);
  const disturbances = await watch.find(target, { client: client.begin(), recorder, signal }, limitsBroken);
  const reviews = planned.filter(isReview);
  const runs = await skipDisturbed(disturbances, {
    suites: options.suites,
    runs: executed.runs,
    endedMs: watch.endedMs,
    review: async (kept) => (await executeProbes(reviews, { ...execution, recorder: kept, onProbe: () => {} })).runs,
    recorder,
  });
  const refused = disturbances.find(({ kind }) => kind === "key refused");
  const disturbed = refused === undefined ? null : describeDisturbance(refused);
  return {
    kind: "judged",
    stopped:
      withClockProblem(executed.stopped, time.clockProblem()) ??
      disturbed ??
      pacer.slowdown.describeUnanswered() ??
      receiver.floodReason(recorder.executions()),
    ...judgeRun(options, context, { target, runs }),
    deliveries: receiver.deliveries(),
    receiver: receiver.record(),
    listening: options.keepsListening === true && !signal.aborted ? receiver.handOver() : null,
  };
}

/** Names a lost test clock as the likely cause of what stopped a run: agents that follow the clock then time out. */
const withClockProblem = (stopped: string | null, problem: string | null): string | null =>
  stopped === null || problem === null ? stopped : `${problem}; ${stopped}`;

/** Whether any check that counts requests found a breach. */
function hasBrokenLimits(suites: readonly Suite[], runs: readonly ProbeRun[]): boolean {
  const ofCounts = filterChecks(suites, ({ clause }) => isAboutCounts(clause));
  return judgeEvidence(ofCounts, resultsByProbe(runs)).some(({ finding }) => finding.kind === "breach");
}

async function discoverOrExplain(
  client: Client,
  target: Target,
  { signal, readOnly }: ClientContext,
): Promise<ReadyTarget | UnjudgedReason> {
  const stopped = (): UnjudgedReason =>
    stoppedTooEarly(
      signal.reason instanceof RunTimeout
        ? { why: "nothing judged", because: signal.reason.skipReason.reason }
        : "Interrupted before anything was judged.",
    );
  try {
    const discovered = await discoverTarget(client, target, readOnly);
    return signal.aborted ? stopped() : discovered;
  } catch (error) {
    if (signal.aborted) return stopped();
    if (error instanceof TargetLost) return stoppedTooEarly({ why: "nothing judged", because: error.message });
    if (isBudgetExhausted(error) || error instanceof TargetUnavailable)
      return stoppedTooEarly({ why: "nothing judged", because: error.skipReason.reason });
    throw error;
  }
}
