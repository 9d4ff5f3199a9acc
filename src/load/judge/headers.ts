import { is2xx } from "../../base/http.ts";
import { sumOf } from "../../base/numbers.ts";
import { type HeaderRule, isHourLimit, missingHeaders, describeHeaderForm } from "../../rules/limits/header-rules.ts";
import { allRateHeaders, headerFormClauseOf } from "../../spec/headers.ts";
import { resetMismatch, isKeyAccepted, judgeTimeLeft } from "../../rules/limits/reset-headers.ts";
import { isAgentCall, isRefused } from "../../rules/limits/sample.ts";
import type { Mismatch } from "../../rules/bodies/errors.ts";
import { hasKnownHeaders } from "../load-sample.ts";
import type { ResponseHeadCounts } from "../second-counts.ts";
import { describeRequest, hasCountsOnly, type LoadFacts } from "./facts.ts";
import { breach, holds, type JudgeResult, unproven } from "./finding.ts";
import { createRateRefusalTest } from "./refusals.ts";
import { type FlowEndpoint, judgeResponses, judgeSecondCounts } from "./responses.ts";
import type { SampledRequest } from "./sampled-requests.ts";

const noHeaders = "no response had these headers";

type CheckResult = Mismatch | null | undefined;

const judgeEachHead =
  (check: (sample: SampledRequest, facts: LoadFacts) => CheckResult) =>
  (facts: LoadFacts): JudgeResult =>
    judgeResponses(
      facts.sent.filter((sample) => isKeyAccepted(sample) && hasKnownHeaders(sample)),
      (sample) => check(sample, facts),
      facts,
      noHeaders,
    );

/** Judges headers by counts per second, because the evidence of a long run does not keep each response. */
const judgeHeadCounts = (
  facts: LoadFacts,
  brokenIn: (head: ResponseHeadCounts) => number,
  mismatch: Mismatch,
  applies: (status: number, endpoint: FlowEndpoint | undefined) => boolean = () => true,
): JudgeResult =>
  judgeSecondCounts(
    facts,
    ({ heads }, endpoint) => {
      const judged = heads.filter(({ status }) => isKeyAccepted({ status }) && applies(status, endpoint));
      const broken = sumOf(judged.map(brokenIn));
      return {
        checked: sumOf(judged.map(({ answered }) => answered)),
        broken,
        mismatch: broken === 0 ? null : mismatch,
      };
    },
    noHeaders,
  );

function allFourHeaders(what: string, applies: (status: number, endpoint: FlowEndpoint | undefined) => boolean) {
  const expected = `${allRateHeaders} on every ${what}`;
  const judge = judgeEachHead((sample) => {
    if (sample.status === null || !applies(sample.status, sample.plannedFlow.operation.kind)) return undefined;
    const missing = missingHeaders(sample, sample.malformed).map((name) => name.replace(/^X-RateLimit-/, ""));
    return missing.length === 0 ? null : { expected, actual: `no number in X-RateLimit-${missing.join(", -")}` };
  });
  return (facts: LoadFacts): JudgeResult =>
    hasCountsOnly(facts)
      ? judgeHeadCounts(facts, ({ lacking }) => lacking, { expected, actual: "a header is missing" }, applies)
      : judge(facts);
}

/** Judges of HDR-1 and HDR-4 to HDR-7: each kind of response has all four rate-limit headers. */
export const headerPresenceJudges: Readonly<Record<string, (facts: LoadFacts) => JudgeResult>> = {
  "HDR-1": allFourHeaders(
    "successful response",
    (status, kind) => is2xx(status) && kind !== "stream" && kind !== "health",
  ),
  "HDR-4": allFourHeaders("429 response", (status) => status === 429),
  "HDR-5": allFourHeaders("500 response, or another 5xx", (status, kind) => status >= 500 && kind !== "health"),
  "HDR-6": allFourHeaders("stream's response", (status, kind) => is2xx(status) && kind === "stream"),
  "HDR-7": allFourHeaders("health response", (status, kind) => is2xx(status) && kind === "health"),
};

export function createHeaderRuleJudge({ clause, expected, countedAs, judge: actualOf }: HeaderRule) {
  const judge = judgeEachHead((sample, { limits }): CheckResult => {
    const malformed = sample.malformed?.find(({ name }) => headerFormClauseOf(name) === clause);
    if (malformed !== undefined) return { expected: describeHeaderForm(clause), actual: malformed.actual };
    const actual = actualOf(sample, limits);
    return typeof actual === "string" ? { expected, actual } : actual;
  });
  return (facts: LoadFacts): JudgeResult => {
    if (!hasCountsOnly(facts) || countedAs === null) return judge(facts);
    return countedAs === "negative"
      ? judgeHeadCounts(facts, ({ negative, malformed }) => negative + malformed, {
          expected: describeHeaderForm(clause),
          actual: "a negative number, or no number",
        })
      : judgeHeadCounts(facts, (head) => head[countedAs], { expected, actual: "`Remaining` above `Limit`" });
  };
}

/** Judges HDR-14: `Reset` is the current time plus `Reset-After`. */
export const judgeReset = judgeEachHead((sample, { evidence: { speed } }) => {
  const { sentMs, headMs, date } = sample;
  // If the target's clock has normal speed, `Reset` may match this machine's time instead of `Date`. Without `Date`,
  // `Reset` is not judged.
  const ours = speed === 1 && date !== null ? { fromSeconds: sentMs / 1000, toSeconds: headMs / 1000 } : null;
  const actual = resetMismatch(sample, { tookSeconds: ((headMs - sentMs) * speed) / 1000, ours });
  const expected = "`Reset` is Unix seconds, `Reset-After` from now within 2 s";
  return typeof actual === "string" ? { expected, actual } : actual;
});

/** Judges HDR-15: `Reset-After` falls as time passes. */
export function judgeResetAfterDecreases(facts: LoadFacts): JudgeResult {
  const windows = judgeTimeLeft(
    facts.main.samples,
    facts.limits,
    (from, to) => (facts.time.at(to.sentMs).fromMs - facts.time.at(from.headMs).toMs) / 1000,
  );
  for (const { first, last, mismatch } of windows)
    if (mismatch !== null)
      return breach(mismatch.expected, mismatch.actual, [describeRequest(first, facts), describeRequest(last, facts)]);
  return windows.length > 0
    ? holds(`${windows.length} windows`)
    : unproven("no two responses of one window were some seconds apart");
}

/** Judges HDR-17: a 429 for too many requests per minute or hour reports `Remaining: 0`. */
export function judgeRefusedRemaining(facts: LoadFacts): JudgeResult {
  // Skips a 429 that reports the hour's limit with `Remaining` above 0. The minute's limit may have caused that 429.
  const refusals = facts.sent.filter(
    (each) =>
      isRefused(each) &&
      isAgentCall(each) &&
      each.remaining !== null &&
      (each.remaining === 0 || !isHourLimit(each.limit, facts.limits)),
  );
  if (refusals.length === 0) return unproven("no 429 reported `Remaining` of the window that refused");
  const result = judgeResponses(
    refusals.filter(createRateRefusalTest(facts)),
    ({ remaining }) =>
      (remaining ?? 0) > 0
        ? { expected: "`X-RateLimit-Remaining: 0` on a 429 for the rate", actual: String(remaining) }
        : null,
    facts,
    "each refusal may have been for a concurrency slot or the month's tokens",
  );
  return result.kind === "breach" && facts.main.judgement().kind === "breach"
    ? unproven("the refusals fit no admissible limiter")
    : result;
}
