import { findingKey, findingName } from "../model/finding-text.ts";
import { firstRequirementSet } from "../../spec/clause.ts";
import { sanitizeLine } from "../../base/sanitize.ts";
import type { Outcome, ReportFinding } from "../model/finding.ts";
import type { Report } from "../model/report.ts";
import { totalsOf } from "../model/verdict.ts";
import type { Statement } from "./statement-schema.ts";
import { isDeepStrictEqual } from "node:util";

export function statementDifferences(stated: Statement, derived: Statement): string[] {
  const { exceptions, notExercised, readings, evidence } = stated;
  return [
    ...differencesIn(wholeFieldsOf(stated), wholeFieldsOf(derived), [], ["the statement says", "the report says"]),
    ...rowDifferences("exceptions", exceptions, derived.exceptions, ({ check, outcome }) => `${check} ${outcome}`),
    ...rowDifferences("notExercised", notExercised, derived.notExercised, ({ clause }) => clause),
    ...rowDifferences("readings", Object.entries(readings), Object.entries(derived.readings), ([clause]) => clause),
    ...evidenceDifferences(evidence, derived.evidence),
  ];
}

const fieldsComparedByRow: ReadonlySet<string> = new Set(["exceptions", "notExercised", "readings", "evidence"]);

const wholeFieldsOf = ({ suite, ...others }: Statement): object =>
  Object.fromEntries(
    Object.entries({ ...others, suite: { requirements: firstRequirementSet, ...suite } }).filter(
      ([name]) => !fieldsComparedByRow.has(name),
    ),
  );

export function differencesIn(
  one: unknown,
  other: unknown,
  path: readonly string[],
  words: readonly [string, string],
): string[] {
  if (isDeepStrictEqual(one, other)) return [];
  const [left, right] = [fieldsOrItemsOf(one), fieldsOrItemsOf(other)];
  if (left !== null && right !== null && haveSameParts(one, other))
    return [...new Set([...left.keys(), ...right.keys()])].flatMap((name) =>
      differencesIn(left.get(name), right.get(name), [...path, name], words),
    );
  return [`${path.join(".")}: ${words[0]} ${formatValue(one)}, ${words[1]} ${formatValue(other)}`];
}

const haveSameParts = (one: unknown, other: unknown): boolean =>
  Array.isArray(one) && Array.isArray(other)
    ? one.length === other.length
    : Array.isArray(one) === Array.isArray(other);

const fieldsOrItemsOf = (value: unknown): ReadonlyMap<string, unknown> | null =>
  typeof value === "object" && value !== null ? new Map(Object.entries(value)) : null;

const formatValue = (value: unknown): string =>
  value === undefined ? "nothing" : sanitizeLine(JSON.stringify(value), 160);

function rowDifferences<T>(
  field: string,
  stated: readonly T[],
  derived: readonly T[],
  nameOf: (row: T) => string,
): string[] {
  if (isDeepStrictEqual(stated, derived)) return [];
  const name = (row: T): string => sanitizeLine(nameOf(row), 80);
  const missing = derived.filter((row) => !stated.some((each) => nameOf(each) === nameOf(row)));
  const added = stated.filter((row) => !derived.some((each) => nameOf(each) === nameOf(row)));
  const changed = stated.filter((row) => {
    const same = derived.filter((each) => nameOf(each) === nameOf(row));
    return same.length > 0 && !same.some((each) => isDeepStrictEqual(each, row));
  });
  const lines = [
    ...missing.map((row) => `${field}: the report has ${name(row)}, which the statement leaves out`),
    ...added.map((row) => `${field}: the statement has ${name(row)}, which the report does not have`),
    ...changed.map((row) => `${field}: the statement differs from the report in ${name(row)}`),
  ];
  return lines.length > 0 ? lines : [`${field}: the statement has the rows of the report in another order or number`];
}

type StatedEvidence = Statement["evidence"];

function evidenceDifferences(stated: StatedEvidence, found: StatedEvidence): string[] {
  if (isDeepStrictEqual(stated, found)) return [];
  const digestIn = (files: StatedEvidence, file: string): string | undefined =>
    files.find((each) => each.file === file)?.sha256;
  const files = [...new Set([...stated, ...found].map(({ file }) => file))];
  const lines = files.flatMap((file) => {
    const [says, is] = [digestIn(stated, file), digestIn(found, file)];
    const name = sanitizeLine(file, 120);
    if (says === is) return [];
    if (is === undefined) return [`${name}: the statement rests on it, and the report's folder does not have it`];
    if (says === undefined) return [`${name}: the report rests on it, and the statement does not name it`];
    return [
      `${name}: its SHA-256 is ${is}, the statement says ${says}: it is not the file that the statement was made of`,
    ];
  });
  return lines.length > 0 ? lines : ["evidence: the statement names the files in another order, or one of them twice"];
}

interface JudgementDifferences {
  readonly differences: readonly string[];
  /**
   * Findings such as `SSE-10 (note)` that follow from the evidence but are not in the report, because the run probably
   * did not select their checks. They do not count as differences.
   */
  readonly leftOut: readonly string[];
}

export function rejudgeDifferences(
  report: Report,
  again: Report,
  unselected: readonly ReportFinding[] = [],
): JudgementDifferences {
  const keys = new Set(report.findings.map(findingKey));
  const isLeftOut = (finding: ReportFinding): boolean =>
    finding.level !== "must" && finding.level !== "load" && !keys.has(findingKey(finding));
  const findings = again.findings.filter((finding) => !isLeftOut(finding));
  const leftOut = [...unselected, ...again.findings.filter(isLeftOut)];
  return {
    differences: [
      ...findingDifferences(report.findings, findings),
      ...findingDifferences(report.upcoming, again.upcoming),
      ...computedDifferences(report, { ...again, totals: totalsOf(findings) }),
    ],
    leftOut: outcomesInListOrder.flatMap((outcome) =>
      leftOut.filter((finding) => finding.outcome === outcome).map((finding) => `${findingName(finding)} (${outcome})`),
    ),
  };
}

const outcomesInListOrder = ["fail", "error", "warning", "note", "observed", "pass"] as const satisfies Outcome[];

/**
 * Fields of a report that `conformance verify` computes again from the evidence and compares. A difference reveals, for
 * example, a `verdict` changed by hand.
 */
const computedFields = [
  "verdict",
  "totals",
  "created",
  "untestable",
  "requests",
  "load",
] as const satisfies (keyof Report)[];

const computedDifferences = (report: Report, again: Report): string[] =>
  computedFields.flatMap((field) =>
    differencesIn(report[field], again[field], [field], ["the report says", "its evidence"]),
  );

function findingDifferences(stated: readonly ReportFinding[], found: readonly ReportFinding[]): string[] {
  const [was, is] = [Map.groupBy(stated, findingKey), Map.groupBy(found, findingKey)];
  return [...new Set([...was.keys(), ...is.keys()])].flatMap((key) => {
    const [ours, theirs] = [was.get(key) ?? [], is.get(key) ?? []];
    // Pairs findings of the same check and instance by their order. A finding without a partner is compared with
    // `undefined`.
    return Array.from({ length: Math.max(ours.length, theirs.length) }, (_, at) =>
      findingDifference(ours[at], theirs[at]),
    ).flatMap((line) => line ?? []);
  });
}

function findingDifference(one: ReportFinding | undefined, other: ReportFinding | undefined): string | null {
  const row = one ?? other;
  if (row === undefined) return null;
  if (one?.outcome !== other?.outcome)
    return `${findingName(row)}: the report says ${one?.outcome ?? "nothing"}, its evidence ${other?.outcome ?? "nothing"}`;
  const [left, right] = [comparedFields(one), comparedFields(other)];
  const field = Object.keys({ ...left, ...right }).find((name) => !isDeepStrictEqual(left[name], right[name]));
  if (field === undefined) return null;
  return `${findingName(row)}: the report says ${formatValue(left[field])} for ${field}, its evidence ${formatValue(right[field])}`;
}

function comparedFields(finding: ReportFinding | undefined): Readonly<Record<string, unknown>> {
  if (finding?.outcome !== "error") return { ...finding };
  const { evidence: _, ...fields } = finding;
  return fields;
}
