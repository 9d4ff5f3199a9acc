import { judgeAdmission } from "../../limits/admission/judge.ts";
import { countsOf } from "./blame.ts";
import { lineOf, linesOf, type LoadFacts } from "./facts.ts";
import { judgeEach } from "./every.ts";
import { breach, holds, type Says, unproven } from "./finding.ts";
import { windowsOf } from "../../limits/told-windows.ts";
import { betweenOf } from "./overlap.ts";
import { isAdmitted, isRefused, isTurn } from "../../limits/sample.ts";
import type { Sent } from "./sent.ts";

/** HLT-15: health answers 200 while invoke answers 429. */
export function judgeHealthWhileExhausted(facts: LoadFacts): Says {
  const { sent } = facts.main;
  const said = judgeEach(
    sent.filter((each) => isHealth(each) && each.status !== null),
    (each) => (isRefused(each) ? { expected: "no rate limit applies to health", actual: "429" } : null),
    facts,
    "health was not called",
  );
  if (said.kind !== "holds") return said;
  const refused = sent.filter((each) => isTurn(each) && isRefused(each));
  const [first, last] = [refused[0], refused.at(-1)];
  if (first === undefined || last === undefined) return unproven("invoke was not refused");
  const during = sent.filter(
    (each) => each.kind === "health" && each.sentMs >= first.headMs && each.headMs <= last.headMs,
  );
  if (during.length === 0) return unproven("health was not called between two refusals");
  const others = during.filter((each) => !isAdmitted(each));
  return others.length === 0
    ? { ...said, detail: `${during.length} calls between two refusals` }
    : unproven(`${others.length} of ${during.length} calls came to ${others[0]?.status ?? "no answer"}`);
}

/** HLT-16: health calls use up nothing. */
export function judgeHealthIsFree(facts: LoadFacts): Says {
  const { main, limits } = facts;
  const health = new Set(main.sent.filter(({ kind }) => kind === "health").map(({ id }) => id));
  const without = { ...main.history, decisions: main.history.decisions.filter(({ id }) => !health.has(id)) };
  if (health.size === 0) return unproven("health was not called");
  const judged = judgeAdmission(without, limits, main.options);
  const fall = fallAcross(facts);
  if (fall !== null) return fall;
  if (judged.kind === "explained")
    return main.sent.some((each) => isTurn(each) && isRefused(each))
      ? holds(`${health.size} calls; without them, ${countsOf({ ...main, history: without })}`)
      : unproven("invoke was not refused");
  if (main.judgement().kind === "breach")
    return unproven("the refusals fit no admissible limiter, whether or not health counts");
  return breach(
    "health calls do not use up the allowance",
    `without its ${health.size} calls no admissible limiter explains the rest: ${judged.actual}`,
    linesOf(judged.witness, facts),
  );
}

/** `Remaining` that falls further than requests other than health explain. */
function fallAcross(facts: LoadFacts): Says | null {
  const { main } = facts;
  const between = betweenOf(main.sent);
  for (const window of windowsOf(main.sent)) {
    // A refusal speaks of the limit that refused, which may call itself the same.
    const [from, ...later] = window.filter((each) => !isRefused(each));
    if (from === undefined) continue;
    const to = later.find((each) => (from.remaining ?? 0) - (each.remaining ?? Infinity) > between.atMost(from, each));
    if (
      to === undefined ||
      !main.sent.some((each) => isHealth(each) && each.sentMs <= to.headMs && each.headMs >= from.sentMs)
    )
      continue;
    const fell = (from.remaining ?? 0) - (to.remaining ?? 0);
    return breach(
      "health calls do not use up the allowance",
      `\`Remaining\` fell by ${fell}, with at most ${between.atMost(from, to)} other requests in between`,
      [lineOf(from, facts), lineOf(to, facts)],
    );
  }
  return null;
}

const isHealth = ({ kind }: Sent): boolean => kind === "health";
