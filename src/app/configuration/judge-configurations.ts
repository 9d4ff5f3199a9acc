import { getPath } from "../../base/json.ts";
import { type Place, notationOf, parseSource, type Source } from "../../base/source/source.ts";
import type { Report, ReportFinding } from "../../report/model/report.ts";
import { type FileFinding, formatPath } from "../../rules/configuration/finding.ts";
import { judgeConfiguration } from "../../rules/configuration/judge.ts";
import { latestRequirements } from "../../spec/requirements.ts";
import { assembleReport, findingDetails, shortHash } from "../report/assemble-report.ts";
import { errorCodeOrText } from "../../base/errors.ts";
import { NotARegularFile, readRegularFile } from "../../base/read-file.ts";
import { line } from "../../base/line.ts";
import { UsageError } from "../../base/usage-error.ts";

export interface HostedObservations {
  readonly findings: readonly ReportFinding[];
  readonly requests: number;
}

const firstRequirementSet = "1.2";

export function judgeConfigurations(
  files: readonly ConfigurationFile[],
  started: Date,
  hosted: HostedObservations = { findings: [], requests: 0 },
): Report {
  const report = assembleReport({
    judging: {
      party: "file",
      requirements: latestRequirements,
      end: { kind: "planned" },
      unselected: [],
      load: null,
    },
    target: targetOf(files),
    started,
    finished: started,
    durationMs: 0,
    requests: hosted.requests,
    waitedMs: 0,
    findings: [...files.flatMap(findingsOf), ...repeatedIdFindings(files), ...hosted.findings],
    created: [],
  });
  const judged = new Set(report.findings.map(({ clause }) => clause));
  return { ...report, untestable: report.untestable.filter(({ clause }) => !judged.has(clause)) };
}

function targetOf(files: readonly ConfigurationFile[]): Report["target"] {
  const names = files.map(({ name }) => name);
  const values = files.map(({ source }) => source.value);
  const name = names.length <= 3 ? names.join(", ") : `${names.length} configuration files`;
  return { name, baseUrl: "", fingerprint: shortHash(JSON.stringify([names, values])), tiers: {} };
}

const findingsOf = (file: ConfigurationFile): ReportFinding[] =>
  judgeConfiguration(file.source).map((finding) => ({
    check: finding.check,
    clause: finding.clause,
    suite: file.name,
    level: finding.level,
    since: firstRequirementSet,
    ...resultOf(finding, file),
  }));

function resultOf(finding: FileFinding, { name, source }: ConfigurationFile): ReturnType<typeof findingDetails> {
  switch (finding.kind) {
    case "holds":
      return { outcome: "pass" };
    case "skipped":
      return { outcome: "skipped", reason: finding.reason };
    case "breach": {
      const { expected, actual, path } = finding;
      const breach = findingDetails({ kind: "breach", expected, actual, at: [] }, finding.level);
      return { ...breach, where: filePlace(name, source.placeOf(path)) };
    }
  }
}

const filePlace = (file: string, place: Place) => ({ file, line: place.line, column: place.column });

/** Reports repeated agent ids as notes, not as failures: two versions of an agent may share an id. */
function repeatedIdFindings(files: readonly ConfigurationFile[]): ReportFinding[] {
  const known = new Map<string, string>();
  return files.flatMap(({ name, source }): ReportFinding[] => {
    const id = getPath(source.value, "agent_id");
    if (typeof id !== "string") return [];
    const first = known.get(id);
    known.set(id, first ?? name);
    if (first === undefined || first === name) return [];
    const path = ["agent_id"];
    return [
      {
        check: "CFG-5/unique",
        clause: "CFG-5",
        suite: name,
        level: "advisory",
        since: firstRequirementSet,
        outcome: "note",
        expected: `${formatPath(path)}: another id than that of ${first}`,
        actual: JSON.stringify(id),
        where: filePlace(name, source.placeOf(path)),
      },
    ];
  });
}

export interface ConfigurationFile {
  readonly name: string;
  readonly source: Source;
}

export function readConfiguration(name: string): ConfigurationFile {
  const notation = notationOf(name);
  if (notation === null)
    throw new UsageError(line`${name} ends in none of .json, .yaml and .yml, so its notation is not known.`);
  const source = parseSource(readText(name), notation);
  if (source.kind === "value") return { name, source };
  const { place, problem } = source;
  throw new UsageError(line`${name}:${place.line}:${place.column}: the file ${problem}.`);
}

const maxConfigurationBytes = 1024 * 1024;

function readText(name: string): string {
  try {
    const text = readRegularFile(name, maxConfigurationBytes + 1);
    if (Buffer.byteLength(text) <= maxConfigurationBytes) return text;
  } catch (error) {
    const reason = error instanceof NotARegularFile ? "not a regular file" : errorCodeOrText(error);
    throw new UsageError(line`The configuration file cannot be read: ${name} (${reason}).`);
  }
  throw new UsageError(line`The configuration file ${name} exceeds 1 MiB.`);
}
