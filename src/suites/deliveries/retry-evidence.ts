import { getPath, isObject } from "../../base/json.ts";
import { memoizeByObject } from "../../base/memoize.ts";
import { sumOf } from "../../base/numbers.ts";
import type { Delivery } from "../../evidence/delivery.ts";
import { type Unproven, unproven } from "../../run/judge/finding.ts";
import { need } from "../../run/skip-reason.ts";
import { isSuccess, outcomeOf } from "../shared/response.ts";
import { itemsIn } from "../webhooks/checks.ts";
import { deliveriesTo } from "../webhooks/create-webhook.ts";
import { type AllDeliveries, isSameEvent, isToWebhook, missingDeliveryExcuse, withoutPings } from "./events.ts";
import { type FailingReceivers, failingReceivers, hookOfScript, type ReceiverScript } from "./retry-probe.ts";
import { allowedLateMs, explainAttempts, maxPauseMs, type ObservedAttempts, type TimeSpan } from "./retry-schedule.ts";
import { deliveryPolicy } from "../../spec/events-and-errors.ts";
import type { ProbeResult } from "../../evidence/evidence.ts";
import { allDeliveries } from "./probes.ts";

export interface RetryEvidence {
  readonly sent: FailingReceivers;
  readonly all: AllDeliveries;
}

export function inconclusiveReason(evidence: RetryEvidence, script: ReceiverScript): Unproven | null {
  const { sent, all } = evidence;
  const webhook = sent.webhooks[script];
  if (webhook === null || webhook === undefined)
    return unproven("the key has too few requests a minute for such a webhook", need("clock"));
  if (!isSuccess(sent.invoked)) return unproven(`the invoke did not succeed (${outcomeOf(sent.invoked)})`);
  const excuse = missingDeliveryExcuse(sent.reach, all, [webhook]);
  if (excuse !== null) return excuse;
  const arrived = deliveriesTo(withoutPings(all.deliveries), webhook.hook);
  const attempts = attemptsTo(evidence, script);
  if (attempts[0] !== undefined && attempts[0].attempt > 1 && !repliesAlike.has(script))
    return unproven(
      "a message of an unpublished type, such as a ping, came first and got the reply meant for the event",
    );
  return sent.passed === null && arrived.length > 1 && attempts.length < 2
    ? unproven(
        "events of other invokes arrived that cannot be distinguished from the first event",
        "`agents.webhooked` in the target file: an agent that is called by nothing else",
      )
    : null;
}

/** Receivers whose first and second replies are alike, so that a ping before the event changes nothing. */
const repliesAlike: ReadonlySet<ReceiverScript> = new Set([
  "failing",
  "recovering",
  "twoEvents",
  "unnamedSuccess",
  "ownHeaders",
]);

/** Returns the attempts to deliver the first event to a receiver. Leaves out pings: a sender need not repeat them. */
export function attemptsTo({ sent, all }: RetryEvidence, script: ReceiverScript): Delivery[] {
  const hook = hookOfScript(script);
  if (sent.passed !== null) return deliveriesTo(withoutPings(sent.passed.deliveries), hook);
  const arrived = deliveriesTo(withoutPings(all.deliveries), hook);
  const [first] = arrived;
  return arrived.filter((each) => first === undefined || each === first || isSameEvent(first, each));
}

export function attemptSpan(attempt: Delivery, first: Delivery, evidence: RetryEvidence): TimeSpan {
  const { passed } = evidence.sent;
  const { clockMs, clockAtMostMs, receivedMs } = attempt;
  const blocked = blockedBefore(attempt, passed?.deliveries ?? evidence.all.deliveries);
  if (passed === null) return { fromMs: blocked?.fromMs ?? receivedMs, toMs: receivedMs };
  const advance = passed.moves.find(({ toMs }) => toMs === clockAtMostMs);
  return {
    fromMs: Math.min(clockMs, advance?.fromMs ?? clockMs, blocked?.fromClockMs ?? clockMs),
    toMs: clockAtMostMs + Math.max(0, receivedMs - first.receivedMs),
  };
}

/** A period in which the sender sent nothing, because it waited for a withheld reply. */
interface BlockedTime {
  readonly fromMs: number;
  readonly fromClockMs: number;
  readonly toMs: number;
}

/** A delivery that comes within this time after the end of a {@link BlockedTime} counts as delayed by it. */
const followsWithinMs = 1000;

const blockedBefore = ({ attempt, receivedMs }: Delivery, deliveries: readonly Delivery[]): BlockedTime | undefined =>
  attempt === 2
    ? blockedTimes(deliveries).find(({ toMs }) => receivedMs >= toMs && receivedMs - toMs < followsWithinMs)
    : undefined;

const blockedTimes = memoizeByObject((deliveries: readonly Delivery[]): readonly BlockedTime[] => {
  const hooks = (["held", "endless", "late", "silent"] as const).map(hookOfScript);
  const waits = deliveries
    .filter(({ hook, attempt }) => attempt === 1 && hooks.includes(hook))
    .map((each) => ({ fromMs: each.receivedMs, fromClockMs: each.clockMs, toMs: endOfReply(each) }));
  const isConcurrent = waits.some(({ fromMs, toMs }) =>
    deliveries.some(({ receivedMs }) => receivedMs > fromMs && receivedMs < toMs),
  );
  if (isConcurrent) return [];
  const blocked: BlockedTime[] = [];
  for (const wait of waits) {
    const last = blocked.at(-1);
    if (last !== undefined && wait.fromMs - last.toMs < followsWithinMs)
      blocked.splice(-1, 1, { ...last, toMs: wait.toMs });
    else blocked.push(wait);
  }
  return blocked;
});

function endOfReply({ reply, receivedMs }: Delivery): number {
  if (reply.kind === "answered") return reply.endMs;
  return reply.kind === "silent" || reply.kind === "endless" ? (reply.leftMs ?? Infinity) : receivedMs;
}

export const observedUntilMs = ({ sent: { passed }, all }: RetryEvidence): number => passed?.untilMs ?? all.untilMs;

export function observedAttempts(attempts: readonly Delivery[], evidence: RetryEvidence): ObservedAttempts {
  const [first] = attempts;
  return {
    created: attempts.map((each) => attemptSpan(each, first ?? each, evidence)),
    untilMs: observedUntilMs(evidence),
    unwatched: evidence.sent.unwatched,
  };
}

const maxDuplicateGapMs = 2000;

/** Minimum number of attempts to recognize duplicates. With fewer, the second can be the documented immediate retry. */
const minDuplicated = 4;

/** Drops every second attempt if the sender makes each attempt twice. Receivers should tolerate such duplicates. */
export function withoutDuplicates(attempts: readonly Delivery[], evidence: RetryEvidence): Delivery[] {
  const firsts = attempts.filter((_, at) => at % 2 === 0);
  const isDuplicated = (first: Delivery, at: number): boolean => {
    const duplicate = attempts[2 * at + 1];
    return duplicate === undefined
      ? at === firsts.length - 1
      : attemptSpan(duplicate, first, evidence).fromMs - attemptSpan(first, first, evidence).toMs <= maxDuplicateGapMs;
  };
  return attempts.length >= minDuplicated && firsts.every(isDuplicated) ? firsts : [...attempts];
}

export function isObservedFor(evidence: RetryEvidence, attempt: Delivery, ms: number): boolean {
  const { fromMs, toMs } = attemptSpan(attempt, attempt, evidence);
  const untilMs = toMs + ms;
  const hasGap = evidence.sent.unwatched.some((span) => span.fromMs <= untilMs && fromMs <= span.toMs);
  return untilMs <= observedUntilMs(evidence) && !hasGap;
}

/** Whether the target marks a failed delivery, or its webhook, as failed. `unknown`: the list shows no known state. */
type FailureMark =
  | { readonly kind: "marked"; readonly which: "delivery" | "webhook" }
  | { readonly kind: "not marked"; readonly states: readonly string[] }
  | { readonly kind: "unknown" };

const stateNames = ["status", "state", "delivery_status", "outcome", "result"];
const failedWord = /fail|dead|exhaust|abandon|gave.?up|undeliver|disabled|suspend|inactive|error/i;
const otherWord = /pending|queue|schedul|retry|progress|wait|active|enabled|deliver|success|sent|complete|ok/i;

export function findFailureMark(list: unknown, record: unknown): FailureMark {
  const items = itemsIn(list) ?? [];
  const states = items.flatMap(statesOf);
  if (states.some((each) => failedWord.test(each)) || items.some((each) => getPath(each, "failed") === true))
    return { kind: "marked", which: "delivery" };
  const records = [list, getPath(list, "webhook"), record, getPath(record, "data"), getPath(record, "webhook")];
  if (records.flatMap(statesOf).some((each) => failedWord.test(each))) return { kind: "marked", which: "webhook" };
  const known = states.filter((each) => otherWord.test(each));
  return known.length > 0 ? { kind: "not marked", states: known } : { kind: "unknown" };
}

const statesOf = (value: unknown): string[] =>
  isObject(value) ? stateNames.map((name) => value[name]).filter((state) => typeof state === "string") : [];

interface ProbeEntry {
  readonly probe: string;
  readonly result: ProbeResult;
}

export interface WatchedDeliveries {
  readonly deliveries: readonly Delivery[];
  readonly untilMs: number;
  readonly unwatched: readonly TimeSpan[];
}

/** Retries that the target can still send after the run. All times are in ms since the run's start. */
export type RemainingRetries =
  | { readonly kind: "nothing"; readonly reason: string }
  | {
      readonly kind: "awaited";
      readonly attempts: number;
      readonly lastMs: number;
      /** Due time of the next attempt. Assumes that each delay starts at the previous attempt, not at the first. */
      readonly nextMs: number;
      /** Time by which the retry schedule has ended under every reading of the document. */
      readonly latestMs: number;
    }
  /** No attempt is due. The harness still listens until `untilMs`, for an attempt too many. */
  | { readonly kind: "quiet"; readonly attempts: number; readonly lastMs: number; readonly untilMs: number }
  | { readonly kind: "over"; readonly attempts: number };

export function remainingRetries(probes: readonly ProbeEntry[], watched: WatchedDeliveries): RemainingRetries {
  const after = mergeWatched(probes, watched);
  const sent = evidenceOf<FailingReceivers>(after, failingReceivers.name);
  const all = evidenceOf<AllDeliveries>(after, allDeliveries.name);
  if (sent === null || all === null) return noRetriesLeft("no webhook was created whose receiver fails");
  if (sent.passed !== null) return noRetriesLeft("the target's clock covered the whole retry schedule");
  const evidence = { sent, all };
  const observed = withoutDuplicates(attemptsTo(evidence, "failing"), evidence);
  const [first, last] = [observed[0], observed.at(-1)];
  if (first === undefined || last === undefined)
    return noRetriesLeft("no delivery has reached the receiver that fails");
  const explanations = explainAttempts(observedAttempts(observed, evidence));
  const attempts = observed.length;
  const lastMs = last.receivedMs;
  if (explanations.some(({ kind }) => kind === "under way")) {
    const nextMs = lastMs + (delaysMs[attempts - 1] ?? longestDelayMs);
    return { kind: "awaited", attempts, lastMs, nextMs, latestMs: first.receivedMs + wholeScheduleMs };
  }
  const isComplete = explanations.some(({ kind }) => kind === "complete");
  const untilMs = lastMs + (isComplete ? maxPauseMs : shortPauseMs);
  const isMissed = watched.unwatched.some(({ fromMs, toMs }) => fromMs <= untilMs && toMs >= lastMs);
  if (watched.untilMs > untilMs || isMissed) return { kind: "over", attempts };
  return { kind: "quiet", attempts, lastMs, untilMs };
}

/** Time to keep listening after the last attempt if the attempts already break the schedule. */
const shortPauseMs = 60_000;

const noRetriesLeft = (reason: string): RemainingRetries => ({ kind: "nothing", reason });

const { retryDelaysMs } = deliveryPolicy;
const delaysMs: readonly number[] = retryDelaysMs.slice(1);
const longestDelayMs = Math.max(...delaysMs);
/** Longest time from the first attempt to the last: six attempts, each as late as allowed. */
const wholeScheduleMs = sumOf(retryDelaysMs.map((ms) => ms + allowedLateMs(ms)));

export function mergeWatched<P extends ProbeEntry>(probes: readonly P[], watched: WatchedDeliveries): P[] {
  const { untilMs, unwatched } = watched;
  const deliveries = watched.deliveries.filter(isToWebhook);
  const changes: Readonly<Record<string, object>> = {
    [allDeliveries.name]: { deliveries, untilMs } satisfies Partial<AllDeliveries>,
    [failingReceivers.name]: { unwatched } satisfies Partial<FailingReceivers>,
  };
  return probes.map((each) => {
    const change = changes[each.probe];
    if (each.result.kind !== "ran" || change === undefined) return each;
    return { ...each, result: { ...each.result, evidence: { ...(each.result.evidence as object), ...change } } };
  });
}

function evidenceOf<E>(probes: readonly ProbeEntry[], name: string): E | null {
  const result = probes.find(({ probe }) => probe === name)?.result;
  // The caller must pass as `E` the type of the evidence that the probe `name` returns.
  return result?.kind === "ran" ? (result.evidence as E) : null;
}
