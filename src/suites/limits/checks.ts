import { hourMs } from "../../base/duration.ts";
import { burstMs, maxBurstSeconds, breachSide } from "../../rules/limits/key-history.ts";
import {
  describeAdmission as afterWait,
  isWellBefore,
  minEarlySeconds,
  describeEarlyRefusal,
  formatSeconds,
} from "../../rules/limits/retry-after.ts";
import type { LimitBreach } from "../../rules/limits/admission/breach.ts";
import { describeRefusalCounting, possibleShapes as possibleShapesOf } from "../../rules/limits/admission/judge.ts";
import { bodyJson, type Exchange } from "../../evidence/exchange.ts";
import { check, observe, suite } from "../../run/judge/check.ts";
import { breach, type Finding, holds, inapplicable, observed, unproven } from "../../run/judge/finding.ts";
import { retryAfterSeconds, wholeNumberHeader, isAdmitted } from "../../rules/limits/sample.ts";
import { isHourLimit } from "../../rules/limits/header-rules.ts";
import { headerNames } from "../../spec/headers.ts";
import { passiveCountingChecks } from "./passive-counting.ts";
import { countingChecks } from "./counting.ts";
import {
  judgeKeyHistory,
  type KeyHistory,
  minuteReached,
  minuteReachedBefore,
  maxAdmittedWithin,
} from "./key-history.ts";
import { isSameWindow, sampleFrom } from "../shared/compare-samples.ts";
import { hourExhausted, type HourExhausted } from "./hour-probe.ts";
import type { TimedRetry } from "./timed-retry.ts";
import { minuteExhausted, type MinuteExhausted } from "./minute-probe.ts";
import { judgeExhaustedWindow } from "./exhausted-window.ts";
import { quotaChecks } from "./quota.ts";
import { judgeSibling } from "./sibling-key.ts";
import { hasStatus, isSuccess, outcomeOf } from "../shared/response.ts";
import { formatValue } from "../../base/format-value.ts";
import { getPath, isObject } from "../../base/json.ts";
import { slotChecks } from "./slot-checks.ts";

/** Judges whether more or fewer requests were admitted than published; `null` if an admissible limiter explains the history. */
function foundIn(use: KeyHistory, admitted: number, published: number) {
  const judged = judgeKeyHistory(use);
  return judged.kind === "explained" ? null : { side: breachSide(judged, () => admitted > published), judged };
}

const minuteSide = (use: MinuteExhausted) => foundIn(use, use.first.admitted, use.limits.perMinute);
const hourSide = (use: HourExhausted) => foundIn(use, use.admitted, use.limits.perHour);

const told = ({ expected, actual, witness }: LimitBreach): Finding<never> =>
  breach(expected, `${actual} (${witness.length} requests show it: ${some(witness)})`);

const some = (ids: readonly string[]): string =>
  ids.length > 6 ? `${ids.slice(0, 3).join(", ")} … ${ids.slice(-2).join(", ")}` : ids.join(", ");

const failing = (what: string): Finding<never> =>
  unproven(`requests ${what} the limit were answered neither with success nor with 429`);

/** Whether invoke is not limited at all: `Remaining` never changes while far more than a minute's limit is admitted. */
function isUnlimited({ first, samples, limits }: MinuteExhausted): boolean {
  const invokes = samples.filter(({ kind }) => kind === "invoke").slice(-first.invoked);
  const shown = new Set(invokes.flatMap(({ remaining }) => remaining ?? []));
  return first.end === "all sent" && first.admitted > limits.perMinute && shown.size === 1 && !shown.has(0);
}

const hourReached = (use: KeyHistory): boolean => maxAdmittedWithin(use.samples, hourMs) >= use.limits.perHour;

function notAfter(later: TimedRetry | null, what: string): Finding<never> | null {
  return later === null ? unproven(`${what}: no refusal with a \`retry_after\` that the run could wait for`) : null;
}

function admittedAfter(retried: TimedRetry | null): Finding<never> {
  if (retried === null) return notAfter(null, "nothing was sent after `retry_after`") ?? holds();
  const { exchange, saidSeconds, atLeastSeconds } = retried;
  if (isSuccess(exchange)) return holds();
  if (!hasStatus(exchange, 429)) return unproven(`the request after \`retry_after\` came to ${outcomeOf(exchange)}`);
  if (leavesRoom(exchange))
    return unproven("the request after `retry_after` met a 429 that leaves room: not the rate's");
  return breach(afterWait(saidSeconds), `429, ${formatSeconds(atLeastSeconds)} after the refusal`, exchange);
}

/** Whether a 429 reports requests left. It then refused for concurrency or for tokens, not for the rate. */
const leavesRoom = (refusal: Exchange): boolean => (wholeNumberHeader(refusal, headerNames.rateRemaining) ?? 0) > 0;

/** Judges that a stream is refused while the hour is exhausted: invokes before and after the stream are refused until the same reset. */
function streamBeyondHour(use: HourExhausted, isOver: boolean): Finding<never> {
  const { stream, afterStream, refused, admitted, limits: numbers, beganFresh } = use;
  if (stream === null) return inapplicable("without a test clock the hour is not used up alone");
  if (hasStatus(stream, 429)) return holds();
  if (!isSuccess(stream)) return inapplicable(`a stream of this agent comes to ${outcomeOf(stream)}`);
  if (isOver) return unproven("more are admitted than published (LIM-3)");
  const before = refused.at(-1);
  if (before === undefined || afterStream === null || !hasStatus(before, 429) || !hasStatus(afterStream, 429))
    return unproven("an hour that has ended, or room that came back meanwhile, would explain the stream");
  const [first, between, last] = [sampleFrom(before), sampleFrom(stream), sampleFrom(afterStream)];
  const isOneWindow = isSameWindow(first, between) && isSameWindow(between, last) && isSameWindow(first, last);
  const isUsedUp = [first, last].every(({ limit, remaining }) => remaining === 0 && isHourLimit(limit, numbers));
  if (!beganFresh || admitted < numbers.perHour || !isOneWindow || !isUsedUp)
    return unproven("the answers do not show that the stream lay in the hour that was used up");
  return breach(
    `a stream is refused as well once ${numbers.perHour} requests of an hour are used up`,
    `${outcomeOf(stream)}, while invokes before and after it are refused until the same \`X-RateLimit-Reset\``,
    before,
    stream,
    afterStream,
  );
}

/** Judges a `Limit` header that includes the burst: as many requests have to be admitted (HDR-10). */
function burstOnTop(use: MinuteExhausted): Finding<never> {
  const { perMinute, burst } = use.limits;
  const onTop = perMinute + (burst ?? 0);
  const isShown = use.samples.some((each) => each.kind === "invoke" && isAdmitted(each) && each.limit === onTop);
  if (burst === null || !isShown || onTop === use.limits.perHour)
    return inapplicable("no answer shows the minute's limit with the burst on top");
  // Two windows may overlap a minute, so only the requests of one window prove anything.
  const { admitted, end } = use.first;
  if (admitted > perMinute) return holds();
  if (end !== "refused" || !use.beganFresh) return unproven("the minute's allowance was not used up by this run alone");
  return breach(
    `more than ${perMinute} admitted in a minute, as \`X-RateLimit-Limit: ${onTop}\` says`,
    `${admitted}, then 429`,
    ...use.refused,
  );
}

export const limits = suite("Limits", [
  check("LIM-1", minuteExhausted, (use) => {
    if (isUnlimited(use)) return unproven("invoke is not limited at all (LIM-10)");
    const found = minuteSide(use);
    if (found?.side === "over") return told(found.judged);
    if (use.first.end === "failing") return failing("beyond");
    const { burst, perMinute } = use.limits;
    // A burst of unknown size may explain this, so it proves nothing.
    if (burst === null && use.first.admitted > perMinute)
      return unproven(`${use.first.admitted} of ${perMinute} were admitted, and the burst of the tier is not shown`);
    if (use.first.end === "refused") return holds();
    return unproven(`no refusal after ${use.first.admitted} requests, and slower windows would explain that`);
  }),
  check("LIM-2", minuteExhausted, (use) => {
    const found = minuteSide(use);
    if (found?.side === "under") return told(found.judged);
    if (minuteReached(use)) return holds();
    if (use.first.end === "failing") return failing("below");
    if (use.first.end === "refused") return unproven("earlier use of the key may explain the refusals");
    return unproven("the agent answers too slowly to use up a minute's allowance");
  }),
  check("LIM-3", hourExhausted, (use) => {
    const found = hourSide(use);
    if (found?.side === "over" && found.judged.limit !== "minute") return told(found.judged);
    if (use.end === "failing") return failing("beyond");
    return use.end === "refused" ? holds() : unproven(`no refusal after ${use.admitted} requests`);
  }),
  check("LIM-3", hourExhausted, (use) => streamBeyondHour(use, hourSide(use)?.side === "over"), { as: "stream" }),
  check("LIM-4", { minute: minuteExhausted, hour: hourExhausted }, ({ minute, hour }) => {
    if (minuteSide(minute)?.side === "under") return unproven("the minute already admits too few (LIM-2)");
    const found = hourSide(hour);
    if (found?.side === "under") return told(found.judged);
    if (hourReached(hour)) return holds();
    if (hour.end === "failing") return failing("below");
    return unproven("earlier use of the key, or the month's tokens, may explain the refusals");
  }),
  check("LIM-7", minuteExhausted, (use) => {
    const { burst } = use.limits;
    if (burst === null) return inapplicable("the document does not show the tier's burst allowance");
    if (use.first.admitted >= burst || maxAdmittedWithin(use.samples, burstMs) >= burst) return holds();
    if (!use.beganFresh)
      return unproven("earlier use of the key counted against the burst", 'a key with `"fresh": true`');
    if (minuteSide(use)?.side !== "under") return unproven("an admissible limiter explains the refusal");
    const [refusal] = use.refused;
    const saidSeconds = refusal === undefined ? null : retryAfterSeconds(refusal);
    // A refusal that lasts as long as a minute comes from the minute's limit.
    if (saidSeconds === null || saidSeconds > maxBurstSeconds) return unproven("the minute admits too few (LIM-2)");
    if (use.first.end !== "refused") return failing("below");
    return breach(`a burst of ${burst} is admitted`, `refused after ${use.first.admitted}`, ...use.refused);
  }),
  observe("LIM-8", minuteExhausted, ({ first, limits: { perMinute, burst } }) =>
    first.end === "refused"
      ? observed(
          `${first.admitted} requests sent as fast as possible were admitted (${perMinute} a minute, burst ${burst ?? "not shown"})`,
        )
      : unproven("no refusal was seen"),
  ),
  check("LIM-10", minuteExhausted, (use) => {
    if (use.other !== null && hasStatus(use.other, 429))
      return breach(
        "invoke is refused too once the allowance is used up",
        `${use.first.admitted} invokes admitted, while usage answers 429`,
        use.other,
      );
    if (isUnlimited(use))
      return breach(
        `invoke draws on the allowance of ${use.limits.perMinute} a minute`,
        `${use.first.admitted} invokes admitted, and \`Remaining\` did not move`,
      );
    const hasFallen = use.samples.some(
      ({ kind, remaining, limit }) => kind === "invoke" && (remaining ?? 0) < (limit ?? 0),
    );
    return use.first.end === "refused" || hasFallen ? holds() : unproven("no limit was seen at work");
  }),
  check("LIM-12", minuteExhausted, (use) => {
    const { first, refused } = use;
    const [refusal] = refused;
    if (refusal === undefined) return unproven(`no refusal after ${first.admitted} requests`);
    if (isSuccess(refusal)) return unproven("the request beyond the limit was admitted");
    if (first.admitted === 0 && !hasStatus(refusal, 429)) return failing("below");
    if (!hasStatus(refusal, 429)) {
      if (!minuteReached(use)) return unproven(`an invoke came to ${outcomeOf(refusal)} before the limit was reached`);
      return breach("429 with the error body", outcomeOf(refusal), refusal);
    }
    const error = getPath(bodyJson(refusal), "error");
    return isObject(error)
      ? holds()
      : breach("an error body: an `error` object", formatValue(bodyJson(refusal)), refusal);
  }),
  check("LIM-13", minuteExhausted, ({ early, retried }) =>
    // If the early request is admitted, no 429 is left to wait for.
    early !== null && isSuccess(early.exchange) ? holds() : admittedAfter(retried),
  ),
  check("LIM-13", hourExhausted, ({ retried }) => admittedAfter(retried), { as: "hour" }),
  check("LIM-14", minuteExhausted, ({ early, refused }) => {
    if (early === null) {
      const said = refused.flatMap((each) => retryAfterSeconds(each) ?? []);
      return said.length > 0 && said.every((each) => each < minEarlySeconds)
        ? inapplicable(`a \`retry_after\` of less than ${minEarlySeconds} s has no time well before it`)
        : unproven("no refusal had a `retry_after` that the run could wait for");
    }
    const { exchange, saidSeconds, atMostSeconds } = early;
    if (hasStatus(exchange, 429)) return holds();
    if (!isWellBefore(atMostSeconds, saidSeconds)) return unproven("the answer came too late to tell");
    if (!isSuccess(exchange)) return unproven(`the request before \`retry_after\` came to ${outcomeOf(exchange)}`);
    return breach(
      describeEarlyRefusal(atMostSeconds, saidSeconds),
      `${outcomeOf(exchange)}: the time left was shorter`,
      exchange,
    );
  }),
  observe("LIM-15", minuteExhausted, (use) => shapesOf(use, "minute"), { as: "minute" }),
  observe("LIM-15", hourExhausted, (use) => shapesOf(use, "hour"), { as: "hour" }),
  observe("LIM-16", minuteExhausted, (use) => {
    const judged = judgeKeyHistory(use);
    if (judged.kind === "breach") return unproven("the history fits no admissible limiter");
    if (use.refused.length === 0) return unproven("no refusal was seen");
    return observed(describeRefusalCounting(possibleShapesOf(judged.readings)));
  }),
  check("HLT-15", minuteExhausted, ({ refused, health }) => {
    if (refused.length === 0 || !refused.some((each) => hasStatus(each, 429)))
      return unproven("invoke was not refused with 429");
    const limited = health.find((each) => hasStatus(each, 429));
    if (limited !== undefined)
      return breach("health answers 200 while invoke answers 429", outcomeOf(limited), limited);
    const [other] = health.filter((each) => !isSuccess(each));
    return other === undefined ? holds() : unproven(`health came to ${outcomeOf(other)}`);
  }),
  check(
    "HLT-15",
    hourExhausted,
    ({ refused, health }) => {
      if (health === null || !refused.some((each) => hasStatus(each, 429)))
        return unproven("invoke was not refused with 429");
      if (hasStatus(health, 429))
        return breach("health answers 200 while the hour is used up", outcomeOf(health), health);
      return isSuccess(health) ? holds() : unproven(`health came to ${outcomeOf(health)}`);
    },
    { as: "hour" },
  ),
  check("HDR-10", minuteExhausted, burstOnTop, { as: "burst on top" }),
  check("HDR-17", minuteExhausted, (use) => {
    const refusal = use.refused.findLast((each) => hasStatus(each, 429));
    if (refusal === undefined) return unproven("no request was refused with 429");
    if (minuteSide(use)?.side === "under") return unproven("the refusal came before the limit (LIM-2)");
    const remaining = wholeNumberHeader(refusal, headerNames.rateRemaining);
    if (remaining !== 0 && !minuteReachedBefore(refusal, use))
      return unproven("the refusal may have been for a slot that was given back late, or for earlier use of the key");
    if (remaining !== 0 && isHourLimit(wholeNumberHeader(refusal, headerNames.rateLimit), use.limits))
      return inapplicable("the headers of the 429 speak of the hour, which is not used up");
    if (remaining === null || remaining < 0)
      return unproven("the 429 has no `X-RateLimit-Remaining` that is a whole number");
    return remaining === 0
      ? holds()
      : breach("`X-RateLimit-Remaining: 0`", `\`X-RateLimit-Remaining: ${remaining}\``, refusal);
  }),
  check("LIM-9", minuteExhausted, ({ twin }) => judgeSibling(twin), { as: "same tier" }),
  check("LIM-9", hourExhausted, ({ twin }) => judgeSibling(twin), { as: "same tier, hour" }),
  check("HDR-19", minuteExhausted, (use) => judgeExhaustedWindow(use, "minute", minuteSide(use)?.side === "over")),
  check("HDR-19", hourExhausted, (use) => judgeExhaustedWindow(use, "hour", hourSide(use)?.side === "over"), {
    as: "hour",
  }),
  ...countingChecks,
  ...passiveCountingChecks,
  ...slotChecks,
  ...quotaChecks,
]);

function shapesOf(use: KeyHistory, name: "hour" | "minute") {
  const judged = judgeKeyHistory(use);
  if (judged.kind === "breach") return unproven("the history fits no admissible limiter");
  const shapes = judged.readings.flatMap(({ hour, minute }) =>
    name === "hour" ? hour : minute.map(({ shape }) => shape),
  );
  return observed(`what was seen fits these windows: ${[...new Set(shapes)].join(", ")}`);
}
