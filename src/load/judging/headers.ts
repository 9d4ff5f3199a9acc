import { type AnswerRule, lackingIn, speaksOfHour } from "../../limits/answer-rules.ts";
import { isSpoken, timeLeftIn } from "../../limits/told-windows.ts";
import { resetDisagreement } from "../../limits/reset-agreement.ts";
import { lineOf, type LoadFacts } from "./facts.ts";
import { judgeEach, judgeSlots } from "./every.ts";
import { breach, holds, type Says, unproven } from "./finding.ts";
import { notForSlots } from "./overlap.ts";
import { isAdmitted, isRefused, isTurn } from "../../limits/sample.ts";
import type { Sent } from "./sent.ts";

const isSummary = ({ evidence }: LoadFacts): boolean => evidence.requests.length === 0 && evidence.summary.length > 0;

const none = "no answer had the headers in question";

/** Judges every answer in which the limiter of a key spoke; `say` tells what is wrong with one, `null` where nothing is, `undefined` where it does not apply. */
const everyAnswer =
  (expected: string, say: (sample: Sent, facts: LoadFacts) => string | null | undefined) =>
  (facts: LoadFacts): Says =>
    judgeEach(
      facts.sent.filter(isSpoken),
      (sample) => {
        const actual = say(sample, facts);
        return typeof actual === "string" ? { expected, actual } : actual;
      },
      facts,
      none,
    );

const lacking = (sample: Sent): string | null => {
  const missing = lackingIn(sample).map((name) => name.replace(/^X-RateLimit-/, ""));
  return missing.length === 0 ? null : `no whole number in X-RateLimit-${missing.join(", -")}`;
};

/** Judges that all four headers are on each of these answers. */
const allFour = (what: string, applies: (sample: Sent) => boolean) => {
  const expected = `all four rate-limit headers on every ${what}`;
  const judge = everyAnswer(expected, (sample) => (applies(sample) ? lacking(sample) : undefined));
  return (facts: LoadFacts): Says =>
    isSummary(facts)
      ? judgeSlots(
          facts,
          ({ admitted, refused, failed, withoutHeaders }) => ({
            looked: admitted + refused + failed,
            broken: withoutHeaders,
            wrong: withoutHeaders === 0 ? null : { expected, actual: "missing, or no whole numbers" },
          }),
          none,
        )
      : judge(facts);
};

export const judgeSuccessHeaders = allFour(
  "successful response",
  (sample) => isAdmitted(sample) && !["stream", "health"].includes(sample.kind),
);
export const judgeRefusalHeaders = allFour("429 response", isRefused);
export const judgeFailureHeaders = allFour(
  "500 response, or another 5xx",
  ({ status, kind }) => (status ?? 0) >= 500 && kind !== "health",
);
export const judgeStreamHeaders = allFour(
  "stream's response",
  (sample) => isAdmitted(sample) && sample.kind === "stream",
);
export const judgeHealthHeaders = allFour(
  "health response",
  (sample) => isAdmitted(sample) && sample.kind === "health",
);

/** A rule of one answer, on all of them. */
export const judgeByRule = ({ expected, summary, say }: AnswerRule) => {
  const judge = everyAnswer(expected, (sample, { limits }) => say(sample, limits));
  return (facts: LoadFacts): Says =>
    isSummary(facts) && summary !== null
      ? judgeSlots(
          facts,
          ({ admitted, refused, failed, outOfRange }) => ({
            looked: admitted + refused + failed,
            broken: outOfRange,
            wrong: outOfRange === 0 ? null : { expected, actual: "`Remaining` out of its range" },
          }),
          none,
        )
      : judge(facts);
};

/** HDR-14: `Reset` is what `Reset-After` says from now on, by the target's `Date` or by our own clock. */
export const judgeReset = everyAnswer(
  "`Reset` is Unix seconds, `Reset-After` from now within 2 s",
  (sample, { evidence: { speed } }) => {
    const { sentMs, headMs, date } = sample;
    // A target whose time runs faster than ours keeps a time of its own. By our clock alone nothing is judged: load comes from many machines.
    const ours = speed === 1 && date !== null ? { fromSeconds: sentMs / 1000, toSeconds: headMs / 1000 } : null;
    return resetDisagreement(sample, { tookSeconds: ((headMs - sentMs) * speed) / 1000, ours });
  },
);

/** HDR-15: `Reset-After` falls as time passes. */
export function judgeResetAfterFalls(facts: LoadFacts): Says {
  const told = timeLeftIn(
    facts.main.sent,
    facts.limits,
    (from, to) => (facts.time.at(to.sentMs).fromMs - facts.time.at(from.headMs).toMs) / 1000,
  );
  for (const { first, last, wrong } of told)
    if (wrong !== null) return breach(wrong.expected, wrong.actual, [lineOf(first, facts), lineOf(last, facts)]);
  return told.length > 0
    ? holds(`${told.length} windows`)
    : unproven("no two answers of one window lay some seconds apart");
}

/** HDR-17: a 429 for the rate shows no room. */
export function judgeRefusedRemaining(facts: LoadFacts): Says {
  const refusals = facts.sent.filter((each) => isRefused(each) && isTurn(each));
  // Headers may speak of the hour throughout, while the minute refuses.
  const shown = refusals.filter(
    ({ limit, remaining }) => remaining !== null && (remaining === 0 || !speaksOfHour(limit, facts.limits)),
  );
  if (shown.length === 0) return unproven("no 429 showed `Remaining` of the window that refused");
  const alone = shown.filter(notForSlots(facts));
  const said = judgeEach(
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
