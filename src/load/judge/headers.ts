import { is2xx } from "../../base/http-status.ts";
import { sumOf } from "../../base/numbers.ts";
import type { Mismatch } from "../../rules/mismatch.ts";
import { type HeaderRule, missingHeaders, isHourLimit } from "../../rules/limits/header-rules.ts";
import { isKeyAccepted, judgeTimeLeft } from "../../rules/limits/time-left.ts";
import { resetMismatch } from "../../rules/limits/reset-consistency.ts";
import { hasCountsOnly, describeRequest, type LoadFacts } from "./facts.ts";
import { type FlowEndpoint, judgeResponses, judgeSecondCounts } from "./responses.ts";
import { breach, holds, type JudgeResult, unproven } from "./finding.ts";
import { cannotBeConcurrency } from "./requests-between.ts";
import { isRefused, isAgentCall } from "../../rules/limits/sample.ts";
import type { SecondCounts } from "../load-evidence.ts";
import { hasKnownHeaders } from "../load-sample.ts";
import type { SampledRequest } from "./sampled-requests.ts";

const none = "no answer had the headers in question";

/** Judges every answer in which the limiter of a key spoke; `say` tells what is wrong with one, `null` where nothing is, `undefined` where it does not apply. */
const everyAnswer =
  (expected: string, say: (sample: SampledRequest, facts: LoadFacts) => string | null | undefined) =>
  (facts: LoadFacts): JudgeResult =>
    judgeResponses(
      facts.sent.filter((sample) => isKeyAccepted(sample) && hasKnownHeaders(sample)),
      (sample) => {
        const actual = say(sample, facts);
        return typeof actual === "string" ? { expected, actual } : actual;
      },
      facts,
      none,
    );

const lacking = (sample: SampledRequest): string | null => {
  const missing = missingHeaders(sample).map((name) => name.replace(/^X-RateLimit-/, ""));
  return missing.length === 0 ? null : `no whole number in X-RateLimit-${missing.join(", -")}`;
};

/** Judges the answers of a long run by what was counted of their headers, those of which the rule speaks. */
const judgeHeads = (
  facts: LoadFacts,
  broken: Exclude<keyof SecondCounts["heads"][number], "status" | "answered">,
  wrong: Mismatch,
  applies: (status: number, endpoint: FlowEndpoint | undefined) => boolean = () => true,
): JudgeResult =>
  judgeSecondCounts(
    facts,
    ({ heads }, endpoint) => {
      const those = heads.filter(({ status }) => isKeyAccepted({ status }) && applies(status, endpoint));
      const count = sumOf(those.map((head) => head[broken]));
      return { looked: sumOf(those.map(({ answered }) => answered)), broken: count, wrong: count === 0 ? null : wrong };
    },
    none,
  );

/** Judges that all four headers are on each of these answers. */
const allFour = (what: string, applies: (status: number, endpoint: FlowEndpoint | undefined) => boolean) => {
  const expected = `all four rate-limit headers on every ${what}`;
  const judge = everyAnswer(expected, (sample) =>
    sample.status !== null && applies(sample.status, sample.plannedFlow.operation.kind) ? lacking(sample) : undefined,
  );
  return (facts: LoadFacts): JudgeResult =>
    hasCountsOnly(facts)
      ? judgeHeads(facts, "lacking", { expected, actual: "missing, or no whole numbers" }, applies)
      : judge(facts);
};

export const judgeSuccessHeaders = allFour(
  "successful response",
  (status, kind) => is2xx(status) && kind !== "stream" && kind !== "health",
);
export const judgeRefusalHeaders = allFour("429 response", (status) => status === 429);
export const judgeFailureHeaders = allFour(
  "500 response, or another 5xx",
  (status, kind) => status >= 500 && kind !== "health",
);
export const judgeStreamHeaders = allFour("stream's response", (status, kind) => is2xx(status) && kind === "stream");
export const judgeHealthHeaders = allFour("health response", (status, kind) => is2xx(status) && kind === "health");

/** A rule of one answer, on all of them. */
export const judgeByRule = ({ expected, countedAs, judge: say }: HeaderRule) => {
  const judge = everyAnswer(expected, (sample, { limits }) => say(sample, limits));
  return (facts: LoadFacts): JudgeResult =>
    hasCountsOnly(facts) && countedAs !== null
      ? judgeHeads(facts, countedAs, { expected, actual: wordsOf[countedAs] })
      : judge(facts);
};

const wordsOf = { negative: "a negative number", aboveLimit: "`Remaining` above `Limit`" } as const;

/** HDR-14: `Reset` is what `Reset-After` says from now on, by the target's `Date` or by our own clock. */
export const judgeReset = everyAnswer(
  "`Reset` is Unix seconds, `Reset-After` from now within 2 s",
  (sample, { evidence: { speed } }) => {
    const { sentMs, headMs, date } = sample;
    // A target whose time runs faster than ours keeps a time of its own. By our clock alone nothing is judged: load comes from many machines.
    const ours = speed === 1 && date !== null ? { fromSeconds: sentMs / 1000, toSeconds: headMs / 1000 } : null;
    return resetMismatch(sample, { tookSeconds: ((headMs - sentMs) * speed) / 1000, ours });
  },
);

/** HDR-15: `Reset-After` falls as time passes. */
export function judgeResetAfterFalls(facts: LoadFacts): JudgeResult {
  const told = judgeTimeLeft(
    facts.main.sent,
    facts.limits,
    (from, to) => (facts.time.at(to.sentMs).fromMs - facts.time.at(from.headMs).toMs) / 1000,
  );
  for (const { first, last, mismatch } of told)
    if (mismatch !== null)
      return breach(mismatch.expected, mismatch.actual, [describeRequest(first, facts), describeRequest(last, facts)]);
  return told.length > 0
    ? holds(`${told.length} windows`)
    : unproven("no two answers of one window lay some seconds apart");
}

/** HDR-17: a 429 for the rate shows no room. */
export function judgeRefusedRemaining(facts: LoadFacts): JudgeResult {
  const refusals = facts.sent.filter((each) => isRefused(each) && isAgentCall(each));
  // Headers may speak of the hour throughout, while the minute refuses.
  const shown = refusals.filter(
    ({ limit, remaining }) => remaining !== null && (remaining === 0 || !isHourLimit(limit, facts.limits)),
  );
  if (shown.length === 0) return unproven("no 429 showed `Remaining` of the window that refused");
  const alone = shown.filter(cannotBeConcurrency(facts));
  const said = judgeResponses(
    alone,
    ({ remaining }) =>
      (remaining ?? 0) > 0
        ? { expected: "`X-RateLimit-Remaining: 0` on a 429 for the rate", actual: String(remaining) }
        : null,
    facts,
    "each refusal may have been for its slot",
  );
  return said.kind === "breach" && facts.main.judgement().kind === "breach"
    ? unproven("the refusals fit no admissible limiter")
    : said;
}
