import type { z } from "zod";

import { parseAs, parseJson } from "../../base/parsing.ts";
import { line } from "../../base/line.ts";
import { UsageError } from "../../base/usage-error.ts";
import { messageOf } from "../../base/errors.ts";
import { type Evidence, evidenceSchema, toEvidenceFile, fromEvidenceFile } from "../../evidence/evidence.ts";
import { type FindingTrial, loadSuitePrefix } from "./load-results.ts";
import { type Report, type ReportFinding, reportSchema } from "./report.ts";

/** Returns the text of `report.json`: indented by two spaces, with a line feed at the end. */
export const serializeReport = (report: Report): string => `${JSON.stringify(report, null, 2)}\n`;

/** Returns the text of `evidence.json`, with one exchange, delivery or probe on each line, so that the long file is easy to search. */
export const serializeEvidence = (evidence: Evidence): string => [...serializeEvidenceChunks(evidence)].join("");

/** Like {@link serializeEvidence}, but in chunks. The whole text may need more memory than the run itself. */
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

/** Thrown if a saved file has unexpected content. The message names the file and the place in it. */
export class UnreadableFile extends UsageError {}

/**
 * Parses the text of `report.json`.
 *
 * @throws {UnreadableFile}
 */
export const readReport = (text: string, file: string): Report =>
  restoreFindingTrials(parseFile(text, file, reportSchema));

/**
 * Parses the text of `evidence.json`.
 *
 * @throws {UnreadableFile}
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

/** Fills in the field `load` of load findings. Earlier versions wrote it only into `suite` and `instance`. */
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
