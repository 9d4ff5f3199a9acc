import { formatValue } from "../../base/json.ts";
import { type Delivery, wasAccepted } from "../../evidence/delivery.ts";
import { bodyJson } from "../../evidence/exchange.ts";
import { check, observe } from "../../run/judge/check.ts";
import {
  breach,
  type Finding,
  follows,
  holds,
  inapplicable,
  type Observation,
  observed,
  type Unproven,
  unproven,
} from "../../run/judge/finding.ts";
import { anyOf, need } from "../../run/skip-reason.ts";
import { deliveryPolicy } from "../../spec/events-and-errors.ts";
import { isSuccess, outcomeOf } from "../shared/response.ts";
import { deliveriesTo } from "../webhooks/create-webhook.ts";
import { type InvokedWithWebhooks, invokedWithWebhooks } from "../webhooks/probes.ts";
import { eventIdOf, eventTypeOf, isRedirected, isSameEvent, withoutPings } from "./events.ts";
import { allDeliveries } from "./probes.ts";
import {
  attemptSpan,
  attemptsTo,
  findFailureMark,
  isObservedFor,
  observedAttempts,
  observedUntilMs,
  type RetryEvidence,
  inconclusiveReason,
  withoutDuplicates,
} from "./retry-evidence.ts";
import { failingReceivers, type ReceiverScript } from "./retry-probe.ts";
import { explainAttempts, type ScheduleMatch, firstRetryWithinMs, maxPauseMs } from "./retry-schedule.ts";

const retryProbes = { sent: failingReceivers, all: allDeliveries };

const longerRun = anyOf(need("clock"), need("maxWaitMs"), need("watch"));
const noDelivery = unproven("no delivery came; see HOOK-8");
const tooShort = (after: string): Unproven => unproven(`too little time passed after ${after}`, longerRun);

/** An attempt within this time after an accepted attempt counts as a duplicate. Delayed retries take 60 s or more. */
const duplicateWithinMs = 45_000;

/** Assumed maximum time that a sender waits for a reply. The document sets no maximum. */
const maxSenderTimeoutMs = 600_000;

const seconds = (ms: number): string => `${Math.round(ms / 1000)} s`;

const judgeAttemptsTo =
  <F>(script: ReceiverScript, judge: (evidence: RetryEvidence, first: Delivery, retries: readonly Delivery[]) => F) =>
  (evidence: RetryEvidence): F | Unproven => {
    const inconclusive = inconclusiveReason(evidence, script);
    if (inconclusive !== null) return inconclusive;
    const [first, ...retries] = attemptsTo(evidence, script);
    return first === undefined ? noDelivery : judge(evidence, first, retries);
  };

const judgeRetriedAfter = (script: ReceiverScript, failure: string) =>
  judgeAttemptsTo(script, (evidence, first, retries): Finding<never> => {
    if (retries.length > 0) return holds();
    if (first.reply.kind === "silent" && first.reply.leftMs === null)
      return unproven("the sender still waits for a reply; how long it waits is unknown (HOOK-24)");
    const dueWithinMs = firstRetryWithinMs + (script === "silent" ? maxSenderTimeoutMs : 0);
    if (isObservedFor(evidence, first, dueWithinMs))
      return breach(`another attempt after ${failure}`, `none within ${seconds(dueWithinMs)}`, first);
    const observedMs = observedUntilMs(evidence) - attemptSpan(first, first, evidence).toMs;
    return unproven(`only ${seconds(observedMs)} of the schedule were observed`, longerRun);
  });

const retriedAfterRedirect = judgeRetriedAfter("redirecting", "a 302 (or a request that follows it)");

function judgeRedirect(evidence: RetryEvidence): Finding<"followed" | "retried"> {
  const { redirected = [], deliveries } = evidence.all;
  const isFollowed = [...redirected, ...deliveries].some(isRedirected);
  const inconclusive = inconclusiveReason(evidence, "redirecting");
  if (inconclusive === null && isFollowed) return follows("followed");
  const finding = retriedAfterRedirect(evidence);
  return finding.kind === "holds" ? follows("retried") : finding;
}

const observeTimeout = judgeAttemptsTo("late", (evidence, first, retries): Observation => {
  const heldForMs = evidence.sent.heldForMs.late;
  if (heldForMs === null) return noDelivery;
  if (heldForMs <= deliveryPolicy.responseTimeoutMs)
    return unproven("too little of the target's time could pass for a late reply", longerRun);
  if (retries.length > 0) return observed(`a reply after ${seconds(heldForMs)} is too late`);
  return isObservedFor(evidence, first, firstRetryWithinMs)
    ? observed(`a reply after ${seconds(heldForMs)} is still accepted`)
    : tooShort("a late reply");
});

/** A breach needs at least this many repeated deliveries, because receivers should tolerate one duplicate. */
const minRepeated = 2;

const otherRecovering = ["notFound", "resetting", "mismatched"] as const satisfies readonly ReceiverScript[];

function areOthersRepeated(evidence: RetryEvidence): boolean {
  const accepted = otherRecovering.flatMap((script) => attemptsTo(evidence, script).find(wasAccepted) ?? []);
  const endMs = (each: Delivery, first: Delivery): number => attemptSpan(each, first, evidence).toMs;
  return (
    accepted.length > 0 &&
    accepted.every((first) =>
      deliveriesTo(evidence.all.deliveries, first.hook).some(
        (each) => isSameEvent(first, each) && endMs(each, first) - endMs(first, first) > duplicateWithinMs,
      ),
    )
  );
}

/**
 * Judges HOOK-25: no attempt follows a 2xx reply. A single further attempt can mean that the 2xx came after the
 * sender's timeout. It is a breach only if the `otherRecovering` receivers also get an attempt after a 2xx.
 */
const judgeStopsAfterSuccess = judgeAttemptsTo("recovering", (evidence, first, retries): Finding<never> => {
  const attempts = [first, ...retries];
  const at = attempts.findIndex(wasAccepted);
  const accepted = attempts[at];
  if (accepted === undefined)
    return evidence.sent.passed === null
      ? unproven("the schedule was not observed up to a successful attempt", longerRun)
      : unproven("no attempt got a 2xx; see HOOK-26");
  const later = attempts.slice(at + 1).filter((each) => isLater(each, accepted, evidence));
  const last = later.at(-1);
  if (last === undefined) return isObservedFor(evidence, accepted, firstRetryWithinMs) ? holds() : tooShort("a 2xx");
  if (later.length >= minRepeated || areOthersRepeated(evidence))
    return breach("no attempt after a reply of 2xx", "another attempt", accepted, ...later);
  return isObservedFor(evidence, last, maxPauseMs) ? holds() : tooShort("the second 2xx");
});

/** Maximum delay of a reply that certainly reaches the sender before the sender's timeout. */
const safeReplyMs = deliveryPolicy.responseTimeoutMs - 250;

const judgeAcceptsSlowReply = judgeAttemptsTo("held", (evidence, first, retries): Finding<never> => {
  const heldForMs = evidence.sent.heldForMs.held;
  if (heldForMs === null) return noDelivery;
  if (heldForMs > safeReplyMs) return unproven("the reply could not be sent within the sender's timeout");
  const next = retries.find((each) => isLater(each, first, evidence) || !wasAccepted(first));
  if (next !== undefined)
    return breach(`a reply of 200 after ${seconds(heldForMs)} is accepted`, "another attempt", first, next);
  return isObservedFor(evidence, first, firstRetryWithinMs) ? holds() : tooShort("a 2xx");
});

const judgeAcceptsEach = (script: "unnamedSuccess" | "ownHeaders", reply: string) =>
  judgeAttemptsTo(script, (evidence, first, retries): Finding<never> => {
    const later = retries.filter((each) => isLater(each, first, evidence));
    if (later.length >= minRepeated) return breach(`no attempt after ${reply}`, "other attempts", first, ...later);
    return isObservedFor(evidence, later.at(-1) ?? first, later.length === 0 ? firstRetryWithinMs : maxPauseMs)
      ? holds()
      : tooShort(reply);
  });

const isLater = (attempt: Delivery, first: Delivery, evidence: RetryEvidence): boolean =>
  attemptSpan(attempt, first, evidence).fromMs - attemptSpan(first, first, evidence).toMs > duplicateWithinMs;

/**
 * Judges HOOK-25: a sender does not repeat an event after a 2xx reply. A breach needs a webhook with at least two
 * accepted events, all of them repeated. Ignores an event if the run ended before a repeat was due.
 */
function judgeStopsAfterAnySuccess(evidence: RetryEvidence & { readonly hooked: InvokedWithWebhooks }): Finding<never> {
  const webhooks = Object.values(evidence.hooked.webhooks)
    .filter((each) => each !== null)
    .filter(({ exchange }) => isSuccess(exchange));
  const accepted = withoutPings(evidence.hooked.deliveries).filter(wasAccepted);
  const acceptedByHook = webhooks.map(({ hook }) => deliveriesTo(accepted, hook));
  if (acceptedByHook.every((each) => each.length === 0)) return noDelivery;
  const isObserved = (each: Delivery): boolean =>
    evidence.sent.passed !== null || evidence.all.untilMs - each.receivedMs > firstRetryWithinMs;
  for (const those of acceptedByHook) {
    const conclusive = those.filter((each) => isRepeated(each, evidence) || isObserved(each));
    const [first] = conclusive;
    if (
      first === undefined ||
      conclusive.length < minRepeated ||
      !conclusive.every((each) => isRepeated(each, evidence))
    )
      continue;
    const status = first.reply.kind === "answered" ? first.reply.status : "2xx";
    const expected = `no attempt after a reply of ${status}`;
    return breach(expected, `another attempt after each of ${conclusive.length}`, ...conclusive);
  }
  return acceptedByHook.flat().some(isObserved) ? holds() : tooShort("the replies of 2xx");
}

const isRepeated = (accepted: Delivery, evidence: RetryEvidence): boolean =>
  deliveriesTo(evidence.all.deliveries, accepted.hook).some(
    (each) => isLater(each, accepted, evidence) && isSameEvent(accepted, each),
  );

const attemptsByEvent = (attempts: readonly Delivery[]): readonly (readonly Delivery[])[] => [
  ...Map.groupBy(attempts, (each) => attempts.find((first) => isSameEvent(first, each)) ?? each).values(),
];

/** Judges HOOK-26: if the deliveries of two events to one webhook fail at the same time, both events are retried. */
function judgeEachEventRetried(evidence: RetryEvidence): Finding<never> {
  const inconclusive = inconclusiveReason(evidence, "twoEvents");
  if (inconclusive !== null) return inconclusive;
  if (evidence.sent.passed === null) return unproven("the schedule was not observed to its end", longerRun);
  const attempts = attemptsTo(evidence, "twoEvents");
  const failed = attemptsByEvent(attempts).filter(([first]) => first !== undefined && !wasAccepted(first));
  if (failed.length < 2) return inapplicable("no two events of one webhook failed at the same time");
  // A retry can have a different id, and then looks like another event. A missing retry is proven only if no other
  // attempt has the same event type.
  const isOnlyOfType = (each: Delivery): boolean =>
    attempts.filter((other) => eventTypeOf(other) === eventTypeOf(each)).length === 1;
  const forgotten = failed.flatMap((each) => (each.length === 1 ? each : [])).find(isOnlyOfType);
  if (forgotten === undefined) return holds();
  const [retried] = failed.filter(({ length }) => length > 1).flat();
  if (retried === undefined) return unproven("neither event was retried; see HOOK-26");
  return breach("another attempt for each of two events that failed", "only one was retried", forgotten, retried);
}

interface FailedAttempts {
  readonly first: Delivery;
  readonly attempts: readonly Delivery[];
  /** Comparisons of the attempts with each reading of the retry schedule, the best match first. */
  readonly explanations: readonly ScheduleMatch[];
}

const judgeFailing = <R extends string>(judge: (evidence: RetryEvidence, failed: FailedAttempts) => Finding<R>) =>
  judgeAttemptsTo("failing", (evidence, first, retries) => {
    const attempts = withoutDuplicates([first, ...retries], evidence);
    return judge(evidence, { first, attempts, explanations: explainAttempts(observedAttempts(attempts, evidence)) });
  });

const onlySome = ({ length }: readonly Delivery[]): Unproven =>
  unproven(`only ${length} attempts of the schedule were observed`, longerRun);

const judgeDelays = (evidence: RetryEvidence, failed: FailedAttempts): Finding<"from-previous" | "from-first"> => {
  const { attempts, explanations } = failed;
  const [best] = explanations;
  if (best === undefined) throw new Error("the schedule has no reading");
  if (best.kind === "under way") return onlySome(attempts);
  const whole = explanations.find(({ kind }) => kind === "complete" || kind === "goes on");
  if (whole !== undefined) return follows(whole.origin);
  if (attempts.length === 1) return unproven("the delivery was not retried; see HOOK-26");
  const furthest = explanations.toSorted((one, other) => other.fitting - one.fitting)[0] ?? best;
  return breach(
    describeExpected(furthest, failed, evidence),
    describeAttempts(failed, evidence),
    ...attempts.slice(0, furthest.fitting + 1),
  );
};

const sinceFirst = (ms: number, { first }: FailedAttempts, evidence: RetryEvidence): string =>
  seconds(Math.max(0, ms - attemptSpan(first, first, evidence).fromMs));

function describeExpected(
  { expected, fitting, origin, shape }: ScheduleMatch,
  failed: FailedAttempts,
  evidence: RetryEvidence,
): string {
  if (expected === null) return "the published schedule";
  const [from, to] = [expected.fromMs, expected.toMs].map((ms) => sinceFirst(ms, failed, evidence));
  return `attempt ${fitting + 1} at ${from} to ${to} after the first (nearest readings: ${origin}, ${shape})`;
}

function describeAttempts(failed: FailedAttempts, evidence: RetryEvidence): string {
  const { first, attempts } = failed;
  const times = attempts.map((each) => sinceFirst(attemptSpan(each, first, evidence).toMs, failed, evidence));
  return `${attempts.length} attempts, at ${times.join(", ")}`;
}

const maxInAnyReading = deliveryPolicy.maxAttempts + 1;

const judgeAttempts = (
  evidence: RetryEvidence,
  failed: FailedAttempts,
): Finding<"five-attempts" | "six-attempts" | "four-retries"> => {
  const { attempts, explanations } = failed;
  if (attempts.length > maxInAnyReading)
    return breach(`at most ${deliveryPolicy.maxAttempts} attempts`, describeAttempts(failed, evidence), ...attempts);
  if (explanations.some(({ kind }) => kind === "under way")) return onlySome(attempts);
  const whole = explanations.find(({ kind }) => kind === "complete");
  const last = attempts.at(-1) ?? failed.first;
  if (whole !== undefined) return isObservedFor(evidence, last, maxPauseMs) ? follows(whole.shape) : onlySome(attempts);
  return explanations.some(({ kind }) => kind === "goes on")
    ? breach("no attempt after the last of the schedule", describeAttempts(failed, evidence), ...attempts)
    : unproven("the attempts do not follow the schedule; see HOOK-26 and HOOK-27");
};

const judgeFailureMark = (evidence: RetryEvidence, failed: FailedAttempts): Finding<"delivery" | "webhook"> => {
  const { attempts } = failed;
  if (evidence.sent.passed === null) return onlySome(attempts);
  const { listed, shown } = evidence.sent.passed;
  if (listed === null) return unproven("the response to the creation has no `webhook_id` or `id`");
  if (!isSuccess(listed)) return unproven(`the deliveries were not listed (${outcomeOf(listed)})`);
  const mark = findFailureMark(bodyJson(listed), shown === null || !isSuccess(shown) ? undefined : bodyJson(shown));
  if (mark.kind === "marked") return follows(mark.which);
  const isOver = judgeAttempts(evidence, failed).kind === "follows" || attempts.length > maxInAnyReading;
  if (!isOver) return unproven("the attempts do not end as documented; see HOOK-28");
  if (mark.kind === "unknown")
    return unproven("the list of deliveries shows no state; what it must show is a gap (WHK-8)");
  const states = mark.states.map((state) => formatValue(state)).join(", ");
  return breach("the delivery, or the webhook, marked failed", `states ${states}`, listed);
};

export const retryChecks = [
  check(
    "HOOK-22",
    retryProbes,
    judgeRetriedAfter("mismatched", "a 401 from a receiver that finds the signature wrong"),
  ),
  observe("HOOK-24", retryProbes, observeTimeout),
  check("HOOK-38", retryProbes, judgeAcceptsSlowReply),
  check("HOOK-25", { ...retryProbes, hooked: invokedWithWebhooks }, judgeStopsAfterAnySuccess),
  check("HOOK-25", retryProbes, judgeStopsAfterSuccess, { as: "after a retry" }),
  check("HOOK-26", retryProbes, judgeRetriedAfter("failing", "a 500")),
  check("HOOK-26", retryProbes, judgeRetriedAfter("notFound", "a 404"), { as: "404" }),
  check("HOOK-25", retryProbes, judgeAcceptsEach("unnamedSuccess", "a 299"), { as: "299", since: "1.1" }),
  check("HOOK-25", retryProbes, judgeAcceptsEach("ownHeaders", "a 200 with headers of the receiver's own"), {
    as: "with own headers",
    since: "1.1",
  }),
  check("HOOK-26", retryProbes, judgeRetriedAfter("gone", "a 410"), { as: "410", since: "1.1" }),
  check("HOOK-26", retryProbes, judgeRedirect, { as: "302" }),
  check("HOOK-26", retryProbes, judgeRetriedAfter("silent", "no reply"), { as: "silence" }),
  check("HOOK-26", retryProbes, judgeEachEventRetried, { as: "each of two events", since: "1.2" }),
  check("HOOK-26", retryProbes, judgeRetriedAfter("resetting", "a connection reset"), { as: "reset" }),
  check("HOOK-27", retryProbes, judgeFailing(judgeDelays)),
  check("HOOK-28", retryProbes, judgeFailing(judgeAttempts)),
  check("HOOK-29", retryProbes, judgeFailing(judgeFailureMark)),
  check("HOOK-32", retryProbes, (evidence) => {
    const [first, ...others] = attemptsTo(evidence, "failing");
    if (first === undefined || others.length === 0) return unproven("no event was sent twice");
    const id = eventIdOf(first);
    if (typeof id !== "string") return unproven("the event has no `id` that is a string; see HOOK-1");
    const other = others.find((each) => eventIdOf(each) !== id);
    return other === undefined
      ? holds()
      : breach(`the \`id\` of the first attempt, ${formatValue(id)}`, formatValue(eventIdOf(other)), first, other);
  }),
  observe("HOOK-33", retryProbes, ({ sent: { passed } }) => {
    if (passed === null) return unproven("the schedule was not observed to its end", longerRun);
    if (!isSuccess(passed.again.invoked))
      return unproven(`the invoke did not succeed (${outcomeOf(passed.again.invoked)})`);
    return observed(passed.again.came > 0 ? "later events are still sent" : "no later event is sent");
  }),
  observe("HOOK-35", retryProbes, (evidence) => {
    const attempts = attemptsTo(evidence, "endless");
    const [first] = attempts;
    if (first === undefined) return unproven("no delivery came");
    if (attempts.length > 1) return observed("the delivery counts as failed, and is retried");
    return isObservedFor(evidence, first, firstRetryWithinMs)
      ? observed("the delivery counts as successful")
      : tooShort("the reply");
  }),
] as const;
