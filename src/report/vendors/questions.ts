import { groupsBy } from "../../base/lists.ts";
import { clausesOf, clauseSentence } from "../model/finding-text.ts";
import { sanitizeLine } from "../../base/sanitize.ts";
import { formatCount, joinFirst } from "../../base/text.ts";
import type { ReportFinding } from "../model/finding.ts";
import { unexercisedOfferedMusts } from "../model/verdict.ts";
import type { ComparedRow } from "./clause-rows.ts";
import type { Vendor, VendorWithReport } from "./vendor.ts";

export interface VendorQuestion {
  readonly about: "not exercised" | "reading" | "gap";
  /** Ids of the clauses that the question is about. If `about` is `"gap"`, the only entry is the id of a check. */
  readonly clauses: readonly string[];
  readonly text: string;
}

const maxQuestions = 10;
/** Number of questions reserved for each kind, 10 in all. If a kind has fewer questions, other kinds get more. */
const reservedQuestions = { "not exercised": 4, reading: 3, gap: 3 } as const;

export function vendorQuestions(
  vendors: readonly Vendor[],
  readings: readonly ComparedRow[],
  gaps: readonly ComparedRow[],
): (VendorQuestion[] | null)[] {
  const names = vendors.map(({ name }) => sanitizeLine(name, 60));
  return vendors.map((vendor, at) => {
    if (vendor.kind === "unjudged") return null;
    const kinds = [unexercisedQuestions(vendor), readingQuestions(at, names, readings), gapQuestions(at, names, gaps)];
    return chosenOf(kinds);
  });
}

function chosenOf(kinds: readonly (readonly VendorQuestion[])[]): VendorQuestion[] {
  const all = kinds.flat();
  const first = kinds.flatMap((questions) => questions.filter(({ about }, at) => at < reservedQuestions[about]));
  const further = all.filter((each) => !first.includes(each));
  const chosen = new Set([...first, ...further].slice(0, maxQuestions));
  return all.filter((each) => chosen.has(each));
}

function unexercisedQuestions({ document: { report } }: VendorWithReport): VendorQuestion[] {
  const clauses = new Set(unexercisedOfferedMusts({ ...report, unselected: [] }));
  const skipped = report.findings.filter((finding) => finding.outcome === "skipped" && clauses.has(finding.clause));
  const groups = Map.groupBy(skipped.filter(canVendorProvide), ({ needs, reason = "" }) => needs ?? reason);
  return [...groups.values()]
    .map((members): VendorQuestion => {
      const names = clausesOf(members);
      return { about: "not exercised", clauses: names, text: unexercisedText(names, members[0]) };
    })
    .toSorted((one, other) => other.clauses.length - one.clauses.length);
}

/**
 * Whether the vendor can provide what a skipped check needs. `false` if the run was stopped. Also `false` if the check
 * needs only a command-line flag such as `--max-wait`, which the tester chooses.
 */
const canVendorProvide = ({ reason = "", needs = "" }: ReportFinding): boolean =>
  !/^the run (?:was )?stopped/.test(reason) && (!needs.includes("`--") || needs.includes("target file"));

function unexercisedText(clauses: readonly string[], finding: ReportFinding | undefined): string {
  const names = joinFirst(
    clauses.map((each) => sanitizeLine(each, 60)),
    4,
  );
  const reason = sanitizeLine(finding?.reason ?? "", 160);
  const could = `We could not try ${names}: ${reason}.`;
  const needs = finding?.needs;
  if (needs !== undefined) return `${could} Can you provide ${sanitizeLine(needs, 200)}?`;
  const says = clauseSentence(clauses[0] ?? "");
  return `${could} How can we see that ${clauses.length === 1 ? "it holds" : "they hold"}${says === "" ? "" : ` (${says})`}?`;
}

function readingQuestions(at: number, names: readonly string[], rows: readonly ComparedRow[]): VendorQuestion[] {
  const groups = groupsBy(differencesOf(at, names, rows), ({ own, elsewhere }) => `${own}\n${elsewhere}`);
  return groups.map((members) => {
    const [first] = members;
    const clauses = members.map(({ row }) => row.clause);
    const says = clauses.length > 1 || first.row.says === "" ? "" : ` (${first.row.says})`;
    const text = `On ${joinFirst(clauses, 4)}${says} you follow ${first.own}; ${first.elsewhere}. Will you keep to it?`;
    return { about: "reading", clauses, text };
  });
}

const gapQuestions = (at: number, names: readonly string[], rows: readonly ComparedRow[]): VendorQuestion[] =>
  differencesOf(at, names, rows).map(({ row, own, elsewhere }) => ({
    about: "gap",
    clauses: [row.check],
    text: `${row.check}: ${row.says} We saw ${own}; ${elsewhere}. May a client rely on it?`,
  }));

interface Difference {
  readonly row: ComparedRow["row"];
  readonly own: string;
  /** Behaviours that differ from `own`, with the vendors' names, such as `Acme: “404”`. */
  readonly elsewhere: string;
  readonly others: number;
}

function differencesOf(at: number, names: readonly string[], rows: readonly ComparedRow[]): Difference[] {
  return rows
    .flatMap(({ row, areDifferent }): Difference[] => {
      const others = row.differs ? names.flatMap((_, other) => (areDifferent(at, other) ? [other] : [])) : [];
      if (others.length === 0) return [];
      const byText = Map.groupBy(others, (other) => quoted(row.cells[other] ?? ""));
      const texts = [...byText].map(([text, members]) => `${nameList(members, names)}: ${text}`);
      return [{ row, own: quoted(row.cells[at] ?? ""), elsewhere: joinFirst(texts, 3), others: others.length }];
    })
    .toSorted((one, other) => other.others - one.others);
}

const quoted = (text: string): string => `“${sanitizeLine(text, 140)}”`;

const nameList = (members: readonly number[], names: readonly string[]): string =>
  joinFirst(
    members.map((each) => names[each] ?? ""),
    3,
  );

export const formatQuestionCounts = (
  names: readonly string[],
  questions: readonly (readonly VendorQuestion[] | null)[],
): string =>
  names
    .flatMap((name, at) => {
      const count = questions[at]?.length ?? 0;
      return count === 0 ? [] : [`${name} (${formatCount(count, "question")})`];
    })
    .join(", ");
