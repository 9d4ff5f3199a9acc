import { type Delivery, deliveryJson } from "../../evidence/delivery.ts";
import { bodyJson } from "../../evidence/exchange.ts";
import { deliveryPolicy } from "../../spec/events.ts";
import { check, observe } from "../../run/judge/check.ts";
import {
  breach,
  type Finding,
  follows,
  holds,
  type Observation,
  observed,
  type Unproven,
  unproven,
} from "../../run/judge/finding.ts";
import { anyOf, need } from "../../run/skip-reason.ts";
import { allDeliveries } from "./probes.ts";
import { failingReceivers, type ReceiverScript } from "./retry-probe.ts";
import { isSameEvent, wasAccepted } from "./event.ts";
import { findFailureMark } from "./failure-mark.ts";
import {
  observedAttempts,
  withoutDuplicates,
  attemptsTo,
  isObservedFor,
  type RetryEvidence,
  attemptSpan,
  whyInconclusive,
  observedUntilMs,
} from "./retry-evidence.ts";
import { explainAttempts, type Explanation, firstRetryWithinMs, maxPauseMs } from "./retry-schedule.ts";
import { isSuccess, outcomeOf } from "../shared/response.ts";
import { formatValue } from "../../base/format-value.ts";
import { getPath } from "../../base/json.ts";
import { deliveriesTo } from "../webhooks/await-deliveries.ts";
import { invokedWithWebhooks, type InvokedWithWebhooks } from "../webhooks/probes.ts";

const on = { sent: failingReceivers, all: allDeliveries };

const longer = anyOf(need("clock"), need("maxWaitMs"), need("watch"));
/** Attempts of one event so close to each other may be one attempt that was sent twice: a retry that is not immediate is due after a minute. */
const duplicateWithinMs = 45_000;

const seconds = (ms: number): string => `${Math.round(ms / 1000)} s`;

/** Judges whether the event was sent again to a receiver whose first answer was no success. */
const triedAgain =
  (script: ReceiverScript, failure: string) =>
  (seen: RetryEvidence): Finding<never> => {
    const unable = whyInconclusive(seen, script);
    if (unable !== null) return unable;
    const came = attemptsTo(seen, script);
    const [first] = came;
    if (first === undefined) return unproven("no delivery came; see HOOK-8");
    if (came.length > 1) return holds();
    if (first.reply.kind === "silent" && first.reply.leftMs === null)
      return unproven("the sender still waits for an answer: how long it does is not shown (HOOK-24)");
    const dueWithinMs = firstRetryWithinMs + (script === "silent" ? mostPatienceMs : 0);
    if (!isObservedFor(seen, first, dueWithinMs))
      return unproven(
        `${seconds(observedUntilMs(seen) - attemptSpan(first, first, seen).toMs)} of the schedule were seen`,
        longer,
      );
    return breach(`another attempt after ${failure}`, `none within ${seconds(dueWithinMs)}`, first);
  };

/** No sender is known to wait longer for a receiver. */
const mostPatienceMs = 600_000;

/** How long a sender waits, as far as an answer shows it that came after more than the time that a receiver has. */
const patienceSeen = (seen: RetryEvidence): Observation => {
  const unable = whyInconclusive(seen, "late");
  if (unable !== null) return unable;
  const came = attemptsTo(seen, "late");
  const [first] = came;
  const heldForMs = seen.sent.heldForMs.late;
  if (first === undefined || heldForMs === null) return unproven("no delivery came; see HOOK-8");
  if (heldForMs <= deliveryPolicy.responseTimeoutMs)
    return unproven("too little of the target's time could pass for a late answer", longer);
  if (came.length > 1) return observed(`an answer after ${seconds(heldForMs)} comes too late`);
  if (!isObservedFor(seen, first, firstRetryWithinMs))
    return unproven("too little time passed after a late answer", longer);
  return observed(`an answer after ${seconds(heldForMs)} is still taken`);
};

/** Judges whether nothing followed upon the first 2xx. */
const leftAlone = (seen: RetryEvidence): Finding<never> => {
  const unable = whyInconclusive(seen, "recovering");
  if (unable !== null) return unable;
  const came = attemptsTo(seen, "recovering");
  const at = came.findIndex(wasAccepted);
  const accepted = came[at];
  if (accepted === undefined)
    return seen.sent.passed === null
      ? unproven("the schedule was not seen so far that an attempt succeeded", longer)
      : unproven("no attempt was answered 2xx; see HOOK-26");
  const after = came.slice(at + 1).find((each) => isLaterBy(duplicateWithinMs, accepted, each, seen));
  if (after !== undefined) return breach("no attempt after an answer of 2xx", "another attempt", accepted, after);
  return isObservedFor(seen, accepted, firstRetryWithinMs)
    ? holds()
    : unproven("too little time passed after a 2xx", longer);
};

/** What a receiver answers so early is there within its 3 seconds, however it travels. */
const wellInTimeMs = deliveryPolicy.responseTimeoutMs - 250;

/** Judges whether an answer that took its time, but no more than it has, was taken. */
const takenInTime = (seen: RetryEvidence): Finding<never> => {
  const unable = whyInconclusive(seen, "held");
  if (unable !== null) return unable;
  const [first, ...others] = attemptsTo(seen, "held");
  const heldForMs = seen.sent.heldForMs.held;
  if (first === undefined || heldForMs === null) return unproven("no delivery came; see HOOK-8");
  if (heldForMs > wellInTimeMs) return unproven("the answer could not be given within the time that a receiver has");
  const after = others.find((each) => isLaterBy(duplicateWithinMs, first, each, seen) || !wasAccepted(first));
  if (after !== undefined)
    return breach(`an answer of 200 after ${seconds(heldForMs)} is taken`, "another attempt", first, after);
  return isObservedFor(seen, first, firstRetryWithinMs)
    ? holds()
    : unproven("too little time passed after a 2xx", longer);
};

const isLaterBy = (ms: number, one: Delivery, other: Delivery, seen: RetryEvidence): boolean =>
  attemptSpan(other, one, seen).fromMs - attemptSpan(one, one, seen).toMs > ms;

/**
 * Webhooks whose receivers answered with one 2xx or another at once. One event that comes again is a duplicate, which receivers
 * tolerate, however late; when every event of a webhook does, its answers are not taken.
 */
function acceptedAtOnce(evidence: RetryEvidence & { readonly hooked: InvokedWithWebhooks }): Finding<never> {
  const asked = Object.values(evidence.hooked.webhooks)
    .filter((each) => each !== null)
    .filter(({ exchange }) => isSuccess(exchange));
  const came = asked.map(({ hook }) => deliveriesTo(evidence.hooked.deliveries, hook).filter(wasAccepted));
  if (came.every((each) => each.length === 0)) return unproven("no delivery came; see HOOK-8");
  const wasWatched = (each: Delivery): boolean =>
    evidence.sent.passed !== null || evidence.all.untilMs - each.receivedMs > firstRetryWithinMs;
  for (const accepted of came) {
    const known = accepted.filter((each) => isFollowed(each, evidence) || wasWatched(each));
    const [first] = known;
    if (first === undefined || known.length < leastToTell || !known.every((each) => isFollowed(each, evidence)))
      continue;
    const status = first.reply.kind === "answered" ? first.reply.status : "2xx";
    const expected = `no attempt after an answer of ${status}`;
    return breach(expected, `another attempt after each of ${known.length}`, ...known);
  }
  return came.flat().some(wasWatched) ? holds() : unproven("too little time passed after the answers of 2xx", longer);
}

/** So many events of a webhook tell a habit from a duplicate. */
const leastToTell = 2;

/** Whether the event of a delivery that was accepted came again, and not at once. */
const isFollowed = (accepted: Delivery, evidence: RetryEvidence): boolean =>
  deliveriesTo(evidence.all.deliveries, accepted.hook).some(
    (each) => isLaterBy(duplicateWithinMs, accepted, each, evidence) && isSameEvent(accepted, each),
  );

/** The schedule's explanations of a delivery that failed at every attempt, or why there are none. */
function explained(
  seen: RetryEvidence,
): Unproven | { readonly explanations: readonly Explanation[]; readonly came: Delivery[] } {
  const unable = whyInconclusive(seen, "failing");
  if (unable !== null) return unable;
  const came = withoutDuplicates(attemptsTo(seen, "failing"), seen);
  if (came.length === 0) return unproven("no delivery came; see HOOK-8");
  return { explanations: explainAttempts(observedAttempts(came, seen)), came };
}

const progress = (count: number): Unproven => unproven(`${count} attempts of the schedule were seen`, longer);

const retryDelays = (seen: RetryEvidence): Finding<"from-previous" | "from-first"> => {
  const found = explained(seen);
  if (!("explanations" in found)) return found;
  const { explanations, came } = found;
  const [best] = explanations;
  if (best === undefined) throw new Error("the schedule has no reading");
  const whole = explanations.find(({ kind }) => kind === "complete" || kind === "goes on");
  if (best.kind === "under way") return progress(came.length);
  if (whole !== undefined) return follows(whole.order);
  if (came.length === 1) return unproven("the delivery was not tried again; see HOOK-26");
  const furthest = explanations.toSorted((one, other) => other.fitting - one.fitting)[0] ?? best;
  const at = came.slice(0, furthest.fitting + 1);
  return breach(expectedBy(furthest, seen, came), madeAt(seen, came), ...at);
};

const startOf = (seen: RetryEvidence, [first]: readonly Delivery[]): number =>
  first === undefined ? 0 : attemptSpan(first, first, seen).fromMs;

function expectedBy(
  { expected, fitting, order, shape }: Explanation,
  seen: RetryEvidence,
  came: readonly Delivery[],
): string {
  if (expected === null) return "the published schedule";
  const startMs = startOf(seen, came);
  const span = `${seconds(Math.max(0, expected.fromMs - startMs))} to ${seconds(expected.toMs - startMs)}`;
  return `attempt ${fitting + 1} at ${span} after the first (nearest readings: ${order}, ${shape})`;
}

function madeAt(seen: RetryEvidence, came: readonly Delivery[]): string {
  const [first] = came;
  const startMs = startOf(seen, came);
  const times = came.map((each) => seconds(attemptSpan(each, first ?? each, seen).toMs - startMs));
  return `${came.length} attempts, at ${times.join(", ")}`;
}

/** More than any reading allows. */
const mostInAnyReading = deliveryPolicy.maxAttempts + 1;

const attemptsMade = (seen: RetryEvidence): Finding<"five-attempts" | "six-attempts" | "four-retries"> => {
  const found = explained(seen);
  if (!("explanations" in found)) return found;
  const { explanations, came } = found;
  const isOver = explanations.some(({ kind }) => kind === "goes on");
  if (came.length > mostInAnyReading)
    return breach(`at most ${deliveryPolicy.maxAttempts} attempts`, madeAt(seen, came), ...came);
  if (explanations.some(({ kind }) => kind === "under way")) return progress(came.length);
  const whole = explanations.find(({ kind }) => kind === "complete");
  if (whole !== undefined) return isQuiet(seen, came) ? follows(whole.shape) : progress(came.length);
  return isOver
    ? breach("no attempt after the last of the schedule", madeAt(seen, came), ...came)
    : unproven("the attempts do not follow the schedule; see HOOK-26 and HOOK-27");
};

/** Whether the schedule's longest pause has passed since the last attempt. */
const isQuiet = (seen: RetryEvidence, came: readonly Delivery[]): boolean => {
  const last = came.at(-1);
  return last !== undefined && isObservedFor(seen, last, maxPauseMs);
};

const idOf = (delivery: Delivery): unknown => getPath(deliveryJson(delivery), "id");

/** Checks of what happens to deliveries whose receivers fail. */
export const retryChecks = [
  check("HOOK-22", on, triedAgain("mismatched", "the 401 of a receiver to which the signature is bad")),
  observe("HOOK-24", on, patienceSeen),
  check("HOOK-38", on, takenInTime),
  check("HOOK-25", { ...on, hooked: invokedWithWebhooks }, acceptedAtOnce),
  check("HOOK-25", on, leftAlone, { as: "after a retry" }),
  check("HOOK-26", on, triedAgain("failing", "a 500")),
  check("HOOK-26", on, triedAgain("notFound", "a 404"), { as: "404" }),
  check("HOOK-26", on, triedAgain("redirecting", "a 302"), { as: "302" }),
  check("HOOK-26", on, triedAgain("silent", "silence"), { as: "silence" }),
  check("HOOK-26", on, triedAgain("resetting", "a connection that was reset"), { as: "reset" }),
  check("HOOK-27", on, retryDelays),
  check("HOOK-28", on, attemptsMade),
  check("HOOK-29", on, (seen) => {
    const found = explained(seen);
    if (!("explanations" in found)) return found;
    if (seen.sent.passed === null) return progress(found.came.length);
    const { listed, shown } = seen.sent.passed;
    if (listed === null) return unproven("the answer to the creation shows no `webhook_id` or `id`");
    if (!isSuccess(listed)) return unproven(`the deliveries were not listed (${outcomeOf(listed)})`);
    const isOver = attemptsMade(seen).kind === "follows" || found.came.length > mostInAnyReading;
    const mark = findFailureMark(bodyJson(listed), shown === null || !isSuccess(shown) ? undefined : bodyJson(shown));
    if (mark.kind === "marked") return follows(mark.which);
    if (!isOver) return unproven("the attempts do not end as the document has it; see HOOK-28");
    if (mark.kind === "unknown")
      return unproven("the list of deliveries shows no state; what it shows is a gap (WHK-8)");
    return breach(
      "the delivery, or the webhook, marked failed",
      `states ${mark.states.map(formatValue).join(", ")}`,
      listed,
    );
  }),
  check("HOOK-32", on, (seen) => {
    const [first, ...others] = attemptsTo(seen, "failing");
    if (first === undefined || others.length === 0) return unproven("no event was sent twice");
    const id = idOf(first);
    if (typeof id !== "string") return unproven("the event has no `id` in text; see HOOK-1");
    const other = others.find((each) => idOf(each) !== id);
    return other === undefined
      ? holds()
      : breach(`the \`id\` of the first attempt, ${formatValue(id)}`, formatValue(idOf(other)), first, other);
  }),
  observe("HOOK-33", on, ({ sent: { passed } }) => {
    if (passed === null) return unproven("the schedule was not seen to its end", longer);
    if (!isSuccess(passed.again.invoked))
      return unproven(`the agent did not answer (${outcomeOf(passed.again.invoked)})`);
    return observed(passed.again.came > 0 ? "they are still sent" : "none is sent any more");
  }),
  observe("HOOK-35", on, (seen) => {
    const came = attemptsTo(seen, "endless");
    const [first] = came;
    if (first === undefined) return unproven("no delivery came");
    if (came.length > 1) return observed("it has failed, and is tried again");
    return isObservedFor(seen, first, firstRetryWithinMs)
      ? observed("it is delivered")
      : unproven("too little time passed after the answer", longer);
  }),
] as const;
