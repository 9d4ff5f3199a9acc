import { sanitizeLine } from "../../base/sanitize.ts";
import { clauseOf, isClauseId } from "../../spec/clauses.ts";
import { formatCoverage } from "./coverage.ts";
import { formatScenarioTrials } from "./load-results.ts";
import type { ReportFinding } from "./finding.ts";
import {
  fact,
  type LabelledValue,
  joinFirstTexts,
  joinTexts,
  outside,
  outsideProse,
  own,
  type Text,
  text,
} from "./section.ts";

export interface FindingId {
  readonly check: string;
  readonly instance?: string | null | undefined;
}

/** Returns the key of a finding, to find it in another report. Rarely, two findings of one report share a key. */
export const findingKey = ({ check, instance }: FindingId): string => JSON.stringify([check, instance ?? null]);

/** Formats the check of a finding, such as `SSE-5/name`, or `SSE-5/name (pro)` if the finding has an instance. */
export const findingName = ({ check, instance }: FindingId): string =>
  `${sanitizeLine(check, 120)}${instance === undefined || instance === null ? "" : ` (${sanitizeLine(instance, 60)})`}`;

export const clausesOf = (findings: readonly Pick<ReportFinding, "clause">[]): string[] => [
  ...new Set(findings.map(({ clause }) => clause)),
];

/** Returns the sentence of a clause in the interface document; an empty string for a rule of a load scenario. */
export const clauseSentence = (clause: string): string => (isClauseId(clause) ? clauseOf(clause).says : "");

export const clauseNames = (clauses: readonly string[], max: number): Text =>
  joinFirstTexts(
    clauses.map((clause) => outside(clause, 60)),
    max,
  );

export function breachText({ expected = "", actual, reason = "", where }: ReportFinding, max = 160): Text {
  const breach = text`expected ${outsideProse(expected, max)}; ${outsideProse(formatActual(actual ?? reason), max)}`;
  return where === undefined ? breach : text`${breach}, at ${outside(formatPlace(where))}`;
}

function formatActual(actual: string): string {
  const missing = /^(on \d+ of \d+ [a-z]+): missing: (.*)$/s.exec(actual);
  if (missing !== null) return `${missing[1]}, ${missing[2]} missing`;
  return /^on \d+ of \d+ /.test(actual) ? actual : `got ${actual}`;
}

const formatPlace = ({ file, line, column }: NonNullable<ReportFinding["where"]>): string =>
  `${file}:${line}:${column}`;

/**
 * Findings of one check with the same texts, merged. `finding` is the first of them. `instances` names the tier of each
 * of them, or under load the tier and the engine.
 */
export interface DistinctFinding {
  readonly finding: ReportFinding;
  readonly instances: readonly string[];
}

export function findingFacts({ finding, instances }: DistinctFinding): LabelledValue[] {
  const { expected = "", actual, reason = "", seen, load, where } = finding;
  return [
    fact("expected", outside(expected, 600)),
    fact("actual", outside(actual ?? reason, 600)),
    ...(where === undefined ? [] : [fact("where", outside(formatPlace(where), 600))]),
    ...(seen === undefined || seen.looked < 2 ? [] : [fact("coverage", outsideProse(formatCoverage(seen), 600))]),
    ...instanceFacts(instances, load),
  ];
}

function instanceFacts(instances: readonly string[], load: ReportFinding["load"]): LabelledValue[] {
  if (load !== undefined) return [fact("under", outside(formatScenarioTrials(load.scenario, instances), 600))];
  if (instances.length === 0) return [];
  const tiers = joinTexts(instances.map((instance) => outside(instance, 40)));
  return [fact("with", text`${own(instances.length === 1 ? "tier" : "tiers")} ${tiers}`)];
}
