import { is2xx } from "../../base/http-status.ts";
import { sumOf } from "../../base/numbers.ts";
import type { Wrong } from "../../base/wrong.ts";
import { type AnswerRule, lackingIn, speaksOfHour } from "../../limits/answer-rules.ts";
import { isSpoken, timeLeftIn } from "../../limits/told-windows.ts";
import { resetDisagreement } from "../../limits/reset-agreement.ts";
import { isCounted, lineOf, type LoadFacts } from "./facts.ts";
import { type FlowEndpoint, judgeEach, judgeSlots } from "./every.ts";
import { breach, holds, type Says, unproven } from "./finding.ts";
import { notForSlots } from "./overlap.ts";
import { isRefused, isTurn } from "../../limits/sample.ts";
import type { SlotSummary } from "../load-evidence.ts";
import { isHeadKnown } from "../load-sample.ts";
import type { Sent } from "./sent.ts";

const none = "no answer had the headers in question";

/** Judges every answer in which the limiter of a key spoke; `say` tells what is wrong with one, `null` where nothing is, `undefined` where it does not apply. */
const everyAnswer =
  (expected: string, say: (sample: Sent, facts: LoadFacts) => string | null | undefined) =>
  (facts: LoadFacts): Says =>
    judgeEach(
      facts.sent.filter((sample) => isSpoken(sample) && isHeadKnown(sample)),
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

/** Judges the answers of a long run by what was counted of their headers, those of which the rule speaks. */
const judgeHeads = (
  facts: LoadFacts,
  broken: Exclude<keyof SlotSummary["heads"][number], "status" | "answered">,
  wrong: Wrong,
  applies: (status: number, endpoint: FlowEndpoint | undefined) => boolean = () => true,
): Says =>
  judgeSlots(
    facts,
    ({ heads }, endpoint) => {
      const those = heads.filter(({ status }) => isSpoken({ status }) && applies(status, endpoint));
      const count = sumOf(those.map((head) => head[broken]));
      return { looked: sumOf(those.map(({ answered }) => answered)), broken: count, wrong: count === 0 ? null : wrong };
    },
    none,
  );

/** Judges that all four headers are on each of these answers. */
const allFour = (what: string, applies: (status: number, endpoint: FlowEndpoint | undefined) => boolean) => {
  const expected = `all four rate-limit headers on every ${what}`;
  const judge = everyAnswer(expected, (sample) =>
    sample.status !== null && applies(sample.status, sample.of.operation.kind) ? lacking(sample) : undefined,
  );
  return (facts: LoadFacts): Says =>
    isCounted(facts)
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
export const judgeByRule = ({ expected, counted, say }: AnswerRule) => {
  const judge = everyAnswer(expected, (sample, { limits }) => say(sample, limits));
  return (facts: LoadFacts): Says =>
    isCounted(facts) && counted !== null
      ? judgeHeads(facts, counted, { expected, actual: wordsOf[counted] })
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
