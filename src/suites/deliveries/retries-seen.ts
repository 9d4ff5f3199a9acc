import type { Delivery } from "../../evidence/delivery.ts";
import { type Unproven, unproven } from "../../run/finding.ts";
import { need } from "../../run/lack.ts";
import type { Delivered } from "./probes.ts";
import { hookOf, type Retried, type Script } from "./retries.ts";
import { isSameEvent } from "./event.ts";
import { excusedSilence } from "./silence.ts";
import type { Attempts, DelaySpan } from "./retry-schedule.ts";
import { isSuccess, outcomeOf } from "../answers/shape.ts";
import { cameTo } from "../webhooks/calls.ts";

/** Failing receivers, and what had come to them by the end. */
export interface RetriesSeen {
  readonly sent: Retried;
  readonly all: Delivered;
}

/** Why a receiver's deliveries tell nothing; `null` where they do. */
export function unableToTell(seen: RetriesSeen, script: Script): Unproven | null {
  const { sent, all } = seen;
  const asked = sent.webhooks[script];
  if (asked === null) return unproven("the key has too few requests a minute for such a webhook", need("clock"));
  if (!isSuccess(sent.invoked)) return unproven(`the agent did not answer (${outcomeOf(sent.invoked)})`);
  const unable = excusedSilence(sent.reach, all, [asked]);
  if (unable !== null) return unable;
  const came = cameTo(all.deliveries, asked.hook);
  return sent.passed === null && came.length > 1 && cameToScript(seen, script).length < 2
    ? unproven(
        "events of other invokes came that cannot be told from the first",
        "`agents.webhooked` in the target file: an agent that is called by nothing else",
      )
    : null;
}

/** The attempts of the one event that a receiver was to get. */
export function cameToScript({ sent, all }: RetriesSeen, script: Script): Delivery[] {
  const hook = hookOf(script);
  if (sent.passed !== null) return cameTo(sent.passed.deliveries, hook);
  const came = cameTo(all.deliveries, hook);
  const [first] = came;
  // The agent may have been invoked again since.
  return came.filter((each) => first === undefined || each === first || isSameEvent(first, each));
}

/**
 * When an attempt was made, in milliseconds of the target's time, as closely as is known. A clock that is moved need not tick by
 * itself: the real time since `first` may have passed for the target, or not.
 */
export function spanOf(delivery: Delivery, first: Delivery, { sent: { passed } }: RetriesSeen): DelaySpan {
  if (passed === null) return { fromMs: delivery.receivedMs, toMs: delivery.receivedMs };
  const { clockMs, clockAtMostMs, receivedMs } = delivery;
  const begun = passed.moves.find(({ toMs }) => toMs === clockAtMostMs);
  return {
    fromMs: Math.min(clockMs, begun?.fromMs ?? clockMs),
    toMs: clockAtMostMs + Math.max(0, receivedMs - first.receivedMs),
  };
}

/** Until when attempts were seen, in milliseconds of the same time as {@link spanOf}. */
export const watchedUntilMs = ({ sent: { passed }, all }: RetriesSeen): number => passed?.untilMs ?? all.untilMs;

export function attemptsOf(came: readonly Delivery[], seen: RetriesSeen): Attempts {
  const [first] = came;
  return {
    made: came.map((each) => spanOf(each, first ?? each, seen)),
    untilMs: watchedUntilMs(seen),
    unwatched: seen.sent.unwatched,
  };
}

/** Attempts that a sender makes twice come so close together. */
const twinWithinMs = 2000;

/** One of each two attempts, where all come in twos: receivers tolerate duplicates, and a schedule is of what is attempted. */
export function withoutTwins(came: readonly Delivery[], seen: RetriesSeen): Delivery[] {
  const firsts = came.filter((_, at) => at % 2 === 0);
  const isTwin = (first: Delivery, at: number): boolean => {
    const twin = came[2 * at + 1];
    return twin === undefined
      ? at === firsts.length - 1
      : spanOf(twin, first, seen).fromMs - spanOf(first, first, seen).toMs <= twinWithinMs;
  };
  return came.length >= leastTwins && firsts.every(isTwin) ? firsts : [...came];
}

/** Fewer are a first delivery and the retries that follow at once. */
const leastTwins = 4;

/** Whether so much time was watched after a delivery, with no interval in which nobody looked. */
export function isPastMs(seen: RetriesSeen, delivery: Delivery, ms: number): boolean {
  const { fromMs, toMs } = spanOf(delivery, delivery, seen);
  const dueMs = toMs + ms;
  const isMissed = seen.sent.unwatched.some((span) => span.fromMs <= dueMs && fromMs <= span.toMs);
  return dueMs <= watchedUntilMs(seen) && !isMissed;
}
