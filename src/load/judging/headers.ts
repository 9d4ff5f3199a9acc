import { resetDisagreement } from "../../limits/reset-agreement.ts";
import { type KeyUse, lineOf, type LoadFacts } from "./facts.ts";
import { breach, holds, type Says, unproven } from "./finding.ts";
import { notForSlots } from "./overlap.ts";
import { isAdmitted, isRefused, isTurn } from "../../limits/sample.ts";
import type { Sent } from "./sent.ts";

/** Answers in which the limiter of a key spoke. */
const spoken = ({ status }: Sent): boolean => status !== null && status !== 401 && status !== 403;

const isSummary = ({ evidence }: LoadFacts): boolean => evidence.requests.length === 0 && evidence.summary.length > 0;

/** Judges every answer; `say` tells what is wrong with one, `null` where nothing is, `undefined` where it does not apply. */
const everyAnswer =
  (expected: string, say: (sample: Sent, facts: LoadFacts) => string | null | undefined) =>
  (facts: LoadFacts): Says => {
    let judged = 0;
    const wrong: { sample: Sent; actual: string }[] = [];
    for (const sample of facts.sent.filter(spoken)) {
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

const shownIn = ({ limit, remaining, reset, resetAfter }: Sent): (number | null)[] => [
  limit,
  remaining,
  reset,
  resetAfter,
];
const hasAny = (sample: Sent): boolean => shownIn(sample).some((value) => value !== null);

const lacking = (sample: Sent): string | null => {
  const missing = ["Limit", "Remaining", "Reset", "Reset-After"].filter((_, index) => shownIn(sample)[index] === null);
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

const bySummary =
  (judge: (facts: LoadFacts) => Says, expected: string) =>
  (facts: LoadFacts): Says => {
    if (!isSummary(facts)) return judge(facts);
    const out = facts.evidence.summary.reduce((sum, slot) => sum + slot.outOfRange, 0);
    return out === 0
      ? holds("all answers of the summary")
      : breach(expected, `${out} answers had a \`Remaining\` out of its range`);
  };

/** HDR-9: never negative. */
export const judgeNotNegative = bySummary(
  everyAnswer("no negative number", (sample) => {
    if (!hasAny(sample)) return undefined;
    const negative = shownIn(sample).find((value) => value !== null && value < 0);
    return negative === undefined ? null : String(negative);
  }),
  "no negative number",
);

/** HDR-10: `Limit` is the hour's or the minute's number. */
export const judgeLimitShown = everyAnswer(
  "`X-RateLimit-Limit` is the tier's number for the hour or the minute",
  ({ limit }, { limits }) => {
    if (limit === null) return undefined;
    return limit === limits.perHour || limit === limits.perMinute
      ? null
      : `${limit}, not ${limits.perHour} or ${limits.perMinute}`;
  },
);

/** HDR-11: not above the limit. */
export const judgeRemaining = bySummary(
  everyAnswer("`Remaining` is not above `Limit`", ({ limit, remaining }) => {
    if (limit === null || remaining === null) return undefined;
    return remaining <= limit ? null : `${remaining} of ${limit}`;
  }),
  "`Remaining` is not above `Limit`",
);

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

/** Length of the window that an answer speaks of. */
const windowSeconds = ({ limit }: Sent, { limits }: LoadFacts): number =>
  limit === limits.perMinute && limits.perMinute !== limits.perHour ? 60 : 3600;

/** HDR-16: not longer than the window. */
export const judgeResetAfterLength = everyAnswer(
  "`Reset-After` is within the window: 60 s or 3600 s",
  (sample, facts) => {
    const { limit, resetAfter } = sample;
    if (resetAfter === null) return undefined;
    return resetAfter <= windowSeconds(sample, facts) + 2
      ? null
      : `${resetAfter} s, with a limit of ${limit ?? "none"}`;
  },
);

/** Answers that named the same limit and the same instant of reset, in order of sending. */
export function windowsOf({ sent }: KeyUse): Sent[][] {
  const windows = new Map<string, Sent[]>();
  for (const sample of sent) {
    if (!spoken(sample) || sample.limit === null || sample.reset === null) continue;
    const name = `${sample.limit} ${sample.reset}`;
    const known = windows.get(name);
    if (known === undefined) windows.set(name, [sample]);
    else known.push(sample);
  }
  return [...windows.values()];
}

const leastSeconds = 3;

/** HDR-15: `Reset-After` falls as time passes. */
export function judgeResetAfterFalls(facts: LoadFacts): Says {
  let proven = 0;
  for (const window of windowsOf(facts.main)) {
    const [first, last] = [window[0], window.at(-1)];
    if (first === undefined || last === undefined || first.resetAfter === null || last.resetAfter === null) continue;
    if (first.resetAfter > windowSeconds(first, facts) + 2) continue;
    const passed = (facts.time.at(last.sentMs).fromMs - facts.time.at(first.headMs).toMs) / 1000;
    if (passed < leastSeconds || passed > first.resetAfter) continue;
    if (last.resetAfter > first.resetAfter - passed + 2.5)
      return breach(
        `\`Reset-After\` falls with time: from ${first.resetAfter} to about ${Math.round(first.resetAfter - passed)}`,
        `${last.resetAfter}, ${Math.round(passed)} s later`,
        [lineOf(first, facts), lineOf(last, facts)],
      );
    proven += 1;
  }
  return proven > 0 ? holds(`${proven} windows`) : unproven("no two answers of one window lay some seconds apart");
}

/** HDR-17: a 429 for the rate shows no room. */
export function judgeRefusedRemaining(facts: LoadFacts): Says {
  const refusals = facts.sent.filter((each) => isRefused(each) && isTurn(each));
  const shown = refusals.filter(({ remaining }) => remaining !== null);
  if (shown.length === 0) return unproven("no 429 showed `Remaining`");
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
