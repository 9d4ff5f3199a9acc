import { formatCount, formatLabelled, joinFirst, type Paint } from "../../base/text.ts";
import { sanitize, sanitizeLine } from "../../base/sanitize.ts";
import { shellQuote } from "../../base/shell-words.ts";
import { breachText, type DistinctFinding, findingFacts } from "../model/finding-text.ts";
import type { ClauseGroup } from "../model/broken-clauses.ts";
import type { ReportFinding } from "../model/finding.ts";
import { commandName } from "../reproduce/curl.ts";
import { type EvidenceContext, findingEvidence } from "../reproduce/finding-evidence.ts";
import { formatText, type TerminalStyle } from "./section-lines.ts";

export type FailureContext = EvidenceContext & TerminalStyle;

const failureIndent = "      ";
const maxOtherFindings = 3;

/**
 * Renders a broken clause with commands to reproduce it. `clauseByMessage` maps the id of each exchange or delivery
 * printed so far to the clause under which it was printed.
 */
export function failureLines(
  group: ClauseGroup,
  context: FailureContext,
  clauseByMessage: Map<string, string>,
  cause: number | null,
): string[] {
  const { paint, width } = context;
  const [first, ...others] = group.distinctFindings;
  const clause = sanitizeLine(group.clause, 60);
  const origin =
    group.section === ""
      ? "a load scenario demands it; the document does not state it"
      : `${group.level} · ${group.section}`;
  const shownText = formatDistinctFinding(first);
  const otherTexts = [...new Set(others.map(formatDistinctFinding))].filter((each) => each !== shownText);
  const more = otherTexts.length - maxOtherFindings;
  return [
    `${paint.bold(paint.red("FAIL"))}  ${paint.bold(clause)}  ${paint.dim(cause === null ? origin : `cause ${cause} · ${origin}`)}`,
    ...(group.says === "" ? [] : formatLabelled(failureIndent, group.says, width, paint.dim)),
    ...indentLines(findingLines(first, context)),
    ...otherTexts
      .slice(0, maxOtherFindings)
      .flatMap((each) => formatLabelled(`${failureIndent}also      `, each, width, paint.dim)),
    ...(more > 0 ? [`${failureIndent}also      ${more} more findings of this clause`] : []),
    ...indentLines(evidenceLines(first.finding, context, clauseByMessage)),
  ];
}

const indentLines = (lines: readonly string[]): string[] => lines.map((line) => `${failureIndent}${line}`);

export const findingLines = (distinct: DistinctFinding, { width, paint }: TerminalStyle): string[] =>
  findingFacts(distinct).flatMap(({ label, value }) =>
    formatLabelled(formatText(label).padEnd(10), formatText(value), width - failureIndent.length, paint.dim),
  );

export function formatDistinctFinding({ finding, instances }: DistinctFinding): string {
  const names = instances.map((instance) => sanitizeLine(instance, 40));
  return `${formatText(breachText(finding))}${names.length === 0 ? "" : ` (${joinFirst(names, 4)})`}`;
}

export const evidenceLines = (
  finding: ReportFinding,
  context: FailureContext,
  clauseByMessage: Map<string, string> = new Map(),
): string[] => [
  ...witnessLines(finding, context),
  ...messageOnWireLines(finding, context, clauseByMessage),
  ...loadCommandLines(finding, context),
  ...fileCommandLines(finding, context),
];

const maxWitnessLines = 8;

function witnessLines({ witness = [], evidence = [] }: ReportFinding, { paint, pathOf }: FailureContext): string[] {
  if (witness.length === 0) return [];
  const isLong = witness.length > maxWitnessLines;
  const head = isLong ? witness.slice(0, maxWitnessLines - 2) : witness;
  const tail = isLong ? witness.slice(-2) : [];
  const left = witness.length - head.length - tail.length;
  const file = sanitizeLine(pathOf(evidence[0] ?? "report.json"));
  return [
    `${paint.dim("witness")}   ${formatCount(witness.length, "line")}, the smallest part that proves it; all requests are in ${file}`,
    ...head.map((line) => `  ${sanitizeLine(line, 200)}`),
    ...(left > 0 ? [`  ${paint.dim(`… ${left} more`)}`] : []),
    ...tail.map((line) => `  ${sanitizeLine(line, 200)}`),
  ];
}

const wireMessageBounds = { bodyCharacters: 800, bodyLines: 16 } as const;

function messageOnWireLines(
  finding: ReportFinding,
  context: FailureContext,
  clauseByMessage: Map<string, string>,
): string[] {
  const { paint, evidenceFile } = context;
  const evidence = findingEvidence(finding, context, wireMessageBounds);
  if (evidence === null) return [];
  const { kind, lines, commands } = evidence;
  const id = sanitizeLine(evidence.id, 60);
  const earlier = clauseByMessage.get(evidence.id);
  if (earlier !== undefined) return [`${kind}  ${id}, shown under ${earlier}`];
  clauseByMessage.set(evidence.id, sanitizeLine(finding.clause, 60));
  const more = (finding.evidence ?? []).length - 1;
  return [
    `${paint.dim(kind)}  ${id}${more > 0 ? ` (and ${more} more in ${evidenceFile})` : ""}`,
    ...lines.map((line) => `  ${line.startsWith("<") ? line : paint.dim(line)}`),
    ...commandLines(kind === "exchange" ? "to send it again" : "to see it again", commands, paint),
  ];
}

const loadCommandLines = ({ load }: ReportFinding, { loadCommands, paint }: FailureContext): string[] =>
  load === undefined ? [] : commandLines("to run it again", loadCommands(load), paint);

const fileCommandLines = ({ where }: ReportFinding, { paint }: FailureContext): string[] =>
  where === undefined
    ? []
    : commandLines("to see it again", [`${commandName} config ${shellQuote(sanitizeLine(where.file))}`], paint);

const commandLines = (title: string, commands: readonly string[], paint: Paint): string[] =>
  commands.length === 0
    ? []
    : [
        paint.dim(title),
        ...commands.flatMap((command) => sanitize(command).split("\n")).map((line) => `  ${paint.cyan(line)}`),
      ];
