import { member } from "../../base/json.ts";
import type { LoadFacts } from "./facts.ts";
import { breach, holds, type Says, unproven } from "./finding.ts";
import { isAdmitted, isTurn } from "../../limits/sample.ts";

interface Counts {
  readonly used: number;
  readonly limit: number;
  readonly remaining: number;
}

/** One of the two ledgers of a usage report, at the top level or in the envelope. */
function countsIn(body: unknown, of: "requests" | "tokens"): Counts | null {
  const found = member(body, of) ?? member(body, "data", "result", of) ?? member(body, "data", of);
  const [used, limit, remaining] = ["used", "limit", "remaining"].map((name) => member(found, name));
  return isWhole(used) && isWhole(limit) && isWhole(remaining) ? { used, limit, remaining } : null;
}

const isWhole = (value: unknown): value is number => typeof value === "number" && Number.isInteger(value);

const periodOf = (body: unknown): unknown =>
  member(body, "period") ?? member(body, "data", "result", "period") ?? member(body, "data", "period");

/** USE-1: the report is there. */
export const judgeReport = ({ evidence: { ledger } }: LoadFacts): Says => {
  if (ledger === null) return unproven("usage was not read");
  return ledger.before === null || ledger.after === null
    ? unproven("usage could not be read")
    : holds("usage was read before and after");
};

/** USE-3 and USE-4: three integers. */
const judgeCounts =
  (of: "requests" | "tokens") =>
  ({ evidence: { ledger } }: LoadFacts): Says => {
    if (ledger === null || ledger.after === null) return unproven("usage could not be read");
    return countsIn(ledger.after, of) === null
      ? breach(
          `\`${of}\` has the integers \`used\`, \`limit\` and \`remaining\``,
          JSON.stringify(member(ledger.after, of) ?? ledger.after).slice(0, 200),
        )
      : holds("three integers");
  };

export const judgeRequestCounts = judgeCounts("requests");
export const judgeTokenCounts = judgeCounts("tokens");

interface Growth {
  readonly grew: number;
  readonly least: number;
  readonly most: number;
}

/** USE-7: `requests.used` grows by what was admitted. */
export const judgeRequestsUsed = (facts: LoadFacts): Says => judgeGrowth(facts, "requests", requestsGrowth);

/** USE-8: `tokens.used` grows by what the answers say. */
export const judgeTokensUsed = (facts: LoadFacts): Says => judgeGrowth(facts, "tokens", tokensGrowth);

type GrowthOf = (facts: LoadFacts, grew: number) => Growth | string;

function judgeGrowth(facts: LoadFacts, of: "requests" | "tokens", growth: GrowthOf): Says {
  const { ledger } = facts.evidence;
  const [before, after] = [countsIn(ledger?.before, of), countsIn(ledger?.after, of)];
  if (before === null || after === null) return unproven("usage could not be read before and after");
  const found = growth(facts, after.used - before.used);
  if (typeof found === "string") return unproven(found);
  const { grew, least, most } = found;
  const text = `grew by ${grew}, from ${before.used} to ${after.used}`;
  if (grew < least) {
    const renewed = renewal(facts, before, after, of) ?? lapse(facts, before, of, least - grew);
    if (renewed !== null) return unproven(renewed);
    return breach(`\`${of}.used\` grows by ${least}${most > least ? ` to ${most}` : ""}`, text);
  }
  return grew > most
    ? breach(`\`${of}.used\` grows by ${least}${most > least ? ` to ${most}` : ""}`, text)
    : holds(text);
}

/** Whether the report after the load lacks some of it, so that a later one may still come to agree. */
export const isBehind = (facts: LoadFacts): boolean =>
  lacks(facts, "requests", requestsGrowth) || lacks(facts, "tokens", tokensGrowth);

function lacks(facts: LoadFacts, of: "requests" | "tokens", growth: GrowthOf): boolean {
  const { ledger } = facts.evidence;
  const [before, after] = [countsIn(ledger?.before, of), countsIn(ledger?.after, of)];
  if (before === null || after === null) return false;
  const found = growth(facts, after.used - before.used);
  return typeof found !== "string" && found.grew < found.least;
}

/** What was certainly admitted; refusals, errors and each reading of usage itself may count, too. */
function requestsGrowth({ main, evidence: { ledger } }: LoadFacts, grew: number): Growth {
  const turns = main.history.decisions.filter(({ outcome }) => outcome === "admitted").length;
  return { grew, least: turns, most: main.history.decisions.length + (ledger?.readsAfter ?? 1) };
}

function tokensGrowth({ main }: LoadFacts, grew: number): Growth | string {
  const admitted = main.sent.filter((each) => isTurn(each) && isAdmitted(each));
  const least = admitted.reduce((sum, { tokens }) => sum + (tokens ?? 0), 0);
  if (admitted.length === 0) return "no request of which the tokens are known was admitted";
  const isAllKnown = main.sent.every(
    (each) => !isTurn(each) || each.status === 429 || (isAdmitted(each) && each.tokens !== null),
  );
  if (least === 0) return "no answer said how many tokens it used";
  return { grew, least, most: isAllKnown ? least : Infinity };
}

/** Why a rolling hour may have lost so many requests meanwhile: what was sent on the key before may have been an hour ago. */
function lapse(
  { evidence, limits }: LoadFacts,
  before: Counts,
  of: "requests" | "tokens",
  lacking: number,
): string | null {
  if (of === "tokens" || evidence.isFresh || before.limit !== limits.perHour || lacking > before.used) return null;
  return `the key was used before, and ${lacking} of its requests may have left a rolling hour`;
}

/** Why the count may have begun again meanwhile. Which window `requests` speaks of, and what `period` marks, is open. */
function renewal(
  { evidence, limits, sent, time }: LoadFacts,
  before: Counts,
  after: Counts,
  of: "requests" | "tokens",
): string | null {
  if (after.used < before.used) return "the usage report began again during the run";
  if (periodOf(evidence.ledger?.before) !== periodOf(evidence.ledger?.after)) return "`period` changed during the run";
  if (of === "tokens" || sent.length === 0) return null;
  if (before.limit === limits.perMinute) return "`requests` speaks of the minute, which may have begun again";
  const [fromMs, toMs] = [sent[0]?.sentMs ?? 0, sent.at(-1)?.headMs ?? 0].map((ms) => time.at(ms).fromMs);
  const hourOf = (ms: number | undefined): number => Math.floor((ms ?? 0) / 3_600_000);
  const ends = sent.some(
    ({ limit, reset }) => limit === limits.perHour && reset !== null && reset * 1000 <= (toMs ?? 0) + 1000,
  );
  return before.limit === limits.perHour && (hourOf(fromMs) !== hourOf(toMs) || ends)
    ? "an hour ended during the run"
    : null;
}
