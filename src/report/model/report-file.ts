import { isDeepStrictEqual } from "node:util";
import { profileResultsOf, limitVerdicts } from "./profiles.ts";
import { sinceOf } from "./requirements.ts";
import { countsIn } from "../../spec/clause.ts";
import { outcomes, type ReportFinding } from "./finding.ts";
import { type Report, reportSchema } from "./report.ts";
import { hasInvalidLoad, runEndOf, totalsOf, reportVerdict } from "./verdict.ts";
import { parseAs, parseJson } from "../../base/parsing.ts";
import { messageOf } from "../../base/errors.ts";
import { line, UsageError } from "../../base/line.ts";
import { type Evidence, evidenceSchema, toEvidenceFile, fromEvidenceFile } from "../../evidence/evidence.ts";
import { type FindingTrial, loadSuitePrefix } from "./load-results.ts";
import type { z } from "zod";

export const serializeReport = (report: Report): string => `${JSON.stringify(report, null, 2)}\n`;

export const serializeEvidence = (evidence: Evidence): string => [...serializeEvidenceChunks(evidence)].join("");

/** Yields the text of `evidence.json` in chunks. As one string, the text may need more memory than the run itself. */
export function* serializeEvidenceChunks(evidence: Evidence): Generator<string> {
  const { format, exchanges, deliveries, probes } = toEvidenceFile(evidence);
  yield `{ "format": ${JSON.stringify(format)},\n"exchanges": {\n`;
  yield* recordLines(exchanges);
  yield '\n},\n"deliveries": {\n';
  yield* recordLines(deliveries);
  yield '\n},\n"probes": [\n';
  yield* commaSeparatedLines(probes.values().map((each) => JSON.stringify(each)));
  yield "\n] }\n";
}

const recordLines = (record: Readonly<Record<string, unknown>>): Generator<string> =>
  commaSeparatedLines(
    Object.entries(record)
      .values()
      .map(([id, each]) => `${JSON.stringify(id)}: ${JSON.stringify(each)}`),
  );

function* commaSeparatedLines(items: Iterable<string>): Generator<string> {
  let isFirst = true;
  for (const item of items) {
    yield isFirst ? item : `,\n${item}`;
    isFirst = false;
  }
}

/** The error for a saved file with unexpected content. Its message names the file and the place in the file. */
export class UnreadableFile extends UsageError {}

/**
 * Parses the text of `report.json`.
 *
 * @throws {UnreadableFile} if the text is not a report
 */
export const readReport = (text: string, file: string): Report =>
  restoreFindingTrials(parseFile(text, file, reportSchema));

/**
 * Parses the text of `evidence.json`.
 *
 * @throws {UnreadableFile} if the text is not evidence
 */
export function readEvidence(text: string, file: string): Evidence {
  const packed = parseFile(text, file, evidenceSchema);
  try {
    return fromEvidenceFile(packed);
  } catch (error) {
    throw new UnreadableFile(line`${file}: ${messageOf(error)}`);
  }
}

function parseFile<T>(text: string, file: string, schema: z.ZodType<T>): T {
  const json = parseJson(text);
  if (json.kind === "problem") throw new UnreadableFile(line`${file} ${json.problem}.`);
  const parsed = parseAs(json.value, schema);
  if (parsed.kind === "value") return parsed.value;
  throw new UnreadableFile(line`${file}: ${parsed.problem}. Is it of this version?`);
}

/** Derives the field `load` of findings from `suite` and `instance`. Older harness versions did not write `load`. */
function restoreFindingTrials(report: Report): Report {
  if (report.load === undefined) return report;
  return {
    ...report,
    findings: report.findings.map((finding) => {
      const load = finding.load ?? trialFromTexts(finding);
      return load === null ? finding : { ...finding, load };
    }),
  };
}

function trialFromTexts({ suite, instance = "" }: ReportFinding): FindingTrial | null {
  const [tier, engine, ...more] = instance.split(", ");
  if (!suite.startsWith(loadSuitePrefix) || tier === undefined || engine === undefined || more.length > 0) return null;
  return { scenario: suite.slice(loadSuitePrefix.length), tier, engine };
}

type ConsistentParts = Pick<Report, "totals" | "verdict" | "unselected" | "stopped"> & {
  readonly findings: readonly Pick<Report["findings"][number], "clause" | "level" | "outcome">[];
};

export function contradictionIn(judged: ConsistentParts, isLoadInvalid = false): string | null {
  const counted = totalsOf(judged.findings);
  for (const outcome of outcomes)
    if (judged.totals[outcome] !== counted[outcome])
      return `its totals say ${outcome}: ${judged.totals[outcome]}, and its findings have ${counted[outcome]}`;
  const { verdict, findings, unselected } = judged;
  const follows = reportVerdict({ findings, end: runEndOf(judged), unselected, hasInvalidLoad: isLoadInvalid });
  if (verdict === "unreachable" && counted.fail > 0)
    return `its verdict is unreachable, and its findings have ${counted.fail} of a broken clause`;
  return verdict === follows ? null : `its verdict is ${verdict}, and from its findings follows ${follows}`;
}

/** Describes a contradiction in a report, e.g. totals that do not match the findings; `null` if there is none. */
export function contradictionInReport(report: Report): string | null {
  const { requirements } = report.suite;
  const hidden = report.upcoming.find((finding) => countsIn(sinceOf(finding), requirements));
  if (hidden !== undefined) return `it calls ${hidden.check} upcoming, which requirement set ${requirements} has`;
  const contradiction = contradictionIn(report, hasInvalidLoad(report.load));
  if (contradiction !== null) return contradiction;
  if (report.limits !== undefined && !isDeepStrictEqual(report.limits, limitVerdicts(report.findings)))
    return "what it says about rate limits does not follow from its findings";
  if (report.profiles === undefined) return null;
  const follows = profileResultsOf(report);
  const wrong = report.profiles.find((each, at) => !isDeepStrictEqual(each, follows[at]));
  if (wrong !== undefined || report.profiles.length !== follows.length)
    return `its verdict for the profile ${wrong?.profile ?? "after the last"} does not follow from its findings`;
  return null;
}
