import type { Delivery } from "../evidence/delivery.ts";
import type { Exchange } from "../evidence/exchange.ts";
import { type Receiver, ReceiverProblem, type ReceiverRecord, startReceiver } from "../receiver/receiver.ts";
import { sampleOf } from "../rules/limits/sampling.ts";
import type { Target } from "../target/target.ts";
import type { Deadlines } from "../wire/deadlines.ts";
import { openTransport } from "../wire/transport.ts";
import { messageOf, traceOf } from "../base/errors.ts";
import { maxRequestsFor, maxRunTimeMs, type RunBounds, defaultBounds } from "./plan/bounds.ts";
import type { Suite } from "./judge/check.ts";
import { isBudgetExhausted } from "./discovery/answering-agent.ts";
import { type Client, type ClientContext, openClient, TargetUnavailable } from "./send/client.ts";
import { startStopSignal, RunTimeout } from "./time/stop-signal.ts";
import { executeProbes, type ProbeRun } from "./execute.ts";
import { type Judgement, judgeAll, resultsByProbe } from "./judge/judge.ts";
import type { SkipCause } from "./skip-reason.ts";
import { type DiscoveryResult, discoverTarget } from "./discovery/discover-target.ts";
import { withDerivedRoles } from "./discovery/derived-roles.ts";
import { hasFewRequests, mainKey } from "./plan/needs.ts";
import { startPacer } from "./send/pacing.ts";
import { createsWebhooks, type PlannedProbe, planProbes } from "./plan/plan.ts";
import { withWebhookAgent } from "./discovery/webhook-agent.ts";
import { startRecorder } from "./send/recorder.ts";
import { limitsOf } from "./plan/key-limits.ts";
import { type RunClock, startRunClock, type Timers } from "./time/run-clock.ts";

/** Bounds that are not given are the {@link defaultBounds}. */
export interface RunOptions extends Partial<RunBounds> {
  readonly target: Target;
  /** The selected checks. */
  readonly suites: readonly Suite[];
  /** Ends the run early; what was seen so far is judged. */
  readonly signal: AbortSignal;
  readonly deadlines?: Partial<Deadlines>;
  /** The receiver is left open, for its user to go on with and to close. Default `false`. */
  readonly keepsListening?: boolean;
  readonly onPlan?: (probes: number, target: Target) => void;
  readonly onProbe?: (run: ProbeRun) => void;
  readonly onWait?: (ms: number, why: string) => void;
  /** What real time is: the machine's, unless a run is given another. */
  readonly timers?: Timers;
}

/** What a run brought back. */
interface RunRecord {
  readonly target: Target;
  readonly judgements: readonly Judgement[];
  readonly runs: readonly ProbeRun[];
  readonly exchanges: readonly Exchange[];
  /** What the receiver got. */
  readonly deliveries: readonly Delivery[];
  /** What it takes to go on listening where the run stopped; `null` where nothing listened. */
  readonly receiver: ReceiverRecord | null;
  /** The receiver itself, where it was to be left open and is. */
  readonly listening: Receiver | null;
  /** Start of the run's time, in Unix milliseconds. */
  readonly epochMs: number;
  readonly requests: number;
  /** How often an agent was really run. */
  readonly executions: number;
  /** Requests that the network lost, and that were sent again. */
  readonly lost: number;
  readonly waitedMs: number;
  readonly durationMs: number;
}

/** Why nothing was judged; `unreachable` where nothing can be asked of the target, `stopped` where the run did not come that far. */
interface Unjudged {
  readonly kind: "nothing to judge";
  readonly why: "unreachable" | "stopped";
  readonly sentence: SkipCause;
}

export type RunResult =
  /** `stopped`: why the run was stopped early; `null` where it came to its end. */
  | (RunRecord & { readonly kind: "judged"; readonly stopped: string | null })
  /** Every check is there, and every one was skipped. */
  | (RunRecord & Unjudged);

export const noUsableKey =
  "The target has no key for general use: each is expired or restricted. Add a valid one under `keys`.";

/** Looks at the target, runs the probes that the suites need, and judges the evidence. Rejects for nothing that comes of a target. */
export async function runSuites(asked: RunOptions): Promise<RunResult> {
  const { signal, release } = startStopSignal(asked.signal, maxRunTimeMs({ ...defaultBounds, ...asked }));
  try {
    return await runUntil({ ...asked, signal });
  } finally {
    release();
  }
}

async function runUntil(asked: RunOptions): Promise<RunResult> {
  const { target, signal } = asked;
  const done: ProbeRun[] = [];
  const options: RunOptions = {
    ...asked,
    onProbe: (run) => {
      done.push(run);
      asked.onProbe?.(run);
    },
  };
  const key = mainKey(target);
  const parts = openParts(options);
  const receiver = receiverOnDemand(target, parts.time);
  // What is closed ends every wait for an answer or a delivery.
  const stop = (): void => void Promise.all([parts.transport.close(), receiver.close()]);
  signal.addEventListener("abort", stop, { once: true });
  try {
    if (key === null) return unjudgedRun(options, parts, stoppedFor(noUsableKey));
    const client = openClient(parts, key);
    const looked = await lookOrStop(client, target, parts);
    if (looked.kind !== "ready") return unjudgedRun(options, parts, looked);
    const known = withShownTier(looked.target, parts.pacer.detectedTier(key), key.name);
    return await judgeTarget(options, parts, client, { ...looked, target: known }, receiver);
  } catch (error) {
    return brokenRun(options, parts, done, error);
  } finally {
    signal.removeEventListener("abort", stop);
    await receiver.close();
    await parts.transport.close();
  }
}

/** What a run sends with and keeps its records in. */
function openParts(options: RunOptions): ClientContext {
  const bounds = { ...defaultBounds, ...options };
  const { target, signal, maxWaitMs } = bounds;
  const time = startRunClock({
    clock: target.clock,
    maxWaitMs,
    signal,
    ...(options.onWait && { onWait: options.onWait }),
    ...(options.timers && { timers: options.timers }),
  });
  const recorder = startRecorder();
  const transport = openTransport({
    now: time.now,
    clockOffsetMs: time.clockOffsetMs,
    network: target.network,
    onLost: (exchange) => {
      recorder.countLost();
      recorder.record(exchange, sampleOf(exchange, time.maxClockOffsetMs(), time.maxClockOffsetMs()));
    },
    ...(options.deadlines && { deadlines: options.deadlines }),
  });
  const pacer = startPacer(time, (each) => limitsOf(each, target));
  const maxRequests = maxRequestsFor(bounds.maxRequests, target);
  return { ...bounds, baseUrl: target.baseUrl, transport, recorder, pacer, time, maxRequests };
}

/** The receiver of a run: it listens from the first probe on that needs it. */
interface ReceiverOnDemand {
  /** @throws {ReceiverProblem} where it cannot listen, or nobody can reach it: then nothing is created that would call it */
  readonly open: () => Promise<Receiver>;
  readonly deliveries: () => readonly Delivery[];
  readonly record: () => ReceiverRecord | null;
  /** What it means for the run that there were more than it keeps; `null` where there were not. */
  readonly flood: () => string | null;
  /** Leaves it open for somebody else to close. */
  readonly handOver: () => Receiver | null;
  readonly close: () => Promise<void>;
}

function receiverOnDemand({ webhooks, network }: Target, time: RunClock): ReceiverOnDemand {
  let opening: Promise<Receiver> | null = null;
  let opened: Receiver | null = null;
  let isOver = false;
  const start = async (listen: string, publicUrl: string | null): Promise<Receiver> => {
    const receiver = await startReceiver({ listen, publicUrl, time, network });
    const unreachable = await receiver.reachable();
    if (unreachable === null && !isOver) return receiver;
    await receiver.close();
    throw new ReceiverProblem(unreachable ?? "the run is over");
  };
  return {
    open: async () => {
      if (webhooks === null) throw new Error("a probe needs a receiver, and the target has none");
      opening ??= start(webhooks.listen, webhooks.publicUrl);
      opened = await opening;
      return opened;
    },
    deliveries: () => opened?.deliveries() ?? [],
    record: () => opened?.record() ?? null,
    flood: () => (opened === null ? null : floodText(opened)),
    handOver: () => {
      const handed = opened;
      opened = null;
      return handed;
    },
    close: async () => {
      isOver = true;
      await opened?.close();
    },
  };
}

function floodText(receiver: Receiver): string | null {
  const unkept = Object.values(receiver.droppedByHook()).reduce((sum, count) => sum + count, 0);
  if (unkept === 0) return null;
  return `${receiver.record().deliveries} deliveries came, of which ${unkept} were counted and not kept`;
}

async function judgeTarget(
  options: RunOptions,
  parts: ClientContext,
  client: Client,
  { look, target: looked }: Extract<DiscoveryResult, { kind: "ready" }>,
  receiver: ReceiverOnDemand,
): Promise<RunResult> {
  const { recorder, pacer, time, signal, readOnly, maxWaitMs, maxWindow } = parts;
  const first = planProbes(options.suites, looked, { readOnly, maxWindow });
  const isHooked = first.some((each) => each.skip === null && createsWebhooks(each.probe));
  // A key with few requests has its limits tested before webhooks are made.
  const isTight = hasFewRequests(looked) || readOnly;
  const unasked = { target: looked, asked: Promise.resolve() };
  const { target: quiet, asked } =
    isHooked && !isTight ? await withWebhookAgent(client, looked, look, { signal }) : unasked;
  const needed = new Set(first.flatMap(({ probe }) => probe.needs));
  const target = isTight ? quiet : await withDerivedRoles(client, quiet, { time, signal, needed });
  const planned = target === looked ? first : planProbes(options.suites, target, { readOnly, maxWindow });
  options.onPlan?.(planned.length, target);
  const { runs, stopped } = await executeProbes(planned, {
    target,
    discovery: look,
    client,
    recorder,
    pacer,
    receiver: receiver.open,
    time,
    signal,
    readOnly: readOnly,
    maxWaitMs,
    asked,
    onProbe: (run) => options.onProbe?.(run),
  });
  return {
    kind: "judged",
    stopped: stopped ?? pacer.slowdown.unjudged() ?? receiver.flood(),
    ...recordOf(options, parts, { target, runs }),
    deliveries: receiver.deliveries(),
    receiver: receiver.record(),
    listening: options.keepsListening === true && !signal.aborted ? receiver.handOver() : null,
  };
}

/** A run at which the harness itself failed: what it had shown by then is judged, and of the rest each row says so. */
function brokenRun(options: RunOptions, parts: ClientContext, done: readonly ProbeRun[], error: unknown): RunResult {
  const { target } = options;
  const isDone = ({ probe, tested }: PlannedProbe): ProbeRun | undefined =>
    done.find(({ planned }) => planned.probe === probe && planned.tested?.tier === tested?.tier);
  const result = { kind: "broken", error: traceOf(error) } as const;
  const runs = planProbes(options.suites, target, parts).map(
    (planned): ProbeRun => isDone(planned) ?? { planned, result },
  );
  const stopped = `the harness itself failed: ${messageOf(error)}`;
  return { kind: "judged", stopped, ...recordOf(options, parts, { target, runs }) };
}

/** A run in which nothing of the target was judged: the row of every check says so, and what was answered is kept. */
function unjudgedRun(options: RunOptions, parts: ClientContext, unjudged: Unjudged): RunResult {
  const { target } = options;
  const result = { kind: "skipped", reason: "the run ended before anything could be judged", needs: null } as const;
  const runs = planProbes(options.suites, target, parts).map((planned) => ({ planned, result }));
  return { ...unjudged, ...recordOf(options, parts, { target, runs }) };
}

function recordOf(
  { suites }: RunOptions,
  { recorder, time }: ClientContext,
  { target, runs }: Pick<RunRecord, "target" | "runs">,
): RunRecord {
  return {
    target,
    judgements: judgeAll(suites, resultsByProbe(runs)),
    runs,
    exchanges: recorder.exchanges(),
    deliveries: [],
    receiver: null,
    listening: null,
    epochMs: Date.now() - time.now(),
    requests: recorder.sent(),
    executions: recorder.executions(),
    lost: recorder.lost(),
    waitedMs: time.waitedMs(),
    durationMs: time.now(),
  };
}

const stoppedFor = (sentence: SkipCause): Unjudged => ({ kind: "nothing to judge", why: "stopped", sentence });

async function lookOrStop(
  client: Client,
  target: Target,
  { signal, readOnly }: ClientContext,
): Promise<Extract<DiscoveryResult, { kind: "ready" }> | Unjudged> {
  const ended = (): Unjudged =>
    stoppedFor(
      signal.reason instanceof RunTimeout
        ? { why: "nothing judged", because: signal.reason.skipReason.reason }
        : "Interrupted before anything was judged.",
    );
  try {
    const looked = await discoverTarget(client, target, readOnly);
    if (signal.aborted) return ended();
    return looked.kind === "ready" || looked.why === "unreachable" ? looked : stoppedFor(looked.sentence);
  } catch (error) {
    if (signal.aborted) return ended();
    if (isBudgetExhausted(error) || error instanceof TargetUnavailable)
      return stoppedFor({ why: "nothing judged", because: error.skipReason.reason });
    throw error;
  }
}

/** Where nobody named the main key's tier, its headers may have shown it. */
function withShownTier(target: Target, tier: string | null, name: string): Target {
  const key = target.keys[name];
  if (key === undefined || key.tier !== null || tier === null) return target;
  return { ...target, keys: { ...target.keys, [name]: { ...key, tier, isTierDetected: true } } };
}
