import type { Delivery } from "../../evidence/delivery.ts";
import type { Secret } from "../../evidence/redaction.ts";
import { type Receiver, ReceiverError, type ReceiverRecord, startReceiver } from "../../receiver/receiver.ts";
import type { Evidence, ProbeEvidence } from "../../evidence/evidence.ts";
import {
  mergeWatched,
  type RemainingRetries,
  remainingRetries,
  type WatchedDeliveries,
} from "../../suites/deliveries/retry-evidence.ts";
import { errorCodeOrText } from "../../base/errors.ts";
import { line, UsageError } from "../../base/line.ts";
import { warnOfUnwrittenFiles } from "../report-folder/write-files.ts";
import { UseCaseError } from "../use-case-error.ts";
import { redactorWithAlteredKeys } from "../judge/redactor.ts";
import {
  createWatchAccumulator,
  deleteWatchFiles,
  heartbeatIntervalMs,
  type Journal,
  type JournalLine,
  openJournal,
  readJournal,
  type WatchState,
} from "./watch-files.ts";
import { requirementsOf } from "../../report/model/requirements.ts";
import { assertOpenFiles } from "../../base/harness-limit.ts";
import type { Report } from "../../report/model/report.ts";
import { filterChecks, type Suite } from "../../run/judge/check.ts";
import type { Messages } from "../../run/skip-reason.ts";
import { suites } from "../../suites/all.ts";
import { rejudgeRun } from "../rejudge.ts";
import { type SavedRun, saveRun } from "../report-folder/saved-report.ts";

export interface WatchTimers {
  readonly now: () => number;
  readonly every: (ms: number, callback: () => void) => () => void;
}

interface WatchOptions {
  readonly folder: string;
  readonly state: WatchState;
  /** The run's webhook receiver, which the watch uses and closes. Without it, the watch starts a receiver itself. */
  readonly live?: Receiver | null;
  readonly evidence: { readonly deliveries: readonly Delivery[]; readonly probes: readonly ProbeEvidence[] };
  readonly secrets: readonly Secret[];
  readonly signal: AbortSignal;
  readonly onOutlook: (outlook: RemainingRetries) => void;
  readonly onLoss?: (sentence: string) => void;
  readonly onListening?: (() => void | Promise<void>) | undefined;
  readonly timers?: WatchTimers;
}

export interface WatchEnd {
  readonly kind: "over" | "interrupted";
  readonly watched: WatchedDeliveries;
  readonly outlook: RemainingRetries;
}

export interface Watch {
  readonly ended: Promise<WatchEnd>;
}

const machineTimers: WatchTimers = {
  now: () => Date.now(),
  every: (ms, callback) => {
    const timer = setInterval(callback, ms);
    return () => clearInterval(timer);
  },
};

/** Records deliveries that arrive after a run. `ended` resolves when no retry is due any more, or `signal` aborts. */
export async function startWatch(options: WatchOptions): Promise<Watch> {
  const { state, folder, signal, timers = machineTimers } = options;
  const now = (): number => timers.now() - state.epochMs;
  const accumulator = createWatchAccumulator(state.sinceMs, options.evidence.deliveries);
  for (const entry of readJournal(folder)) accumulator.add(entry);
  const stateNow = (isListening: boolean): { watched: WatchedDeliveries; outlook: RemainingRetries } => {
    const watched = accumulator.upTo(now(), isListening);
    return { watched, outlook: remainingRetries(options.evidence.probes, watched) };
  };
  const live = options.live ?? null;
  const before = stateNow(live !== null);
  if (isScheduleOver(before.outlook)) return { ended: Promise.resolve({ kind: "over", ...before }) };

  const { deep } = redactorWithAlteredKeys(options.secrets);
  const journal = openedJournal(folder, options.onLoss ?? warnOfUnwrittenFiles);
  const ended = Promise.withResolvers<WatchEnd>();
  const record = (entry: JournalLine): void => {
    try {
      journal.add(entry);
      accumulator.add(entry);
      const { watched, outlook } = stateNow(true);
      options.onOutlook(outlook);
      if (isScheduleOver(outlook)) ended.resolve({ kind: "over", watched, outlook });
    } catch (error) {
      ended.reject(error);
    }
  };
  const receiver =
    live ?? (await listenAgain(withContinuedCounts(state.receiver, before.watched.deliveries), now, journal));
  const timed = arrivalTimeCorrector([...before.watched.deliveries, ...receiver.deliveries()], now);
  let refused = 0;
  /** Records a gap in the journal if the receiver has refused connections since the last call. */
  const recordGap = (): void => {
    const isGap = receiver.refusedConnections() > refused;
    refused = receiver.refusedConnections();
    if (isGap) record({ began: now() });
  };
  const receive = (delivery: Delivery): void => {
    recordGap();
    record({ delivery: deep(timed(delivery)) });
  };
  await options.onListening?.();
  receiver.onDelivery(receive);
  record(live === null ? { began: now() } : { listening: now() });
  const known = new Set(before.watched.deliveries.map(({ id }) => id));
  // Records the deliveries that arrived between the end of the run and the start of the watch.
  for (const delivery of receiver.deliveries()) if (!known.has(delivery.id)) receive(delivery);
  const stopHeartbeat = timers.every(heartbeatIntervalMs, () => {
    recordGap();
    record({ listening: now() });
  });
  const interrupt = (): void => ended.resolve({ kind: "interrupted", ...stateNow(true) });
  signal.addEventListener("abort", interrupt, { once: true });
  if (signal.aborted) interrupt();

  const end = async (): Promise<WatchEnd> => {
    try {
      return await ended.promise;
    } finally {
      stopHeartbeat();
      signal.removeEventListener("abort", interrupt);
      await receiver.close();
      journal.add({ listening: now() });
      journal.close();
    }
  };
  return { ended: end() };
}

function openedJournal(folder: string, onLoss: (sentence: string) => void): Journal {
  let isReported = false;
  try {
    const journal = openJournal(folder);
    const add = (entry: JournalLine): void => {
      try {
        journal.add(entry);
      } catch (error) {
        if (!isReported) onLoss(`The journal in ${folder} could not be written (${errorCodeOrText(error)}).`);
        isReported = true;
      }
    };
    return { ...journal, add };
  } catch (error) {
    throw new UseCaseError({ kind: "unwritable watch", folder, reason: errorCodeOrText(error) });
  }
}

const isScheduleOver = ({ kind }: RemainingRetries): boolean => kind === "nothing" || kind === "over";

/**
 * Raises the counters of a saved receiver to the highest numbers in `deliveries`. Otherwise, new deliveries would get
 * the ids of earlier deliveries.
 */
function withContinuedCounts(record: ReceiverRecord, deliveries: readonly Delivery[]): ReceiverRecord {
  const arrivalsAt = (name: string): number[] =>
    deliveries.filter(({ hook }) => hook === name).map(({ attempt }) => attempt);
  return {
    ...record,
    hooks: record.hooks.map((hook) => ({ ...hook, arrivals: Math.max(hook.arrivals, ...arrivalsAt(hook.name)) })),
    deliveries: Math.max(record.deliveries, ...deliveries.map(({ id }) => Number(id.slice(1)))),
  };
}

/**
 * Returns a function that sets a delivery's arrival time by the wall clock, because the receiver's clock stops while the
 * machine sleeps.
 */
function arrivalTimeCorrector(known: readonly Delivery[], now: () => number): (delivery: Delivery) => Delivery {
  const arrivedMs = new Map(known.map(({ id, receivedMs }) => [id, receivedMs]));
  return (delivery) => {
    const receivedMs = arrivedMs.get(delivery.id) ?? now();
    arrivedMs.set(delivery.id, receivedMs);
    return { ...delivery, receivedMs };
  };
}

async function listenAgain(record: ReceiverRecord, now: () => number, journal: Journal): Promise<Receiver> {
  try {
    const time = { now, clockOffsetMs: () => 0, maxClockOffsetMs: () => 0 };
    return await startReceiver({ listen: record.listen, publicUrl: record.publicUrl, time, resumed: record });
  } catch (error) {
    journal.close();
    if (!(error instanceof ReceiverError)) throw error;
    throw new UsageError(
      line`Nobody can listen on ${record.listen} again, which is the address that the target was given. End what listens there, perhaps another watch, and start this one again.`,
    );
  }
}

export interface WatchAndRejudgeOptions extends Omit<WatchOptions, "evidence" | "timers"> {
  readonly kept: SavedRun;
  readonly messages: Messages;
}

export interface WatchResult {
  readonly kind: "over" | "interrupted";
  readonly outlook: RemainingRetries;
  readonly kept: SavedRun;
  readonly problem: string | null;
}

const minReceiverConnections = 32;

export async function watchAndRejudge({ kept, messages, ...watching }: WatchAndRejudgeOptions): Promise<WatchResult> {
  assertOpenFiles(minReceiverConnections);
  const { folder, state } = watching;
  const { deliveries, probes } = kept.evidence;
  const watch = await startWatch({ ...watching, evidence: { deliveries, probes } });
  const { kind, outlook, watched } = await watch.ended;
  const judged = outlook.kind === "nothing" ? kept : judgeWatched(kept, state, watched, messages);
  const { problem } = saveRun(folder, judged);
  if (kind === "over" && problem === null) deleteWatchFiles(folder);
  return { kind, outlook, kept: judged, problem };
}

export function judgeWatched(
  { report, evidence }: SavedRun,
  { epochMs }: WatchState,
  watched: WatchedDeliveries,
  messages: Messages,
): SavedRun {
  const all: Evidence = {
    ...evidence,
    deliveries: watched.deliveries,
    probes: mergeWatched(evidence.probes, watched),
  };
  const finished = new Date(epochMs + watched.untilMs).toISOString();
  const options = { requirements: requirementsOf(report), selected: judgedSuites(report) };
  return { report: { ...rejudgeRun(report, all, messages, options), finished }, evidence: all };
}

function judgedSuites({ findings, upcoming }: Report): Suite[] {
  const selected = new Set([...findings, ...upcoming].map(({ check }) => check));
  return filterChecks(suites, ({ id }) => selected.has(id));
}
