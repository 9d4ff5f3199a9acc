import { clausesOf, clauseNames, clauseSentence } from "./finding-text.ts";
import { upcomingSection } from "./requirements.ts";
import { formatDuration } from "../../base/duration.ts";
import { formatCount } from "../../base/text.ts";
import { groupsBy } from "../../base/lists.ts";
import { clauseOf, isClauseId } from "../../spec/clauses.ts";
import { groupByClause } from "./broken-clauses.ts";
import { coverageSection } from "./coverage.ts";
import { loadSections, streamingSection } from "./measurement-sections.ts";
import { profilesSection } from "./profiles.ts";
import { type Outcome, outcomes, type ReportFinding } from "./finding.ts";
import { createdKinds, type Report, type ReportedRecording } from "./report.ts";
import {
  type SharedCause,
  type CausesBlock,
  cell,
  type TableCell,
  type LabelledValue,
  findingCell,
  textColumns,
  type Section,
  type SectionName,
  type TableBlock,
  type SectionBlock,
  fact,
  joinFirstTexts,
  joinTexts,
  outside,
  outsideProse,
  own,
  type Text,
  text,
} from "./section.ts";

export function reportSections(report: Report): Section[] {
  const sections = [
    errorsSection(report),
    recordingSection(report),
    countsSection(report),
    profilesSection(report),
    coverageSection(report),
    streamingSection(report),
    ...loadSections(report),
    skippedSection(report),
    upcomingSection(report),
    readingsSection(report),
    observationsSection(report),
    createdSection(report),
    aboutSection(report),
  ];
  return sections
    .map((section) => ({ ...section, blocks: section.blocks.filter(hasContent) }))
    .filter(({ name, blocks }) => blocks.length > 0 || (name === "skipped" && report.unselected.length > 0));
}

function hasContent(block: SectionBlock): boolean {
  switch (block.kind) {
    case "table":
      return block.rows.length > 0;
    case "facts":
      return block.facts.length > 0;
    case "items":
      return block.items.length > 0;
    case "causes":
      return block.causes.length > 0;
  }
}

export const pickSections = (sections: readonly Section[], names: readonly SectionName[]): Section[] =>
  names.flatMap((name) => sections.filter((section) => section.name === name));

function errorsSection({ findings }: Report): Section {
  const facts = groupByClause(findings, "error").map(({ clause, distinctFindings: [{ finding }] }) => ({
    label: outside(clause, 60),
    value: outside(finding.reason ?? ""),
  }));
  return {
    name: "errors",
    title: "The harness itself failed",
    lead: own("This is not the target's fault."),
    blocks: [{ kind: "facts", facts }],
  };
}

function recordingSection({ recording }: Report): Section {
  return {
    name: "recording",
    title: "The recording",
    lead: own("Other traffic was judged, and nothing was sent. A recording cannot show everything that a run does."),
    blocks: [{ kind: "facts", facts: recording === undefined ? [] : recordingFacts(recording) }],
  };
}

function recordingFacts({ file, format, exchanges, keys, counted, leftOut, gaps }: ReportedRecording): LabelledValue[] {
  const alike = (count: number): string =>
    `${formatCount(count, "exchange")} more, judged and not kept: they are like those that were`;
  return [
    fact("Recording", text`${outside(file, 400)}, ${outside(format, 200)}`),
    fact("Judged", own(`${formatCount(exchanges, "exchange")}, ${formatCount(keys, "key")}`)),
    ...(counted === undefined ? [] : [fact("Counted", own(alike(counted)))]),
    ...leftOut.map((each) =>
      fact("Left out", text`${own(formatCount(each.exchanges, "exchange"))} ${outsideProse(each.why)}`),
    ),
    ...gaps.map(({ what, count }) => fact("Missing", text`${count} ${outsideProse(what)}`)),
  ];
}

function countsSection({ findings, load }: Report): Section {
  const shown = outcomes.filter((outcome) => outcome !== "error" || countFindings(findings, outcome) > 0);
  const isDroppable = (outcome: Outcome): boolean =>
    outcome !== "pass" && outcome !== "fail" && countFindings(findings, outcome) === 0;
  const suites = [...Map.groupBy(findings, ({ suite }) => suite)];
  const table: TableBlock = {
    kind: "table",
    name: "Findings by section",
    columns: [
      ...textColumns("section"),
      { head: "clauses", align: "right" },
      ...shown.map((head) => ({ head, align: "right", dropRank: isDroppable(head) ? 1 : 0 }) as const),
    ],
    rows: [
      ...suites.map(([suite, members]) => countsRow(outside(suite, 60), members, shown)),
      countsRow(own("all"), findings, shown),
    ],
  };
  const isShown = findings.length > 0 && load === undefined;
  return { name: "counts", title: table.name, blocks: isShown ? [table] : [] };
}

const countFindings = (findings: readonly ReportFinding[], outcome: Outcome): number =>
  findings.filter((each) => each.outcome === outcome).length;

function countsRow(name: Text, findings: readonly ReportFinding[], shown: readonly Outcome[]): TableCell[] {
  const clauses = clausesOf(findings).length;
  const counts = shown.map((outcome) => {
    const count = countFindings(findings, outcome);
    if (count > 0 && (outcome === "fail" || outcome === "error")) return cell(text`${count}`, "bad");
    return cell(text`${count}`, count > 0 && outcome === "warning" ? "caution" : "plain");
  });
  return [cell(name), cell(text`${clauses}`), ...counts];
}

function skippedSection({ findings, unselected }: Report): Section {
  const skipped = findings.filter(({ outcome }) => outcome === "skipped");
  const enabling = skipped.filter(({ needs }) => needs !== undefined);
  const others = skipped.filter(({ needs }) => needs === undefined);
  const blocks: CausesBlock[] = [
    {
      kind: "causes",
      head: "What would enable it",
      prefix: "enabled by ",
      causes: groupByCause(enabling, ({ needs = "" }) => needs),
    },
    {
      kind: "causes",
      head: "Why, where no setting would help",
      prefix: "",
      causes: groupByCause(others, ({ reason = "" }) => reason),
    },
  ];
  const selection =
    unselected.length === 0
      ? []
      : [
          text`Left out by the selection, ${own(formatCount(unselected.length, "must clause"))}: ${clauseNames(unselected, unselected.length)}.`,
        ];
  const advice =
    skipped.length === 0 || countFindings(findings, "fail") === 0
      ? []
      : [own("Some may be skipped because of what is broken: fix that first, and run again.")];
  const lead = [...advice, ...selection];
  return {
    name: "skipped",
    title: "Skipped",
    ...(lead.length === 0 ? {} : { lead: joinTexts(lead, " ") }),
    blocks,
  };
}

const groupByCause = (findings: readonly ReportFinding[], causeOf: (finding: ReportFinding) => string): SharedCause[] =>
  [...Map.groupBy(findings, causeOf)]
    .map(([cause, members]) => ({ text: outsideProse(cause), findings: members }))
    .toSorted((one, other) => other.findings.length - one.findings.length);

/** Names of readings that say only whether an optional field is present. Pages show them in a collapsed table. */
export const presenceReadings: ReadonlySet<string> = new Set(["absent", "present"]);

function readingsSection({ findings }: Report): Section {
  const clauses = groupsBy(
    findings.filter(({ reading }) => reading !== undefined),
    ({ clause }) => clause,
  );
  const isMinor = (members: ClauseFindings): boolean =>
    members.every(({ reading = "" }) => presenceReadings.has(reading));
  const telling = clauses.filter((each) => !isMinor(each));
  const minor = clauses.filter(isMinor);
  const minorName = `Optional fields: ${formatCount(minor.length, "reading")} that only say whether a field is there`;
  const short = telling.map((members) => {
    const readings = readingsOf(members).map((name) => outside(name, 40));
    return text`${outside(members[0].clause, 60)}\u00a0${joinTexts(readings, " / ")}`;
  });
  const tables: TableBlock[] = [
    { kind: "table", name: "Readings followed", columns: readingColumns, rows: telling.map(readingRow) },
    { kind: "table", name: minorName, columns: readingColumns, rows: minor.map(readingRow), isMinor: true },
  ];
  return {
    name: "readings",
    title: "Readings followed",
    lead: own("Where the document allows more than one behaviour, the target follows one of them throughout."),
    summary: joinFirstTexts(short, 24),
    blocks: tables,
  };
}

const readingColumns = textColumns("Clause", "Sentence", "Reading followed", "Also allowed");

const readingsOf = (findings: readonly ReportFinding[]): string[] => [
  ...new Set(findings.map(({ reading = "" }) => reading)),
];

type ClauseFindings = readonly [ReportFinding, ...ReportFinding[]];

function readingRow(members: ClauseFindings): TableCell[] {
  const [{ clause }] = members;
  const followed = readingsOf(members);
  const known: Readonly<Record<string, string>> = isClauseId(clause) ? (clauseOf(clause).readings ?? {}) : {};
  const others = Object.keys(known).filter((reading) => !followed.includes(reading));
  const describe = (reading: string): Text =>
    Object.hasOwn(known, reading) ? own(`\`${reading}\`: ${known[reading] ?? ""}`) : outside(reading, 80);
  return [
    findingCell(outside(clause, 60), members[0]),
    cell(own(clauseSentence(clause))),
    cell(joinTexts(followed.map(describe), "; ")),
    cell(joinTexts(others.map(describe), "; ")),
  ];
}

function observationsSection({ findings }: Report): Section {
  const observed = findings.filter(({ outcome }) => outcome === "observed");
  const rows = observed.map((finding) => {
    const { clause, reason = "", instance } = finding;
    const where = instance === undefined ? [] : [text` (${outside(instance, 60)})`];
    return [
      findingCell(outside(clause, 40), finding),
      cell(own(clauseSentence(clause))),
      cell(joinTexts([outsideProse(reason, 900), ...where], "")),
    ];
  });
  const columns = textColumns("Clause", "What the document leaves open", "What this target does");
  return {
    name: "observations",
    title: "Where the document is silent",
    lead: own(`Observed and recorded, never judged: ${formatCount(observed.length, "observation")}.`),
    blocks: [{ kind: "table", name: "Observations of gaps", columns, rows }],
  };
}

function createdSection({ created }: Report): Section {
  const kinds = createdKinds.flatMap((kind) => {
    const count = created.filter((each) => each.kind === kind).length;
    return count === 0 ? [] : [formatCount(count, kind)];
  });
  const rows = created.map(({ kind, id, key, at, exchange }) =>
    [
      own(kind),
      id === null ? own("not in the response") : outside(id, 120),
      key === null ? own("none") : outside(key, 80),
      outside(at, 40),
      outside(exchange, 120),
    ].map((each) => cell(each)),
  );
  const columns = textColumns("Kind", "Id", "Created with key", "At", "Exchange");
  return {
    name: "created",
    title: "Left on the target",
    lead: own(`${kinds.join(", ")}: the interface has no operation that deletes them.`),
    summary: own(`${kinds.join(", ")} (the interface has no operation that deletes them)`),
    blocks: [{ kind: "table", name: "Everything left on the target", columns, rows, isMinor: true }],
  };
}

function aboutSection({ suite, target, started, finished, durationMs, waitedMs, trouble }: Report): Section {
  const tiers = Object.entries(target.tiers).map(([key, tier]) =>
    outside(key === tier ? key : `${key} (${tier})`, 120),
  );
  const waited = waitedMs >= 1000 ? `, ${formatDuration(waitedMs)} of it waiting` : "";
  const roles = Object.entries(target.roles ?? {}).map(([role, who]): LabelledValue => ({
    label: text`Agent that is ${outside(role, 80)}`,
    value: outside(who, 400),
  }));
  const facts: LabelledValue[] = [
    fact("Target", text`${outside(target.name)}, ${outside(target.baseUrl)}`),
    fact("Fingerprint of the deployment", outside(target.fingerprint)),
    fact("Keys by tier", tiers.length === 0 ? own("none") : joinTexts(tiers)),
    ...roles,
    fact("Started", outside(started)),
    fact("Finished", text`${outside(finished)}, after ${own(`${formatDuration(durationMs)}${waited}`)}`),
    ...(trouble === undefined
      ? []
      : [fact("Trouble", text`${trouble.kinds.map((kind) => outside(kind, 40))}; seed ${trouble.seed}`)]),
    fact("Suite", text`agent-hosting-conformance ${outside(suite.version, 40)}`),
    fact("Requirement set", outside(suite.requirements, 40)),
    fact("Hash of the clauses", outside(suite.clauses, 80)),
  ];
  return { name: "about", title: "About this report", blocks: [{ kind: "facts", facts }] };
}
