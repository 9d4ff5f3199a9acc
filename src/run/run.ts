import type { Delivery } from "../evidence/delivery.ts";
import type { Exchange } from "../evidence/exchange.ts";
import type { Receiver, ReceiverRecord } from "../receiver/receiver.ts";
import { sampleOf } from "../rules/limits/sample.ts";
import { withConfirmedFreshness } from "../target/freshness.ts";
import type { PublishedTier } from "../spec/tiers.ts";
import { isLoopback } from "../target/base-url.ts";
import { type Target, type TargetKey, withDetectedTier } from "../target/target.ts";
import type { Deadlines } from "../wire/deadlines.ts";
import { acceptsConnection } from "../wire/accepts-connection.ts";
import { openTransport } from "../wire/transport.ts";
import { messageOf, traceOf } from "../base/errors.ts";
import { HarnessLimit, harnessLimitOf } from "../base/harness-limit.ts";
import { maxRequestsFor, maxRunTimeMs, type RunBounds, defaultBounds } from "./plan/bounds.ts";
import type { Suite } from "./judge/check.ts";
import { describeDisturbance, isAboutCounts } from "./disturbances/disturbance.ts";
import { type DisturbanceWatch, watchDisturbances } from "./disturbances/watch.ts";
import { withoutDisturbed } from "./disturbances/without-disturbed.ts";
import { type Client, type ClientContext, openClient } from "./send/client.ts";
import { startStopSignal } from "./time/stop-signal.ts";
import { executeProbes } from "./execute.ts";
import type { ProbeRun } from "./probe-run.ts";
import { receiverOnDemand } from "./receiver-on-demand.ts";
import { type Judgement, judgeAll, resultsByProbe } from "./judge/judge.ts";
import { type SkipCause, TargetLost, TargetUnavailable, RunTimeout, isBudgetExhausted } from "./skip-reason.ts";
import { withoutVerdict } from "./judge/without-verdict.ts";
import { type DiscoveryResult, discoverTarget } from "./discovery/discover-target.ts";
import { withDerivedRoles } from "./discovery/derived-roles.ts";
import { hasFewRequests, mainKey } from "./plan/needs.ts";
import { startPacer } from "./send/pacing.ts";
import { createsWebhooks, type PlannedProbe, planProbes } from "./plan/plan.ts";
import { withWebhookAgent } from "./discovery/webhook-agent.ts";
import { defaultDeadAfterMs, defaultIdlePollMs, type Outage, watchOutages } from "./send/outages.ts";
import { isGatewayError } from "./send/retry.ts";
import { startRecorder } from "./send/recorder.ts";
import { limitsOf } from "./plan/key-limits.ts";
import { startRunClock, type Timers } from "./time/run-clock.ts";

/** Options of a run. Omitted bounds come from {@link defaultBounds}. */
export interface RunOptions extends Partial<RunBounds> {
  readonly target: Target;
  /** The selected checks, by section. */
  readonly suites: readonly Suite[];
  /** Stops the run early. The evidence so far is judged. */
  readonly signal: AbortSignal;
  readonly deadlines?: Partial<Deadlines>;
  /** How long the target may refuse connections before it counts as dead, in milliseconds. Default 8000. */
  readonly deadAfterMs?: number;
  /** Leaves the receiver open. The caller must close it. Default `false`. */
  readonly keepsListening?: boolean;
  /** Called if the headers do not show the tier of the main key. May return the tier. */
  readonly onUnknownTier?: (keyName: string) => Promise<PublishedTier | null>;
  readonly onPlan?: (probes: number, target: Target) => void;
  readonly onProbe?: (run: ProbeRun) => void;
  readonly onWait?: (ms: number, why: string) => void;
  /** The source of real time. Default: the machine's clock. */
  readonly timers?: Timers;
  /** Looks out for other runs of this machine, and other clients, that use the same keys. Default `false`. */
  readonly announces?: boolean;
}

/** Everything that a run recorded. */
interface RunRecord {
  readonly target: Target;
  readonly judgements: readonly Judgement[];
  readonly runs: readonly ProbeRun[];
  readonly exchanges: readonly Exchange[];
  /** Deliveries to the receiver. */
  readonly deliveries: readonly Delivery[];
  /** The state of the receiver, so that another process can continue to listen. `null` if nothing listened. */
  readonly receiver: ReceiverRecord | null;
  /** The open receiver, if `keepsListening` was set. */
  readonly listening: Receiver | null;
  /** Start of the run's clock, in Unix milliseconds. */
  readonly epochMs: number;
  readonly requests: number;
  /** Number of agent executions. */
  readonly executions: number;
  /** Number of requests that were sent again because their connection broke. */
  readonly lost: number;
  /** When the target was away, as part of a sentence. `null` if it never was. */
  readonly away: string | null;
  readonly waitedMs: number;
  readonly durationMs: number;
}

/** Why nothing was judged. `unreachable`: the target cannot be used. `stopped`: the run stopped too early. */
interface Unjudged {
  readonly kind: "nothing to judge";
  readonly why: "unreachable" | "stopped";
  readonly sentence: SkipCause;
}

export type RunResult =
  /** `stopped` says why the run stopped early. `null` if it was complete. */
  | (RunRecord & { readonly kind: "judged"; readonly stopped: string | null })
  /** The record of a run that judged nothing: every check is skipped. */
  | (RunRecord & Unjudged);

export const noUsableKey =
  "The target has no key for general use: each is expired or restricted. Add a valid one under `keys`.";

/**
 * Discovers the target, runs the probes that the suites need, and judges the evidence. Never rejects because of a
 * target's behaviour.
 */
export async function runSuites(options: RunOptions): Promise<RunResult> {
  const { signal, stop, release, end } = startStopSignal(
    options.signal,
    maxRunTimeMs({ ...defaultBounds, ...options }),
  );
  try {
    const target = await withConfirmedFreshness(options.target);
    const result = await runWithSignal({ ...options, target, signal, onHarnessLimit: stop });
    // A receiver that stays open still needs the run's clock for its replies.
    if (result.listening === null) end();
    if (!(signal.reason instanceof HarnessLimit)) return result;
    const judgements = withoutVerdict(result.judgements, signal.reason);
    return { ...result, kind: "judged", stopped: signal.reason.message, judgements };
  } finally {
    release();
  }
}

interface StoppableRun extends RunOptions {
  /** Stops the run, because this machine lacks a resource. */
  readonly onHarnessLimit: (limit: HarnessLimit) => void;
}

async function runWithSignal(given: StoppableRun): Promise<RunResult> {
  const { target, signal } = given;
  const done: ProbeRun[] = [];
  const options: StoppableRun = {
    ...given,
    onProbe: (run) => {
      done.push(run);
      watch.ended(run);
      given.onProbe?.(run);
    },
  };
  const key = mainKey(target);
  const context = createContext(options);
  const { time } = context;
  const isSimulated = given.timers !== undefined;
  const watch = watchDisturbances({ target, time, isSimulated, announces: given.announces ?? false });
  const receiver = receiverOnDemand(target, time);
  // Closing ends every wait for a response or a delivery.
  const stop = (): void => void Promise.all([context.transport.close(), receiver.close()]);
  signal.addEventListener("abort", stop, { once: true });
  try {
    if (key === null) return unjudgedRun(options, context, stoppedBecause(noUsableKey));
    const client = openClient(context, key);
    const discovered = await withReturn(context, () => discoverOrStop(client.begin(), target, context));
    if (discovered.kind !== "ready") return unjudgedRun(options, context, discovered);
    const known = await withKnownTier(discovered.target, key, context, options.onUnknownTier);
    return await judgeTarget(options, context, client, { ...discovered, target: known }, { receiver, watch });
  } catch (error) {
    const limit = harnessLimitOf(error);
    if (limit !== null) options.onHarnessLimit(limit);
    return brokenRun(options, context, done, error);
  } finally {
    signal.removeEventListener("abort", stop);
    watch.close();
    context.outages.close();
    await receiver.close();
    await context.transport.close();
  }
}

/** Adds the tier of the main key, if its headers show it or the user tells it. */
async function withKnownTier(
  target: Target,
  key: TargetKey,
  { pacer }: Pick<ClientContext, "pacer">,
  onUnknownTier: RunOptions["onUnknownTier"],
): Promise<Target> {
  if (key.tier !== null || pacer.detectedTier(key) !== null)
    return withDetectedTier(target, key.name, pacer.detectedTier(key));
  const tier = (await onUnknownTier?.(key.name)) ?? null;
  if (tier !== null) pacer.assumeTier(key, tier);
  return withDetectedTier(target, key.name, tier);
}

/** Creates what a run sends and records with. */
function createContext(options: StoppableRun): ClientContext {
  const bounds = { ...defaultBounds, ...options };
  const { target, signal, maxWaitMs } = bounds;
  const time = startRunClock({
    clock: target.clock,
    maxWaitMs,
    signal,
    onWait: options.onWait,
    timers: options.timers,
  });
  const recorder = startRecorder();
  const outages = watchOutages({
    now: time.now,
    connect: () => acceptsConnection(target.baseUrl, target.network),
    repeat: (exchange, during) => repeatExchange(exchange, during, { transport, recorder, time }),
    sleep: (ms) => time.sleepReal(ms),
    onReturn: () => recorder.countOutage(time.now()),
    deadAfterMs: options.deadAfterMs ?? defaultDeadAfterMs,
    idlePollMs: defaultIdlePollMs[isLoopback(target.baseUrl) ? "loopback" : "elsewhere"],
  });
  const transport = openTransport({
    now: time.now,
    clockOffsetMs: time.clockOffsetMs,
    network: target.network,
    onHarnessLimit: options.onHarnessLimit,
    onLost: (exchange) => {
      recorder.countLost();
      outages.observeResent(exchange);
      recorder.record(exchange, sampleOf(exchange, time.maxClockOffsetMs(), time.maxClockOffsetMs()));
    },
    ...(options.deadlines && { deadlines: options.deadlines }),
  });
  const pacer = startPacer(time, (each) => limitsOf(each, target));
  const maxRequests = maxRequestsFor(bounds.maxRequests, target);
  return { ...bounds, baseUrl: target.baseUrl, transport, recorder, pacer, time, outages, maxRequests };
}

/**
 * Sends the request of an exchange again, and records the new exchange. The first response after an outage is recorded
 * as a part of it: a server that was restarted may count and measure from zero again.
 */
async function repeatExchange(
  { key, since, request: { method, url, headers, body } }: Exchange,
  during: Outage["kind"] | null,
  { transport, recorder, time }: Pick<ClientContext, "transport" | "recorder" | "time">,
): Promise<Exchange> {
  const text = body.kind === "text" ? body.text : null;
  const sent = await transport.open({ method, url, headers, body: text, key, deadlines: { headMs: 5000 } }).finished;
  const isLost = sent.answer.kind === "unanswered" || isGatewayError(sent.answer);
  const reconnect = during ?? (isLost ? "gateway" : null);
  const exchange: Exchange = {
    ...sent,
    ...(reconnect === null ? {} : { reconnect }),
    ...(since === undefined ? {} : { since }),
  };
  recorder.record(exchange, sampleOf(exchange, time.maxClockOffsetMs(), time.maxClockOffsetMs()));
  return exchange;
}

/** Does something before the first probe. Does it once more if the target went away meanwhile, and came back. */
async function withReturn<T>({ outages }: ClientContext, action: () => Promise<T>): Promise<T> {
  const before = outages.count();
  const result = await action();
  return outages.count() === before || !(await outages.awaitReturn()) ? result : action();
}

async function judgeTarget(
  options: RunOptions,
  context: ClientContext,
  client: Client,
  { discovery, target: discovered }: Extract<DiscoveryResult, { kind: "ready" }>,
  { receiver, watch }: { readonly receiver: ReturnType<typeof receiverOnDemand>; readonly watch: DisturbanceWatch },
): Promise<RunResult> {
  const { recorder, pacer, time, signal, readOnly, maxWaitMs, maxWindow } = context;
  const first = planProbes(options.suites, discovered, { readOnly, maxWindow });
  const usesWebhooks = first.some((each) => each.skip === null && createsWebhooks(each.probe));
  // With a key of few requests, the limits are tested before any webhook is created.
  const mustSaveRequests = hasFewRequests(discovered) || readOnly;
  const unchanged = { target: discovered, pendingRequests: Promise.resolve() };
  const { target: assigned, pendingRequests } =
    usesWebhooks && !mustSaveRequests
      ? await withReturn(context, () => withWebhookAgent(client.begin(), discovered, discovery, { signal }))
      : unchanged;
  const needed = new Set(first.flatMap(({ probe }) => probe.needs));
  const target = mustSaveRequests
    ? assigned
    : await withReturn(context, () => withDerivedRoles(client.begin(), assigned, { time, signal, needed }));
  const planned = target === discovered ? first : planProbes(options.suites, target, { readOnly, maxWindow });
  options.onPlan?.(planned.length, target);
  const execution = {
    target,
    discovery,
    client,
    recorder,
    pacer,
    outages: context.outages,
    receiver: receiver.open,
    time,
    signal,
    readOnly,
    maxWaitMs,
    pendingRequests,
    onProbe: (run: ProbeRun) => options.onProbe?.(run),
  };
  const executed = await executeProbes(planned, execution);
  const limitsBroken = (): boolean => hasBrokenLimits(options.suites, executed.runs);
  const disturbances = await watch.find(target, { client: client.begin(), recorder }, limitsBroken);
  const reviews = planned.filter(({ probe }) => probe.stage === "review");
  const runs = await withoutDisturbed(disturbances, {
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
    stopped: executed.stopped ?? disturbed ?? pacer.slowdown.describeUnanswered() ?? receiver.floodReason(),
    ...recordOf(options, context, { target, runs }),
    deliveries: receiver.deliveries(),
    receiver: receiver.record(),
    listening: options.keepsListening === true && !signal.aborted ? receiver.handOver() : null,
  };
}

/** Whether a clause about the number of requests seems broken. */
const hasBrokenLimits = (suites: readonly Suite[], runs: readonly ProbeRun[]): boolean =>
  judgeAll(suites, resultsByProbe(runs)).some(
    ({ check, finding }) => finding.kind === "breach" && isAboutCounts(check.clause),
  );

/** The result if the harness itself failed. Finished probes are judged, the others are marked as failed. */
function brokenRun(options: RunOptions, context: ClientContext, done: readonly ProbeRun[], error: unknown): RunResult {
  const { target } = options;
  const finishedRun = ({ probe, tested }: PlannedProbe): ProbeRun | undefined =>
    done.find(({ planned }) => planned.probe === probe && planned.tested?.tier === tested?.tier);
  const result = { kind: "broken", error: traceOf(error) } as const;
  const runs = planProbes(options.suites, target, context).map(
    (planned): ProbeRun => finishedRun(planned) ?? { planned, result },
  );
  const stopped = `the harness itself failed: ${messageOf(error)}`;
  return { kind: "judged", stopped, ...recordOf(options, context, { target, runs }) };
}

/** The result if nothing was judged. Every check is skipped, and the exchanges so far are included. */
function unjudgedRun(options: RunOptions, context: ClientContext, unjudged: Unjudged): RunResult {
  const { target } = options;
  const result = { kind: "skipped", reason: "the run stopped before anything could be judged", needs: null } as const;
  const runs = planProbes(options.suites, target, context).map((planned) => ({ planned, result }));
  return { ...unjudged, ...recordOf(options, context, { target, runs }) };
}

function recordOf(
  { suites }: RunOptions,
  { recorder, time, outages }: ClientContext,
  { target, runs }: Pick<RunRecord, "target" | "runs">,
): RunRecord {
  return {
    target,
    judgements: judgeAll(suites, resultsByProbe(runs)),
    runs,
    exchanges: recorder.recorded(),
    deliveries: [],
    receiver: null,
    listening: null,
    epochMs: Date.now() - time.now(),
    requests: recorder.sent(),
    executions: recorder.executions(),
    lost: recorder.lost(),
    away: outages.describe(),
    waitedMs: time.waitedMs(),
    durationMs: time.now(),
  };
}

const stoppedBecause = (sentence: SkipCause): Unjudged => ({ kind: "nothing to judge", why: "stopped", sentence });

async function discoverOrStop(
  client: Client,
  target: Target,
  { signal, readOnly }: ClientContext,
): Promise<Extract<DiscoveryResult, { kind: "ready" }> | Unjudged> {
  const stopped = (): Unjudged =>
    stoppedBecause(
      signal.reason instanceof RunTimeout
        ? { why: "nothing judged", because: signal.reason.skipReason.reason }
        : "Interrupted before anything was judged.",
    );
  try {
    const discovered = await discoverTarget(client, target, readOnly);
    if (signal.aborted) return stopped();
    return discovered.kind === "ready" || discovered.why === "unreachable"
      ? discovered
      : stoppedBecause(discovered.sentence);
  } catch (error) {
    if (signal.aborted) return stopped();
    if (error instanceof TargetLost) return stoppedBecause({ why: "nothing judged", because: error.message });
    if (isBudgetExhausted(error) || error instanceof TargetUnavailable)
      return stoppedBecause({ why: "nothing judged", because: error.skipReason.reason });
    throw error;
  }
}
