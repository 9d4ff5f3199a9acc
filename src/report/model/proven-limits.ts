import { groupsBy } from "../../base/groups.ts";
import { type LabelledValue, fact, joinTexts, outside, own, text, type Text } from "./section.ts";
import type { Report, ReportFinding } from "./report.ts";

export type ProvenLimit = NonNullable<Report["limits"]>[number];

const windowByCheck: ReadonlyMap<string, ProvenLimit["window"]> = new Map([
  ["LIM-1", "minute"],
  ["LIM-3", "hour"],
]);

export const provenLimits = (findings: readonly ReportFinding[]): ProvenLimit[] =>
  findings.flatMap(({ check, instance, outcome, excessPercent }): ProvenLimit[] => {
    const window = windowByCheck.get(check);
    if (window === undefined || instance === undefined) return [];
    const limit = { tier: instance, window };
    if (outcome === "pass") return [{ ...limit, kind: "kept" }];
    if (outcome !== "fail") return [{ ...limit, kind: "not proven" }];
    return [{ ...limit, kind: "exceeded", excessPercent: excessPercent ?? null }];
  });

export const limitFacts = (limits: readonly ProvenLimit[]): LabelledValue[] =>
  groupsBy(limits, limitResult).map((those) => fact(`rate limits ${limitResult(those[0])}`, tiersText(those)));

export function limitResult(limit: ProvenLimit): string {
  if (limit.kind !== "exceeded") return limit.kind;
  return limit.excessPercent === null
    ? "exceeded by an unknown amount"
    : `exceeded by at most ${limit.excessPercent} %`;
}

const tiersText = (limits: readonly ProvenLimit[]): Text =>
  joinTexts(
    groupsBy(limits, ({ tier }) => tier).map(
      (those) => text`${outside(those[0].tier, 40)} (${own(those.map(({ window }) => window).join(", "))})`,
    ),
  );
