import { groupsBy } from "../../base/groups.ts";
import { type LabelledValue, fact, joinTexts, outside, own, text, type Text } from "./section.ts";
import type { Report, ReportFinding } from "./report.ts";

/** The result of testing one rate limit: the limit per minute or per hour of one tier. */
export type ProvenLimit = NonNullable<Report["limits"]>[number];

/** The rate-limit window that a check tests, by id of the check. */
const windowByCheck: ReadonlyMap<string, ProvenLimit["window"]> = new Map([
  ["LIM-1", "minute"],
  ["LIM-3", "hour"],
]);

/** Lists the rate limits that a run tested, by tier. */
export const provenLimits = (findings: readonly ReportFinding[]): ProvenLimit[] =>
  findings.flatMap(({ check, instance, outcome, excessPercent }): ProvenLimit[] => {
    const window = windowByCheck.get(check);
    if (window === undefined || instance === undefined) return [];
    const limit = { tier: instance, window };
    if (outcome === "pass") return [{ ...limit, kind: "kept" }];
    if (outcome !== "fail") return [{ ...limit, kind: "not proven" }];
    return [{ ...limit, kind: "exceeded", excessPercent: excessPercent ?? null }];
  });

/** Groups rate limits by their test result, such as `kept`, into one fact for each result. */
export const limitFacts = (limits: readonly ProvenLimit[]): LabelledValue[] =>
  groupsBy(limits, limitResult).map((those) => fact(`rate limits ${limitResult(those[0])}`, tiersText(those)));

/** Describes the result for a rate limit, such as `exceeded by at most 10 %`. */
export function limitResult(limit: ProvenLimit): string {
  if (limit.kind !== "exceeded") return limit.kind;
  return limit.excessPercent === null
    ? "exceeded by an unknown amount"
    : `exceeded by at most ${limit.excessPercent} %`;
}

/** Lists windows by tier, such as `free (minute, hour), pro (minute)`. */
const tiersText = (limits: readonly ProvenLimit[]): Text =>
  joinTexts(
    groupsBy(limits, ({ tier }) => tier).map(
      (those) => text`${outside(those[0].tier, 40)} (${own(those.map(({ window }) => window).join(", "))})`,
    ),
  );
