import { isDeepStrictEqual } from "node:util";

import { sanitizeLine } from "../../base/sanitize.ts";
import type { Outcome, Report, ReportFinding } from "../model/report.ts";
import { totalsOf } from "../model/verdict.ts";
import type { Statement } from "./statement-schema.ts";

/**
 * In what a statement differs from the one that a report makes, a line each; empty where it does not. Evidence is named by file, exceptions
 * and clauses by id, anything else by its field.
 */
export function statementDifferences(stated: Statement, made: Statement): string[] {
  const { exceptions, notExercised, readings, evidence } = stated;
  return [
    ...differencesIn(fieldsOf(stated), fieldsOf(made), [], ["the statement says", "the report says"]),
    ...rowDifferences("exceptions", exceptions, made.exceptions, ({ check, outcome }) => `${check} ${outcome}`),
    ...rowDifferences("notExercised", notExercised, made.notExercised, ({ clause }) => clause),
    ...rowDifferences("readings", Object.entries(readings), Object.entries(made.readings), ([clause]) => clause),
    ...evidenceDifferences(evidence, made.evidence),
  ];
}

const comparedByRow: ReadonlySet<string> = new Set(["exceptions", "notExercised", "readings", "evidence"]);

const fieldsOf = (statement: Statement): object =>
  Object.fromEntries(Object.entries(statement).filter(([name]) => !comparedByRow.has(name)));

/**
 * What differs in two values, a line each. What holds fields, or as many rows, is followed to what differs in it.
 *
 * @param words what stands before the one value, and before the other
 */
function differencesIn(
  one: unknown,
  other: unknown,
  path: readonly string[],
  words: readonly [string, string],
): string[] {
  if (isDeepStrictEqual(one, other)) return [];
  const [left, right] = [partsOf(one), partsOf(other)];
  if (left !== null && right !== null && areAlike(one, other))
    return [...new Set([...left.keys(), ...right.keys()])].flatMap((name) =>
      differencesIn(left.get(name), right.get(name), [...path, name], words),
    );
  return [`${path.join(".")}: ${words[0]} ${said(one)}, ${words[1]} ${said(other)}`];
}

/** Two objects, or lists of the same length: of others a place does not tell which belong together. */
const areAlike = (one: unknown, other: unknown): boolean =>
  Array.isArray(one) && Array.isArray(other)
    ? one.length === other.length
    : Array.isArray(one) === Array.isArray(other);

/** Fields of an object, or rows of a list by their places; `null` of what has no parts. */
const partsOf = (value: unknown): ReadonlyMap<string, unknown> | null =>
  typeof value === "object" && value !== null ? new Map(Object.entries(value)) : null;

const said = (value: unknown): string => (value === undefined ? "nothing" : sanitizeLine(JSON.stringify(value), 160));

function rowDifferences<T>(
  field: string,
  stated: readonly T[],
  made: readonly T[],
  nameOf: (row: T) => string,
): string[] {
  if (isDeepStrictEqual(stated, made)) return [];
  const name = (row: T): string => sanitizeLine(nameOf(row), 80);
  const missing = made.filter((row) => !stated.some((each) => nameOf(each) === nameOf(row)));
  const invented = stated.filter((row) => !made.some((each) => nameOf(each) === nameOf(row)));
  const changed = stated.filter((row) => {
    const same = made.filter((each) => nameOf(each) === nameOf(row));
    return same.length > 0 && !same.some((each) => isDeepStrictEqual(each, row));
  });
  const lines = [
    ...missing.map((row) => `${field}: the report has ${name(row)}, which the statement leaves out`),
    ...invented.map((row) => `${field}: the statement has ${name(row)}, which the report does not have`),
    ...changed.map((row) => `${field}: the statement says other of ${name(row)} than the report`),
  ];
  return lines.length > 0 ? lines : [`${field}: the statement has the rows of the report in another order or number`];
}

type Evidence = Statement["evidence"];

function evidenceDifferences(stated: Evidence, found: Evidence): string[] {
  if (isDeepStrictEqual(stated, found)) return [];
  const digestIn = (files: Evidence, file: string): string | undefined =>
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

/** What judging the evidence of a report again tells of it. */
export interface JudgementDifferences {
  /** In what the report differs from its evidence, a line each. */
  readonly differences: readonly string[];
  /**
   * Rows that the evidence gives, other than skipped, and the report does not have, of checks that a selection can leave out without a trace: no verdict rests on
   * them. `SSE-10 (note)`.
   */
  readonly leftOut: readonly string[];
}

/**
 * @param again the report that the same evidence makes when it is judged again
 * @param unselected what that evidence says of must clauses which the report names as left out
 */
export function rejudgeDifferences(
  report: Report,
  again: Report,
  unselected: readonly ReportFinding[] = [],
): JudgementDifferences {
  const names = new Set(report.findings.map(rowKey));
  const isLeftOut = (finding: ReportFinding): boolean =>
    finding.level !== "must" && finding.level !== "load" && !names.has(rowKey(finding));
  const findings = again.findings.filter((finding) => !isLeftOut(finding));
  const leftOut = [...unselected, ...again.findings.filter(isLeftOut)];
  return {
    differences: [
      ...findingDifferences(report.findings, findings),
      ...sumDifferences(report, { ...again, totals: totalsOf(findings) }),
    ],
    leftOut: outcomesTold.flatMap((outcome) =>
      leftOut.filter((finding) => finding.outcome === outcome).map((finding) => `${rowName(finding)} (${outcome})`),
    ),
  };
}

/** What is broken first. */
const outcomesTold = ["fail", "error", "warning", "note", "observed", "pass"] as const satisfies Outcome[];

/** What is made of the rows, of the exchanges, or of the clauses, and can be changed without them. */
const sums = ["verdict", "totals", "created", "untestable", "requests", "load"] as const satisfies (keyof Report)[];

const sumDifferences = (report: Report, again: Report): string[] =>
  sums.flatMap((field) => differencesIn(report[field], again[field], [field], ["the report says", "its evidence"]));

function findingDifferences(stated: readonly ReportFinding[], found: readonly ReportFinding[]): string[] {
  const [was, is] = [Map.groupBy(stated, rowKey), Map.groupBy(found, rowKey)];
  return [...new Set([...was.keys(), ...is.keys()])].flatMap((key) => {
    const [ours, theirs] = [was.get(key) ?? [], is.get(key) ?? []];
    // A row that stands twice is compared with one that does not stand there at all.
    return Array.from({ length: Math.max(ours.length, theirs.length) }, (_, at) =>
      rowDifference(ours[at], theirs[at]),
    ).flatMap((line) => line ?? []);
  });
}

function rowDifference(one: ReportFinding | undefined, other: ReportFinding | undefined): string | null {
  const row = one ?? other;
  if (row === undefined) return null;
  if (one?.outcome !== other?.outcome)
    return `${rowName(row)}: the report says ${one?.outcome ?? "nothing"}, its evidence ${other?.outcome ?? "nothing"}`;
  const [left, right] = [wordsOf(one), wordsOf(other)];
  const field = Object.keys({ ...left, ...right }).find((name) => !isDeepStrictEqual(left[name], right[name]));
  if (field === undefined) return null;
  return `${rowName(row)}: the report says ${said(left[field])} for ${field}, its evidence ${said(right[field])}`;
}

const rowKey = ({ check, instance }: ReportFinding): string => JSON.stringify([check, instance]);

const rowName = ({ check, instance }: ReportFinding): string =>
  sanitizeLine(instance === undefined ? check : `${check} (${instance})`, 100);

/** What a row says; where the harness failed, what it had by then proves nothing. */
function wordsOf(finding: ReportFinding | undefined): Readonly<Record<string, unknown>> {
  if (finding?.outcome !== "error") return { ...finding };
  const { evidence: _, ...words } = finding;
  return words;
}
