import { readdirSync, statSync } from "node:fs";
import { join } from "node:path";

import { newestRequirements, type RequirementSet } from "../../spec/clause.ts";
import { type LoadEvidence, loadEvidenceSchema } from "../../evidence/load-evidence.ts";
import type { ReportDocument } from "../../report/model/report.ts";
import { assembleLoadReport } from "../report/load-report.ts";
import { runEndFromReason } from "../../report/model/verdict.ts";
import { parseAs } from "../../base/parsing.ts";
import { readTextFile } from "../../base/read-file.ts";
import { tryParseJson } from "../../base/json.ts";
import { errorCodeOrText, messageOf } from "../../base/errors.ts";
import { line, UsageError } from "../../base/line.ts";
import { scenarioNamed, scenarios } from "../../load/scenarios.ts";
import { EngineProblem } from "../../load/engine.ts";
import { evidenceOfLog } from "../../load/engines/k6/evidence.ts";
import { lineBeginning } from "../../load/engines/k6/lines.ts";
import { judgeTrial, type TrialResult } from "../../load/run-trials.ts";
import { mergeEvidence } from "../../load/merge.ts";

/** Judges saved load evidence. `clocksApartMs` is the maximum difference between the clocks of the sending machines. */
export function judgeSavedLoad(
  paths: readonly string[],
  clocksApartMs: number,
  requirements: RequirementSet = newestRequirements,
): ReportDocument {
  const kept = judgeSavedEvidence(paths, clocksApartMs);
  return {
    report: savedLoadReport(kept, requirements),
    evidence: null,
    load: new Map(kept.map(({ file, evidence }) => [file, evidence])),
  };
}

function savedLoadReport(kept: readonly SavedTrialOutcome[], requirements: RequirementSet) {
  const files = new Map(kept.map(({ outcome, file }) => [outcome.trial, file]));
  const startsMs = kept.map(({ evidence }) => Date.parse(evidence.startedAt));
  const endsMs = kept.map(({ evidence }) => Date.parse(evidence.startedAt) + evidence.durationMs);
  const stopped = kept.flatMap(({ outcome, evidence }) => (outcome.kind === "judged" ? (evidence.stopped ?? []) : []));
  return assembleLoadReport(
    kept.map(({ outcome }) => outcome),
    {
      requirements,
      target: { name: "kept load evidence", baseUrl: "", tiers: {} },
      started: new Date(Math.min(...startsMs)),
      finished: new Date(Math.max(...endsMs)),
      waitedMs: 0,
      end: runEndFromReason(stopped[0] ?? null),
      fileOf: (trial) => files.get(trial) ?? "",
    },
  );
}

interface EvidenceFile {
  readonly file: string;
  readonly evidence: LoadEvidence;
}

interface SavedTrialOutcome extends EvidenceFile {
  readonly outcome: TrialResult;
}

/** Judges saved evidence files of load. Files with the same scenario, tier and engine belong to one trial. */
export function judgeSavedEvidence(paths: readonly string[], clocksApartMs: number): SavedTrialOutcome[] {
  const kept = paths.flatMap(filesOf).map((file): EvidenceFile => ({ file, evidence: readEvidenceFile(file) }));
  const groups = Map.groupBy(kept, ({ evidence: { scenario, tier, engine } }) =>
    JSON.stringify([scenario, tier, engine]),
  );
  return [...groups.values()].map((members) => {
    const evidence = mergeFiles(members, clocksApartMs);
    const scenario = scenarioNamed(evidence.scenario);
    const file = members[0]?.file ?? "";
    if (scenario === undefined)
      throw new UsageError(
        line`${file} is of the scenario ${JSON.stringify(evidence.scenario)}, which this version does not know.`,
      );
    const trial = { scenario, tier: evidence.tier ?? "enterprise", engine: evidence.engine };
    return { outcome: judgeTrial(trial, evidence), evidence, file };
  });
}

function filesOf(path: string): string[] {
  try {
    if (!statSync(path).isDirectory()) return [path];
    const folder = join(path, "load");
    const names = readdirSync(folder).filter((name) => name.endsWith(".json"));
    if (names.length > 0) return names.toSorted().map((name) => join(folder, name));
  } catch (error) {
    throw new UsageError(line`The load evidence cannot be read: ${path} (${errorCodeOrText(error)}).`);
  }
  throw new UsageError(
    line`${path} holds no load evidence: give files, or the folder that \`conformance load\` has written.`,
  );
}

function readEvidenceFile(file: string): LoadEvidence {
  const text = readTextFile(file, "The load evidence");
  // Recognizes a k6 log by the beginning of a line. An attempt to parse a long log as one JSON document would waste
  // time.
  const json = text.includes(`\n${lineBeginning}`) ? undefined : tryParseJson(text);
  if (json === undefined) return evidenceFromLog(text, file);
  const evidence = parseAs(json, loadEvidenceSchema);
  if (evidence.kind === "value") return evidence.value;
  throw new UsageError(line`${file} is no load evidence: ${evidence.problem}.`);
}

function evidenceFromLog(text: string, file: string): LoadEvidence {
  try {
    return evidenceOfLog(text, scenarios, "unknown");
  } catch (error) {
    if (error instanceof EngineProblem) throw new UsageError(line`${file} is no load evidence. ${error.message}`);
    throw error;
  }
}

function mergeFiles(members: readonly EvidenceFile[], clocksApartMs: number): LoadEvidence {
  try {
    const parts = members.map(({ evidence }) => evidence);
    return mergeEvidence(parts, clocksApartMs);
  } catch (error) {
    const files = members.map(({ file }) => file).join(", ");
    throw new UsageError(line`${files}: ${messageOf(error)}`);
  }
}
