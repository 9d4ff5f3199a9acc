import { formatNumber } from "../../base/numbers.ts";
import { joinFirst } from "../../base/text.ts";
import { restrictedOrInvalidKeyKinds } from "../../spec/dimensions.ts";
import type { ReportFinding } from "./finding.ts";
import type { Report } from "./report.ts";
import {
  cell,
  fact,
  type LabelledValue,
  type Section,
  type TableBlock,
  type TableCell,
  textColumns,
  joinFirstTexts,
  joinTexts,
  outside,
  outsideProse,
  own,
  type Text,
  text,
} from "./section.ts";

/**
 * Coverage of one kind of message, e.g. of responses with status `200` or of requests with an expired key. `needs`
 * names the setup with which a run would observe such a message.
 */
type CoverageCell = { readonly kind: string } & (
  | { readonly state: "checked"; readonly checked: number; readonly broken: number }
  | { readonly state: "within reach"; readonly needs: string }
  | { readonly state: "out of reach" }
);

/** A row of the coverage table. `of` names the source of the messages, e.g. `invoke` or `deliveries received`. */
interface CoverageRow {
  readonly of: string;
  readonly cells: readonly CoverageCell[];
}

export function coverageOf(findings: readonly ReportFinding[]): CoverageRow[] {
  const rows: CellsByRow = new Map();
  // Each load run checked its own responses. Therefore, the counts of different runs are added.
  for (const ofOneRun of Map.groupBy(findings, ({ load }) => JSON.stringify(load ?? null)).values())
    for (const [of, cells] of coverageOfRun(ofOneRun))
      for (const each of cells.values()) mergeCell(rows, of, each, sumOfCells);
  return [...rows].map(([of, cells]) => ({ of, cells: [...cells.values()] }));
}

type CellsByRow = Map<string, Map<string, CoverageCell>>;

/**
 * Returns the coverage of one run. A cell gets the largest count of any check: the sum would count a response once for
 * each check.
 */
function coverageOfRun(findings: readonly ReportFinding[]): CellsByRow {
  const rows: CellsByRow = new Map();
  for (const { seen } of findings) {
    for (const { of, kind, looked, broken } of seen?.cells ?? [])
      mergeCell(rows, of, { kind, state: "checked", checked: looked, broken }, largerCell);
    for (const { of, kind, needs } of seen?.unseen ?? [])
      mergeCell(
        rows,
        of,
        needs === undefined ? { kind, state: "out of reach" } : { kind, state: "within reach", needs },
        largerCell,
      );
  }
  return rows;
}

function mergeCell(rows: CellsByRow, of: string, added: CoverageCell, combine: typeof largerCell): void {
  const cells = rows.get(of) ?? new Map<string, CoverageCell>();
  rows.set(of, cells);
  const known = cells.get(added.kind);
  cells.set(added.kind, known === undefined ? added : combine(known, added));
}

const coverageStatesInOrder = ["out of reach", "within reach", "checked"] as const;

function largerCell(one: CoverageCell, other: CoverageCell): CoverageCell {
  if (one.state === "checked" && other.state === "checked")
    return { ...one, checked: Math.max(one.checked, other.checked), broken: Math.max(one.broken, other.broken) };
  return coverageStatesInOrder.indexOf(other.state) > coverageStatesInOrder.indexOf(one.state) ? other : one;
}

const sumOfCells = (one: CoverageCell, other: CoverageCell): CoverageCell =>
  one.state === "checked" && other.state === "checked"
    ? { ...one, checked: one.checked + other.checked, broken: one.broken + other.broken }
    : largerCell(one, other);

interface CoverageMatrix {
  readonly columns: readonly string[];
  readonly rows: readonly { readonly of: string; readonly cells: ReadonlyMap<string, CoverageCell> }[];
}

/** Whether `kind` is a status: `200`; under load also `429 minute` (by the limit per minute) or `all` (any status). */
const isStatus = (kind: string): boolean => /^(\d{3}( \w+)?|all)$/.test(kind);

const columnByKeyKind: ReadonlyMap<string, string> = new Map(Object.entries(restrictedOrInvalidKeyKinds));

function statusMatrix(rows: readonly CoverageRow[]): CoverageMatrix {
  const { columns, ...matrix } = matrixOf(rows, (kind) => (isStatus(kind) ? kind : undefined));
  return { ...matrix, columns: columns.toSorted() };
}

function keyMatrix(rows: readonly CoverageRow[]): CoverageMatrix {
  const { columns, ...matrix } = matrixOf(rows, (kind) => columnByKeyKind.get(kind));
  return { ...matrix, columns: [...new Set(columnByKeyKind.values())].filter((name) => columns.includes(name)) };
}

const otherRows = (rows: readonly CoverageRow[]): CoverageRow[] =>
  rows.filter(({ cells }) => cells.every(({ kind }) => !isStatus(kind) && !columnByKeyKind.has(kind)));

function matrixOf(rows: readonly CoverageRow[], columnOf: (kind: string) => string | undefined): CoverageMatrix {
  const found = rows.flatMap(({ of, cells }) => {
    const columns = new Map<string, CoverageCell>();
    for (const each of cells) {
      const column = columnOf(each.kind);
      if (column === undefined) continue;
      const known = columns.get(column);
      columns.set(column, known === undefined ? each : sumOfCells(known, each));
    }
    return columns.size === 0 ? [] : [{ of, cells: columns }];
  });
  return { columns: [...new Set(found.flatMap(({ cells }) => [...cells.keys()]))], rows: found };
}

export function coverageSection({ findings }: Pick<Report, "findings">): Section {
  const rows = coverageOf(findings);
  const byKey = keyMatrix(rows);
  return {
    name: "coverage",
    title: "Coverage",
    blocks: [
      matrixTable("responses", "Responses checked", statusMatrix(rows), statusTableLead),
      matrixTable("with key", "Requests by kind of key", byKey, keyTableLead(byKey)),
      { kind: "facts", facts: otherRows(rows).map(eventsFact) },
      { kind: "facts", prefix: "not observed  ", facts: requirementFacts(rows) },
    ],
  };
}

export const combinationFacts = (pairs: NonNullable<Report["pairs"]>): LabelledValue[] => [
  combinationsFact("pairs of properties", pairs),
  ...(pairs.triples === undefined ? [] : [combinationsFact("endpoint, key and state", pairs.triples)]),
];

function combinationsFact(
  name: string,
  { covered, reachable, total, cut }: Pick<NonNullable<Report["pairs"]>, "covered" | "reachable" | "total" | "cut">,
): LabelledValue {
  const share = (part: number): Text => own(`${formatNumber(Math.round((100 * part) / Math.max(1, total)))} %`);
  const coveredText = own(`${formatNumber(covered)} of ${formatNumber(reachable)} within reach`);
  if (cut.length === 0) return fact(name, coveredText);
  const needs = cut.map((each) => text`${outsideProse(each.needs)} (${share(each.pairs)})`);
  return fact(
    name,
    text`${coveredText}; of all ${own(formatNumber(total))}, others need ${joinFirstTexts(needs, maxNamedNeeds)}`,
  );
}

const maxNamedNeeds = 4;

const statusTableLead = own(
  "Responses by endpoint and status. `3/41`: 3 of 41 broke some clause. `?`: none was observed; the missing setup is listed below. `–`: none was observed, and no request is known that causes one. Empty: the document gives the endpoint no such response.",
);

function keyTableLead({ columns }: CoverageMatrix): Text {
  const kinds = columns.map((column) => {
    const names = Object.entries(restrictedOrInvalidKeyKinds).flatMap(([kind, name]) =>
      name === column ? [kind] : [],
    );
    return `${column} (${names.join(", ")})`;
  });
  return own(
    `Requests with a key that does not permit them, by endpoint and kind of key: ${kinds.join("; ")}. Empty: such a key is not tried there.`,
  );
}

const matrixTable = (head: string, name: string, { columns, rows }: CoverageMatrix, lead: Text): TableBlock => ({
  kind: "table",
  name,
  columns: [...textColumns(head), ...columns.map((column) => ({ head: column, align: "right" }) as const)],
  rows: rows.map(({ of, cells }) => [cell(outside(of, 40)), ...columns.map((column) => countCell(cells.get(column)))]),
  lead,
});

function countCell(covered: CoverageCell | undefined): TableCell {
  switch (covered?.state) {
    case "checked":
      return covered.broken > 0
        ? cell(text`${covered.broken}/${covered.checked}`, "bad")
        : cell(text`${covered.checked}`);
    case "within reach":
      return cell(own("?"), "caution");
    case "out of reach":
      return cell(own("–"));
    case undefined:
      return cell(own(""));
  }
}

const eventsFact = ({ of, cells }: CoverageRow): LabelledValue => ({
  label: outside(of, 40),
  value: joinTexts(
    cells.map(
      (each) => text`${outside(each.kind, 40)} ${each.state === "checked" ? each.checked : own("not observed")}`,
    ),
  ),
});

function requirementFacts(rows: readonly CoverageRow[]): LabelledValue[] {
  const missing = rows.flatMap(({ of, cells }) =>
    cells.flatMap((each) =>
      each.state === "within reach" ? [{ needs: each.needs, name: outside(`${of} ${each.kind}`, 80) }] : [],
    ),
  );
  return [...Map.groupBy(missing, ({ needs }) => needs)].map(([needs, members]) => ({
    label: joinFirstTexts(
      members.map(({ name }) => name),
      8,
    ),
    value: text`needs ${outsideProse(needs, 600)}`,
  }));
}

type FindingCoverage = NonNullable<ReportFinding["seen"]>;
const maxNamedCells = 8;

/**
 * Formats coverage, e.g. `12 checked, 3 broken: list 200 (3 of 12)`. Here, 3 of 12 `list` responses with status 200
 * were wrong.
 */
export function formatCoverage({ looked, broken, cells }: FindingCoverage): string {
  const named = (those: FindingCoverage["cells"]): string =>
    joinFirst(
      those.map((each) => {
        const share = each.broken > 0 ? `${formatNumber(each.broken)} of ` : "";
        return `${each.of} ${each.kind} (${share}${formatNumber(each.looked)})`;
      }),
      maxNamedCells,
    );
  const checked = `${formatNumber(looked)} checked`;
  if (broken === 0) return `${checked}: ${named(cells)}`;
  const right = cells.filter((each) => each.broken === 0);
  const wrong = `${checked}, ${formatNumber(broken)} broken: ${named(cells.filter((each) => each.broken > 0))}`;
  return right.length === 0 ? wrong : `${wrong}; right: ${named(right)}`;
}

export function formatUncovered({ unseen }: FindingCoverage): string {
  return [...Map.groupBy(unseen, ({ needs = "" }) => needs)]
    .map(([needs, members]) => {
      const names = joinFirst(
        members.map(({ of, kind }) => `${of} ${kind}`),
        maxNamedCells,
      );
      return needs === "" ? names : `${names} (needs ${needs})`;
    })
    .join("; ");
}
