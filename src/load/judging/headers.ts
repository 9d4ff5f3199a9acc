import { type AnswerRule, lackingIn, speaksOfHour } from "../../limits/answer-rules.ts";
import { isSpoken, timeLeftIn } from "../../limits/told-windows.ts";
import { resetDisagreement } from "../../limits/reset-agreement.ts";
import { lineOf, type LoadFacts } from "./facts.ts";
import { breach, holds, type Says, unproven } from "./finding.ts";
import { notForSlots } from "./overlap.ts";
import { isAdmitted, isRefused, isTurn } from "../../limits/sample.ts";
import type { Sent } from "./sent.ts";

const isSummary = ({ evidence }: LoadFacts): boolean => evidence.requests.length === 0 && evidence.summary.length > 0;

/** Judges every answer; `say` tells what is wrong with one, `null` where nothing is, `undefined` where it does not apply. */
const everyAnswer =
  (expected: string, say: (sample: Sent, facts: LoadFacts) => string | null | undefined) =>
  (facts: LoadFacts): Says => {
    let judged = 0;
    const wrong: { sample: Sent; actual: string }[] = [];
    for (const sample of facts.sent.filter(isSpoken)) {
      const actual = say(sample, facts);
      if (actual !== undefined) judged += 1;
      if (typeof actual === "string") wrong.push({ sample, actual });
    }
    const [first] = wrong;
    if (first === undefined)
      return judged > 0 ? holds(`${judged} answers`) : unproven("no answer had the headers in question");
    const witness = wrong.slice(0, 5).map(({ sample }) => lineOf(sample, facts));
    return breach(expected, `${first.actual}, and ${wrong.length - 1} others of ${judged}`, witness);
  };

const lacking = (sample: Sent): string | null => {
  const missing = lackingIn(sample).map((name) => name.replace(/^X-RateLimit-/, ""));
  return missing.length === 0 ? null : `no whole number in X-RateLimit-${missing.join(", -")}`;
};

/** Judges that all four headers are on each of these answers. */
const allFour = (what: string, applies: (sample: Sent) => boolean) => {
  const judge = everyAnswer(`all four rate-limit headers on every ${what}`, (sample) =>
    applies(sample) ? lacking(sample) : undefined,
  );
  return (facts: LoadFacts): Says => (isSummary(facts) ? allFourBySummary(facts, what) : judge(facts));
};

function allFourBySummary({ evidence: { summary } }: LoadFacts, what: string): Says {
  const without = summary.reduce((sum, slot) => sum + slot.withoutHeaders, 0);
  const answered = summary.reduce((sum, slot) => sum + slot.admitted + slot.refused + slot.failed, 0);
  if (without === 0) return holds(`${answered} answers`);
  return breach(
    `all four rate-limit headers on every ${what}`,
    `missing, or no whole numbers, on ${without} of ${answered} answers`,
  );
}

export const judgeSuccessHeaders = allFour(
  "successful response",
  (sample) => isAdmitted(sample) && !["stream", "health"].includes(sample.kind),
);
export const judgeRefusalHeaders = allFour("429 response", isRefused);
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
  return (facts: LoadFacts): Says => (isSummary(facts) && summary !== null ? bySummary(expected, facts) : judge(facts));
};

function bySummary(expected: string, { evidence: { summary } }: LoadFacts): Says {
  const out = summary.reduce((sum, slot) => sum + slot.outOfRange, 0);
  return out === 0
    ? holds("all answers of the summary")
    : breach(expected, `${out} answers had a \`Remaining\` out of its range`);
}

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
  const wrong = alone.filter(({ remaining }) => (remaining ?? 0) > 0);
  const [first] = wrong;
  if (first === undefined)
    return alone.length > 0 ? holds(`${alone.length} refusals`) : unproven("each refusal may have been for its slot");
  if (facts.main.judgement().kind === "breach") return unproven("the refusals fit no admissible limiter");
  return breach(
    "`X-RateLimit-Remaining: 0` on a 429 for the rate",
    `${first.remaining}, and ${wrong.length - 1} others`,
    wrong.slice(0, 5).map((each) => lineOf(each, facts)),
  );
}
