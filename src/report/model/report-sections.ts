import { duration } from "../../base/duration.ts";
import { formatCount } from "../../base/text.ts";
import { clauseOf, isClauseId } from "../../spec/clauses.ts";
import { groupByClause } from "./broken-clauses.ts";
import { coverageSection } from "./coverage.ts";
import { loadSections } from "./load-sections.ts";
import { createdKinds, type Outcome, outcomes, type Report, type ReportFinding } from "./report.ts";
import {
  type Cause,
  type CausesBlock,
  cell,
  type Cell,
  type Fact,
  linkTo,
  type Section,
  type SectionName,
  type TableBlock,
} from "./section.ts";
import { joinFirstTexts, joinTexts, outside, outsideProse, own, type Text, text } from "./text.ts";

/**
 * Builds the sections of a report that every format renders. The verdict and the broken clauses have models of their own. Empty sections are left
 * out.
 */
export function reportSections(report: Report): Section[] {
  const load = loadSections(report);
  const sections = [
    errorsSection(report),
    load.runs,
    report.load === undefined ? countsSection(report) : null,
    coverageSection(report),
    load.windows,
    load.streams,
    load.caveats,
    skippedSection(report),
    readingsSection(report),
    observationsSection(report),
    createdSection(report),
    aboutSection(report),
  ];
  return sections.filter((section) => section !== null);
}

/** The sections of these names, in this order. */
export const pickSections = (sections: readonly Section[], names: readonly SectionName[]): Section[] =>
  names.flatMap((name) => sections.filter((section) => section.name === name));

/** The document's sentence of a clause; empty for a demand that only a load scenario makes. */
export const clauseSentence = (clause: string): string => (isClauseId(clause) ? clauseOf(clause).says : "");

function errorsSection({ findings }: Report): Section | null {
  const groups = groupByClause(findings, "error");
  if (groups.length === 0) return null;
  const facts = groups.map(({ clause, distinctFindings: [{ finding }] }) => ({
    label: outside(clause, 60),
    value: outside(finding.reason ?? ""),
  }));
  return {
    name: "errors",
    title: "The harness itself failed",
    lead: own("This is not the target's fault."),
    summary: null,
    blocks: [{ kind: "facts", prefix: "", facts }],
  };
}

/** Counts of clauses and of findings by outcome, suite by suite in the report's order, and their sums. */
function countsSection({ findings }: Report): Section | null {
  if (findings.length === 0) return null;
  const shown = outcomes.filter((outcome) => outcome !== "error" || countOf(findings, outcome) > 0);
  const isDroppable = (outcome: Outcome): boolean =>
    outcome !== "pass" && outcome !== "fail" && countOf(findings, outcome) === 0;
  const table: TableBlock = {
    kind: "table",
    name: "Findings by section",
    columns: [
      { head: "section", align: "left", dropRank: 0 },
      { head: "clauses", align: "right", dropRank: 0 },
      ...shown.map((head) => ({ head, align: "right", dropRank: isDroppable(head) ? 1 : 0 }) as const),
    ],
    rows: [
      ...[...Map.groupBy(findings, ({ suite }) => suite)].map(([suite, members]) =>
        countsRow(outside(suite, 60), members, shown),
      ),
      countsRow(own("all"), findings, shown),
    ],
    lead: null,
    isMinor: false,
  };
  return { name: "counts", title: "Findings by section", lead: null, summary: null, blocks: [table] };
}

const countOf = (findings: readonly ReportFinding[], outcome: Outcome): number =>
  findings.filter((each) => each.outcome === outcome).length;

function countsRow(name: Text, findings: readonly ReportFinding[], shown: readonly Outcome[]): Cell[] {
  const clauses = new Set(findings.map(({ clause }) => clause)).size;
  const counts = shown.map((outcome) => {
    const count = countOf(findings, outcome);
    if (count > 0 && (outcome === "fail" || outcome === "error")) return cell(text`${count}`, "bad");
    return cell(text`${count}`, count > 0 && outcome === "warning" ? "caution" : "plain");
  });
  return [cell(name), cell(text`${clauses}`), ...counts];
}

/** Skipped checks by what would enable them, or else by the reason. */
function skippedSection({ findings, unselected }: Report): Section | null {
  const skipped = findings.filter(({ outcome }) => outcome === "skipped");
  if (skipped.length + unselected.length === 0) return null;
  const [needs, reasons] = [
    causesOf(skipped, ({ needs: what }) => what),
    causesOf(skipped, ({ needs: what, reason = "" }) => (what === undefined ? reason : undefined)),
  ];
  const blocks: CausesBlock[] = [
    { kind: "causes", head: "What would enable it", prefix: "enabled by ", causes: needs },
    { kind: "causes", head: "Why, where no setting would help", prefix: "", causes: reasons },
  ];
  return {
    name: "skipped",
    title: "Not exercised",
    lead:
      unselected.length === 0
        ? null
        : text`Left out by the selection, ${own(formatCount(unselected.length, "must clause"))}: ${joinTexts(unselected.map((clause) => outside(clause, 60)))}.`,
    summary: null,
    blocks: blocks.filter(({ causes }) => causes.length > 0),
  };
}

function causesOf(
  findings: readonly ReportFinding[],
  causeOf: (finding: ReportFinding) => string | undefined,
): Cause[] {
  const groups = Map.groupBy(findings, causeOf);
  return [...groups]
    .flatMap(([cause, members]) => (cause === undefined ? [] : [{ text: outsideProse(cause), findings: members }]))
    .toSorted((one, other) => other.findings.length - one.findings.length);
}

/** Readings that only say whether an optional field is there. */
export const presenceReadings: ReadonlySet<string> = new Set(["absent", "present"]);

/** The admissible readings that the target follows, and the others that are allowed. */
function readingsSection({ findings }: Report): Section | null {
  const byClause = Map.groupBy(
    findings.filter(({ reading }) => reading !== undefined),
    ({ clause }) => clause,
  );
  if (byClause.size === 0) return null;
  const isMinor = (members: readonly ReportFinding[]): boolean =>
    members.every(({ reading = "" }) => presenceReadings.has(reading));
  const telling = [...byClause].filter(([, members]) => !isMinor(members));
  const minor = [...byClause].filter(([, members]) => isMinor(members));
  const short = telling.map(
    ([clause, members]) =>
      text`${outside(clause, 60)}\u00a0${joinTexts(
        readingsOf(members).map((name) => outside(name, 40)),
        " / ",
      )}`,
  );
  return {
    name: "readings",
    title: "Readings followed",
    lead: own("Where the document allows more than one behaviour, the target follows one of them throughout."),
    summary: joinFirstTexts(short, 24),
    blocks: [
      ...(telling.length === 0 ? [] : [readingsTable("Readings followed", telling, null)]),
      ...(minor.length === 0
        ? []
        : [
            readingsTable(
              `Optional fields: ${formatCount(minor.length, "reading")} that only say whether a field is there`,
              minor,
              "minor",
            ),
          ]),
    ],
  };
}

const readingsOf = (findings: readonly ReportFinding[]): string[] => [
  ...new Set(findings.map(({ reading = "" }) => reading)),
];

type ClauseFindings = readonly [clause: string, findings: readonly ReportFinding[]];

const readingsTable = (name: string, clauses: readonly ClauseFindings[], rank: "minor" | null): TableBlock => ({
  kind: "table",
  name,
  columns: leftColumns("Clause", "Sentence", "Reading followed", "Also allowed"),
  rows: clauses.map(([clause, members]) => {
    const followed = readingsOf(members);
    const known: Readonly<Record<string, string>> = isClauseId(clause) ? (clauseOf(clause).readings ?? {}) : {};
    const others = Object.keys(known).filter((reading) => !followed.includes(reading));
    const described = (names: readonly string[]): Text =>
      joinTexts(
        names.map((reading) =>
          Object.hasOwn(known, reading) ? own(`\`${reading}\`: ${known[reading] ?? ""}`) : outside(reading, 80),
        ),
        "; ",
      );
    return [
      cell(outside(clause, 60), "plain", members[0] === undefined ? null : linkTo(members[0])),
      cell(own(clauseSentence(clause))),
      cell(described(followed)),
      cell(described(others)),
    ];
  }),
  lead: null,
  isMinor: rank === "minor",
});

const leftColumns = (...heads: readonly string[]): TableBlock["columns"] =>
  heads.map((head) => ({ head, align: "left", dropRank: 0 }));

/** The behaviour of the target where the document is silent. */
function observationsSection({ findings }: Report): Section | null {
  const observed = findings.filter(({ outcome }) => outcome === "observed");
  if (observed.length === 0) return null;
  const rows = observed.map((finding) => {
    const { clause, reason = "", instance } = finding;
    const where = instance === undefined ? [] : [text` (${outside(instance, 60)})`];
    return [
      cell(outside(clause, 40), "plain", linkTo(finding)),
      cell(own(clauseSentence(clause))),
      cell(joinTexts([outsideProse(reason, 900), ...where], "")),
    ];
  });
  return {
    name: "observations",
    title: "Where the document is silent",
    lead: own(`Observed and recorded, never judged: ${formatCount(observed.length, "observation")}.`),
    summary: null,
    blocks: [
      {
        kind: "table",
        name: "Observations of gaps",
        columns: leftColumns("Clause", "What the document leaves open", "What this target does"),
        rows,
        lead: null,
        isMinor: false,
      },
    ],
  };
}

/** Resources that the run left on the target. */
function createdSection({ created }: Report): Section | null {
  if (created.length === 0) return null;
  const kinds = createdKinds.flatMap((kind) => {
    const count = created.filter((each) => each.kind === kind).length;
    return count === 0 ? [] : [formatCount(count, kind)];
  });
  const rows = created.map(({ kind, id, key, at, exchange }) => [
    cell(own(kind)),
    cell(id === null ? own("not in the response") : outside(id, 120)),
    cell(key === null ? own("none") : outside(key, 80)),
    cell(outside(at, 40)),
    cell(outside(exchange, 120)),
  ]);
  return {
    name: "created",
    title: "Left on the target",
    lead: own(`${kinds.join(", ")}: the interface has no operation that deletes them.`),
    summary: own(`${kinds.join(", ")} (the interface has no operation that deletes them)`),
    blocks: [
      {
        kind: "table",
        name: "Everything left on the target",
        columns: leftColumns("Kind", "Id", "Created with key", "At", "Exchange"),
        rows,
        lead: null,
        isMinor: true,
      },
    ],
  };
}

/** Facts that tell two reports apart: target, suite and time. */
function aboutSection({ suite, target, started, finished, durationMs, waitedMs }: Report): Section {
  const tiers = Object.entries(target.tiers).map(([key, tier]) =>
    outside(key === tier ? key : `${key} (${tier})`, 120),
  );
  const waited = waitedMs >= 1000 ? `, ${duration(waitedMs)} of it waiting` : "";
  const facts: Fact[] = [
    { label: own("Target"), value: text`${outside(target.name)}, ${outside(target.baseUrl)}` },
    { label: own("Fingerprint of the deployment"), value: outside(target.fingerprint) },
    { label: own("Keys by tier"), value: tiers.length === 0 ? own("none") : joinTexts(tiers) },
    ...Object.entries(target.roles ?? {}).map(([role, who]) => ({
      label: text`Agent that is ${outside(role, 80)}`,
      value: outside(who, 400),
    })),
    { label: own("Started"), value: outside(started) },
    { label: own("Finished"), value: text`${outside(finished)}, after ${own(`${duration(durationMs)}${waited}`)}` },
    { label: own("Suite"), value: text`agent-hosting-conformance ${outside(suite.version, 40)}` },
    { label: own("Hash of the clauses"), value: outside(suite.clauses, 80) },
  ];
  return {
    name: "about",
    title: "About this report",
    lead: null,
    summary: null,
    blocks: [{ kind: "facts", prefix: "", facts }],
  };
}
