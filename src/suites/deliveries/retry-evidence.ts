import type { Delivery } from "../../evidence/delivery.ts";
import { type Unproven, unproven } from "../../run/judge/finding.ts";
import { need } from "../../run/skip-reason.ts";
import type { AllDeliveries } from "./probes.ts";
import { hookOfScript, type FailingReceivers, type ReceiverScript } from "./retry-probe.ts";
import { isSameEvent } from "./event.ts";
import { missingDeliveryExcuse } from "./missing-deliveries.ts";
import type { ObservedAttempts, TimeSpan } from "./retry-schedule.ts";
import { isSuccess, outcomeOf } from "../shared/response.ts";
import { deliveriesTo } from "../webhooks/await-deliveries.ts";

/** Failing receivers, and what had come to them by the end. */
export interface RetryEvidence {
  readonly sent: FailingReceivers;
  readonly all: AllDeliveries;
}

/** Why a receiver's deliveries tell nothing; `null` where they do. */
export function whyInconclusive(seen: RetryEvidence, script: ReceiverScript): Unproven | null {
  const { sent, all } = seen;
  const asked = sent.webhooks[script];
  if (asked === null) return unproven("the key has too few requests a minute for such a webhook", need("clock"));
  if (!isSuccess(sent.invoked)) return unproven(`the agent did not answer (${outcomeOf(sent.invoked)})`);
  const unable = missingDeliveryExcuse(sent.reach, all, [asked]);
  if (unable !== null) return unable;
  const came = deliveriesTo(all.deliveries, asked.hook);
  return sent.passed === null && came.length > 1 && attemptsTo(seen, script).length < 2
    ? unproven(
        "events of other invokes came that cannot be told from the first",
        "`agents.webhooked` in the target file: an agent that is called by nothing else",
      )
    : null;
}

/** The attempts of the one event that a receiver was to get. */
export function attemptsTo({ sent, all }: RetryEvidence, script: ReceiverScript): Delivery[] {
  const hook = hookOfScript(script);
  if (sent.passed !== null) return deliveriesTo(sent.passed.deliveries, hook);
  const came = deliveriesTo(all.deliveries, hook);
  const [first] = came;
  // The agent may have been invoked again since.
  return came.filter((each) => first === undefined || each === first || isSameEvent(first, each));
}

/**
 * When an attempt was made, in milliseconds of the target's time, as closely as is known. A clock that is moved need not tick by
 * itself: the real time since `first` may have passed for the target, or not.
 */
export function attemptSpan(delivery: Delivery, first: Delivery, { sent: { passed } }: RetryEvidence): TimeSpan {
  if (passed === null) return { fromMs: delivery.receivedMs, toMs: delivery.receivedMs };
  const { clockMs, clockAtMostMs, receivedMs } = delivery;
  const begun = passed.moves.find(({ toMs }) => toMs === clockAtMostMs);
  return {
    fromMs: Math.min(clockMs, begun?.fromMs ?? clockMs),
    toMs: clockAtMostMs + Math.max(0, receivedMs - first.receivedMs),
  };
}

/** Until when attempts were seen, in milliseconds of the same time as {@link attemptSpan}. */
export const observedUntilMs = ({ sent: { passed }, all }: RetryEvidence): number => passed?.untilMs ?? all.untilMs;

export function observedAttempts(came: readonly Delivery[], seen: RetryEvidence): ObservedAttempts {
  const [first] = came;
  return {
    made: came.map((each) => attemptSpan(each, first ?? each, seen)),
    untilMs: observedUntilMs(seen),
    unwatched: seen.sent.unwatched,
  };
}

/** Attempts that a sender makes twice come so close together. */
const twinWithinMs = 2000;

/** One of each two attempts, where all come in twos: receivers tolerate duplicates, and a schedule is of what is attempted. */
export function withoutDuplicates(came: readonly Delivery[], seen: RetryEvidence): Delivery[] {
  const firsts = came.filter((_, at) => at % 2 === 0);
  const isTwin = (first: Delivery, at: number): boolean => {
    const twin = came[2 * at + 1];
    return twin === undefined
      ? at === firsts.length - 1
      : attemptSpan(twin, first, seen).fromMs - attemptSpan(first, first, seen).toMs <= twinWithinMs;
  };
  return came.length >= leastTwins && firsts.every(isTwin) ? firsts : [...came];
}

/** Fewer are a first delivery and the retries that follow at once. */
const leastTwins = 4;

/** Whether so much time was watched after a delivery, with no interval in which nobody looked. */
export function isObservedFor(seen: RetryEvidence, delivery: Delivery, ms: number): boolean {
  const { fromMs, toMs } = attemptSpan(delivery, delivery, seen);
  const dueMs = toMs + ms;
  const isMissed = seen.sent.unwatched.some((span) => span.fromMs <= dueMs && fromMs <= span.toMs);
  return dueMs <= observedUntilMs(seen) && !isMissed;
}
