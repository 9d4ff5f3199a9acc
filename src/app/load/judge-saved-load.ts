import { newestRequirements, type RequirementSet } from "../../spec/requirements.ts";
import type { LoadEvidence } from "../../evidence/load-evidence.ts";
import type { ReportDocument } from "../../report/model/report.ts";
import { packageVersion } from "../../base/package-root.ts";
import { assembleLoadReport } from "../report/load-report.ts";
import { runEndFromReason } from "../../report/model/verdict.ts";
import { judgeSavedEvidence, type SavedTrialOutcome } from "./saved-evidence.ts";

/**
 * Judges saved load evidence, and returns its report. Reads files of `conformance load`, logs of k6 pods, or the folder
 * of a load report.
 *
 * @param clocksApartMs maximum difference between the clocks of the machines that sent parts of the load
 * @throws {UsageError} if the evidence cannot be read
 */
export function judgeSavedLoad(
  paths: readonly string[],
  clocksApartMs: number,
  requirements: RequirementSet = newestRequirements,
): ReportDocument {
  const kept = judgeSavedEvidence(paths, clocksApartMs);
  return { report: savedLoadReport(kept, requirements), evidence: null, load: evidenceOf(kept) };
}

const evidenceOf = (kept: readonly SavedTrialOutcome[]): Map<string, LoadEvidence> =>
  new Map(
    kept.flatMap(({ outcome, file }): [string, LoadEvidence][] =>
      outcome.kind === "skipped" || outcome.evidence === null ? [] : [[file, outcome.evidence]],
    ),
  );

/**
 * Assembles the report of saved load evidence. The report has no name for the target, because the evidence contains
 * none.
 */
function savedLoadReport(kept: readonly SavedTrialOutcome[], requirements: RequirementSet) {
  const files = new Map(kept.map(({ outcome, file }) => [outcome.trial, file]));
  const spans = kept.flatMap(({ outcome }) => {
    if (outcome.kind === "skipped" || outcome.evidence === null) return [];
    const { startedAt, durationMs } = outcome.evidence;
    return [{ fromMs: Date.parse(startedAt), toMs: Date.parse(startedAt) + durationMs }];
  });
  const stopped = kept.flatMap(({ outcome }) =>
    outcome.kind === "judged" && outcome.evidence.stopped !== null ? [outcome.evidence.stopped] : [],
  );
  return assembleLoadReport(
    kept.map(({ outcome }) => outcome),
    {
      version: packageVersion(),
      requirements,
      target: { name: "kept load evidence", baseUrl: "", tiers: {} },
      started: new Date(Math.min(...spans.map(({ fromMs }) => fromMs))),
      finished: new Date(Math.max(...spans.map(({ toMs }) => toMs))),
      waitedMs: 0,
      end: runEndFromReason(stopped[0] ?? null),
      fileOf: (trial) => files.get(trial) ?? "",
    },
  );
}
