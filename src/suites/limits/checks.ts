import { hourMs } from "../../base/duration.ts";
import { formatValue, getPath, isObject } from "../../base/json.ts";
import { bodyJson, type Exchange } from "../../evidence/exchange.ts";
import type { LimitBreach } from "../../rules/limits/admission/breach.ts";
import { describeRefusalCounting, possibleShapes } from "../../rules/limits/admission/judge.ts";
import type { LimitName } from "../../rules/limits/admission/models.ts";
import { isHourLimit, announcesWaitOverHour } from "../../rules/limits/header-rules.ts";
import {
  breachSide,
  burstMs,
  maxBurstSeconds,
  describeAdmission,
  describeEarlyRefusal,
  formatSeconds,
  isWellBefore,
  minEarlySeconds,
} from "../../rules/limits/key-history.ts";
import { needsTokensPerMonth, refusedForTokens, tokensExplain } from "../../rules/limits/month-tokens.ts";
import { isAdmitted, retryAfterSeconds, sampleOf, wholeNumberHeader } from "../../rules/limits/sample.ts";
import { check, observe, suite } from "../../run/judge/check.ts";
import { breach, type Breach, type Finding, holds, inapplicable, observed, unproven } from "../../run/judge/finding.ts";
import { headerNames } from "../../spec/headers.ts";
import { hasStatus, isSuccess, outcomeOf } from "../shared/response.ts";
import { countingChecks } from "./counting.ts";
import { defaultTimeoutCheck, timedOutInvokesCheck } from "./timeouts.ts";
import { everyEndpointCheck, everyTraitCheck, healthBurstCheck } from "./every-endpoint.ts";
import { everyKeyCountedCheck } from "./every-key.ts";
import { everyRetryCheck } from "./every-retry.ts";
import { hourExhausted, type HourEvidence, judgeRemainingOfHour, judgeStreamBeyondHour } from "./hour-probe.ts";
import {
  excessPercentOf,
  isRefusedForTokens,
  judgeExhaustedWindow,
  judgeKeyHistory,
  maxAdmittedWithin,
  minuteReached,
  minuteReachedBefore,
  type RunKeyHistory,
} from "./key-history.ts";
import { ledgerChecks } from "./ledger-checks.ts";
import { minuteEdgeCheck } from "./minute-edge.ts";
import { minuteExhausted, type MinuteEvidence } from "./minute-probe.ts";
import { passiveCountingChecks } from "./passive-counting.ts";
import { nextMonthCheck } from "./next-month.ts";
import { quotaChecks } from "./quota.ts";
import { judgeSibling } from "./sibling-key.ts";
import { timedOutSlotsCheck } from "../deliveries/unusual-ends.ts";
import { resumedSlotsCheck } from "../stream/resumed-streams.ts";
import { slotChecks } from "./slot-checks.ts";
import { spareKeyChecks } from "./spare-key-checks.ts";
import type { TimedRetry } from "./timed-retry.ts";

function findBreach(use: RunKeyHistory, admitted: number, published: number) {
  const judged = judgeKeyHistory(use);
  return judged.kind === "explained" ? null : { side: breachSide(judged, () => admitted > published), judged };
}

const minuteBreach = (use: MinuteEvidence) => findBreach(use, use.first.admitted, use.limits.perMinute);
const hourBreach = (use: HourEvidence) => findBreach(use, use.admitted, use.limits.perHour);

function describeExcess(judged: LimitBreach, use: RunKeyHistory, name: LimitName): Finding<never> {
  const excessPercent = excessPercentOf(use, name);
  return { ...describeBreach(judged), ...(excessPercent === null ? {} : { excessPercent }) };
}

const describeBreach = ({ expected, actual, witness }: LimitBreach): Breach => {
  const [some, last] = [witness.slice(0, 3), witness.slice(-2)].map((each) => each.join(", "));
  const ids = witness.length > 6 ? `${some} … ${last}` : witness.join(", ");
  return breach(expected, `${actual} (${witness.length} requests prove it: ${ids})`);
};

const unprovenByFailures = (where: string): Finding<never> =>
  unproven(`requests ${where} the limit got neither a success nor a 429`);

function isUnlimited({ first, samples, limits }: MinuteEvidence): boolean {
  const invokes = samples.filter(({ kind }) => kind === "invoke").slice(-first.invoked);
  const remainingValues = new Set(invokes.flatMap(({ remaining }) => remaining ?? []));
  return (
    first.end === "all sent" &&
    first.admitted > limits.perMinute &&
    remainingValues.size === 1 &&
    !remainingValues.has(0)
  );
}

function judgeRetry(retried: TimedRetry | null): Finding<never> {
  if (retried === null) return unproven("no refusal had a `retry_after` that the run could wait for");
  const { exchange, saidSeconds, atLeastSeconds } = retried;
  if (isSuccess(exchange)) return holds();
  if (!hasStatus(exchange, 429)) return unproven(`the request after \`retry_after\` got ${outcomeOf(exchange)}`);
  if (announcesWaitOverHour(sampleOf(exchange))) return unproven(tokensExplain);
  if (reportsAllowance(exchange))
    return unproven("the request after `retry_after` got a 429 that reports requests left, so not for the rate");
  return breach(describeAdmission(saidSeconds), `429, ${formatSeconds(atLeastSeconds)} after the refusal`, exchange);
}

const judgeHealth = (refused: readonly Exchange[], health: readonly Exchange[], expected: string): Finding<never> => {
  if (!refused.some((each) => hasStatus(each, 429))) return unproven("invoke was not refused with 429");
  const limited = health.find((each) => hasStatus(each, 429));
  if (limited !== undefined) return breach(expected, outcomeOf(limited), limited);
  const failed = health.find((each) => !isSuccess(each));
  return failed === undefined ? holds() : unproven(`health got ${outcomeOf(failed)}`);
};

/** Whether a 429 has `Remaining` above 0. Such a 429 comes from the concurrency limit or the month's tokens. */
const reportsAllowance = (refusal: Exchange): boolean =>
  (wholeNumberHeader(refusal, headerNames.rateRemaining) ?? 0) > 0;

/** Judges HDR-10: if `Limit` includes the burst, the target must admit more than `perMinute`. */
function judgeLimitWithBurst(use: MinuteEvidence): Finding<never> {
  const { perMinute, burst } = use.limits;
  const withBurst = perMinute + (burst ?? 0);
  const isReported = use.samples.some((each) => each.kind === "invoke" && isAdmitted(each) && each.limit === withBurst);
  if (burst === null || !isReported || withBurst === use.limits.perHour)
    return inapplicable("no response reports the minute's limit with the burst on top");
  // Counts only the requests of the first burst. Later requests can lie in the next minute's window.
  const { admitted, end } = use.first;
  if (admitted > perMinute) return holds();
  if (end !== "refused" || !use.beganFresh) return unproven("other requests than this run's counted in the minute");
  return breach(
    `more than ${perMinute} admitted in a minute, as \`X-RateLimit-Limit: ${withBurst}\` says`,
    `${admitted}, then 429`,
    ...use.refused,
  );
}

export const limits = suite("Limits", [
  check("LIM-1", minuteExhausted, (use) => {
    if (isUnlimited(use)) return unproven("invoke is not limited at all (LIM-10)");
    const found = minuteBreach(use);
    if (found?.side === "over") return describeExcess(found.judged, use, "minute");
    if (use.first.end === "failing") return unprovenByFailures("beyond");
    const { burst, perMinute } = use.limits;
    if (burst === null && use.first.admitted > perMinute)
      return unproven(
        `${use.first.admitted} of ${perMinute} were admitted, and the burst of the tier is not documented`,
      );
    if (use.first.end === "refused") return holds();
    return unproven(`no refusal after ${use.first.admitted} requests, and slower windows would explain that`);
  }),
  check("LIM-2", minuteExhausted, (use) => {
    const found = minuteBreach(use);
    if (found?.side === "under") return describeBreach(found.judged);
    if (minuteReached(use)) return holds();
    if (use.first.end === "failing") return unprovenByFailures("below");
    if (isRefusedForTokens(use)) return unproven(tokensExplain, needsTokensPerMonth);
    if (use.first.end === "refused") return unproven("earlier use of the key may explain the refusals");
    return unproven("the agent responds too slowly to exhaust a minute");
  }),
  check("LIM-3", hourExhausted, (use) => {
    const found = hourBreach(use);
    if (found?.side === "over" && found.judged.limit !== "minute") return describeExcess(found.judged, use, "hour");
    if (use.end === "failing") return unprovenByFailures("beyond");
    return use.end === "refused" ? holds() : unproven(`no refusal after ${use.admitted} requests`);
  }),
  check("LIM-3", hourExhausted, (use) => judgeStreamBeyondHour(use, hourBreach(use)?.side === "over"), {
    as: "stream",
  }),
  check("LIM-4", { minute: minuteExhausted, hour: hourExhausted }, ({ minute, hour }) => {
    if (minuteBreach(minute)?.side === "under") return unproven("the minute already admits too few (LIM-2)");
    const found = hourBreach(hour);
    if (found?.side === "under") return describeBreach(found.judged);
    if (maxAdmittedWithin(hour.samples, hourMs) >= hour.limits.perHour) return holds();
    if (hour.end === "failing") return unprovenByFailures("below");
    if (isRefusedForTokens(hour)) return unproven(tokensExplain, needsTokensPerMonth);
    return unproven("earlier use of the key, or the month's tokens, may explain the refusals");
  }),
  check("LIM-7", minuteExhausted, (use) => {
    const { burst } = use.limits;
    if (burst === null) return inapplicable("the document does not state the tier's burst");
    if (use.first.admitted >= burst || maxAdmittedWithin(use.samples, burstMs) >= burst) return holds();
    if (!use.beganFresh)
      return unproven("earlier use of the key counted against the burst", 'a key with `"fresh": true`');
    if (minuteBreach(use)?.side !== "under") return unproven("an admissible limiter explains the refusal");
    const [refusal] = use.refused;
    const saidSeconds = refusal === undefined ? null : retryAfterSeconds(refusal);
    // A burst limit asks for a wait of at most `maxBurstSeconds`. A longer wait comes from the minute's limit.
    if (saidSeconds === null || saidSeconds > maxBurstSeconds) return unproven("the minute admits too few (LIM-2)");
    if (use.first.end !== "refused") return unprovenByFailures("below");
    return breach(`a burst of ${burst} is admitted`, `refused after ${use.first.admitted}`, ...use.refused);
  }),
  observe("LIM-8", minuteExhausted, ({ first, limits: { perMinute, burst } }) =>
    first.end === "refused"
      ? observed(
          `${first.admitted} requests sent as fast as possible were admitted (${perMinute} a minute, burst ${burst ?? "not documented"})`,
        )
      : unproven("no request was refused"),
  ),
  check("LIM-10", minuteExhausted, (use) => {
    if (use.other !== null && hasStatus(use.other, 429))
      return breach(
        "invoke is refused too once the allowance is exhausted",
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
    return use.first.end === "refused" || hasFallen ? holds() : unproven("no limit had an effect");
  }),
  check("LIM-12", minuteExhausted, (use) => {
    const { first, refused } = use;
    const [refusal] = refused;
    if (refusal === undefined) return unproven(`no refusal after ${first.admitted} requests`);
    if (isSuccess(refusal)) return unproven("the request beyond the limit was admitted");
    if (first.admitted === 0 && !hasStatus(refusal, 429)) return unprovenByFailures("below");
    if (!hasStatus(refusal, 429)) {
      if (!minuteReached(use)) return unproven(`an invoke got ${outcomeOf(refusal)} before the limit was reached`);
      return breach("429 with the error body", outcomeOf(refusal), refusal);
    }
    const error = getPath(bodyJson(refusal), "error");
    return isObject(error)
      ? holds()
      : breach("an error body: an `error` object", formatValue(bodyJson(refusal)), refusal);
  }),
  check("LIM-13", minuteExhausted, ({ early, retried }) =>
    // If the target admits a retry even before `retry_after` has passed, it would admit a later retry, too.
    early !== null && isSuccess(early.exchange) ? holds() : judgeRetry(retried),
  ),
  check("LIM-13", hourExhausted, ({ retried }) => judgeRetry(retried), { as: "hour" }),
  everyRetryCheck,
  check("LIM-14", minuteExhausted, ({ early, refused }) => {
    if (early === null) {
      const waits = refused.flatMap((each) => retryAfterSeconds(each) ?? []);
      return waits.length > 0 && waits.every((each) => each < minEarlySeconds)
        ? inapplicable(`a \`retry_after\` of less than ${minEarlySeconds} s is too short to retry well before`)
        : unproven("no refusal had a `retry_after` that the run could wait for");
    }
    const { exchange, saidSeconds, atMostSeconds } = early;
    if (hasStatus(exchange, 429)) return holds();
    if (!isWellBefore(atMostSeconds, saidSeconds)) return unproven("the request was sent too late to prove anything");
    if (!isSuccess(exchange)) return unproven(`the request before \`retry_after\` got ${outcomeOf(exchange)}`);
    return breach(
      describeEarlyRefusal(atMostSeconds, saidSeconds),
      `${outcomeOf(exchange)}: the time left was shorter`,
      exchange,
    );
  }),
  observe("LIM-15", minuteExhausted, (use) => observeShapes(use, "minute"), { as: "minute" }),
  observe("LIM-15", hourExhausted, (use) => observeShapes(use, "hour"), { as: "hour" }),
  observe("LIM-16", minuteExhausted, (use) => {
    const judged = judgeKeyHistory(use);
    if (judged.kind === "breach") return unproven("the history fits no admissible limiter");
    if (use.refused.length === 0) return unproven("no request was refused");
    return observed(describeRefusalCounting(possibleShapes(judged.readings)));
  }),
  check("HLT-15", minuteExhausted, ({ refused, health }) =>
    judgeHealth(refused, health, "health answers 200 while invoke answers 429"),
  ),
  check(
    "HLT-15",
    hourExhausted,
    ({ refused, health }) =>
      judgeHealth(refused, health === null ? [] : [health], "health answers 200 while the hour is exhausted"),
    { as: "hour" },
  ),
  healthBurstCheck,
  check("HDR-10", minuteExhausted, judgeLimitWithBurst, { as: "burst on top" }),
  check("HDR-17", minuteExhausted, (use) => {
    const refusal = use.refused.findLast((each) => hasStatus(each, 429));
    if (refusal === undefined) return unproven("no request was refused with 429");
    if (minuteBreach(use)?.side === "under") return unproven("the refusal came before the limit (LIM-2)");
    if (refusedForTokens(use.samples, use.limits).has(refusal.id)) return unproven(tokensExplain, needsTokensPerMonth);
    const remaining = wholeNumberHeader(refusal, headerNames.rateRemaining);
    if (remaining !== 0 && !minuteReachedBefore(refusal, use))
      return unproven("a slot that was released late, or earlier use of the key, may explain the refusal");
    // This 429 can report the hour's limit instead of the minute's. The check `HDR-17/hour` judges the hour's limit.
    if (remaining !== 0 && isHourLimit(wholeNumberHeader(refusal, headerNames.rateLimit), use.limits)) return holds();
    if (remaining === null || remaining < 0) return unproven("the 429 has no whole number in `X-RateLimit-Remaining`");
    return remaining === 0
      ? holds()
      : breach("`X-RateLimit-Remaining: 0`", `\`X-RateLimit-Remaining: ${remaining}\``, refusal);
  }),
  check("HDR-17", hourExhausted, (use) => judgeRemainingOfHour(use, hourBreach(use) !== null), {
    as: "hour",
    since: "1.2",
  }),
  check("LIM-9", minuteExhausted, ({ twin }) => judgeSibling(twin), { as: "same tier" }),
  check("LIM-9", hourExhausted, ({ twin }) => judgeSibling(twin), { as: "same tier, hour" }),
  check("HDR-19", minuteExhausted, (use) => judgeExhaustedWindow(use, "minute", minuteBreach(use)?.side === "over")),
  check("HDR-19", hourExhausted, (use) => judgeExhaustedWindow(use, "hour", hourBreach(use)?.side === "over"), {
    as: "hour",
  }),
  everyEndpointCheck,
  everyTraitCheck,
  minuteEdgeCheck,
  everyKeyCountedCheck,
  ...countingChecks,
  ...ledgerChecks,
  ...passiveCountingChecks,
  ...slotChecks,
  timedOutInvokesCheck,
  timedOutSlotsCheck,
  resumedSlotsCheck,
  defaultTimeoutCheck,
  ...spareKeyChecks,
  ...quotaChecks,
  nextMonthCheck,
]);

function observeShapes(use: RunKeyHistory, name: "hour" | "minute") {
  const judged = judgeKeyHistory(use);
  if (judged.kind === "breach") return unproven("the history fits no admissible limiter");
  const shapes = judged.readings.flatMap(({ hour, minute }) =>
    name === "hour" ? hour : minute.map(({ shape }) => shape),
  );
  return observed(`the history fits these windows: ${[...new Set(shapes)].join(", ")}`);
}
