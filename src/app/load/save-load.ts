import type { TrialResult } from "../../load/run-trials.ts";
import type { LoadEvidence } from "../../load/load-evidence.ts";
import { serializeReport } from "../../report/model/report-file.ts";
import type { Report, ReportDocument } from "../../report/model/report.ts";
import { type Digests, sha256Of } from "../../report/statement/statement.ts";
import type { Target } from "../../target/target.ts";
import { writeFiles } from "../report-folder/write-files.ts";
import { redactorOf } from "../judge/redactor.ts";
import { secretsOf } from "../judge/target-secrets.ts";
import { evidenceFileOf } from "../../load/trials.ts";

/** Load as it may leave the process: nothing in it is secret. */
export interface SentLoad {
  readonly document: ReportDocument;
  /** Of the evidence as it was written, for a statement. */
  readonly digests: Digests;
  /** Where the files are: not what was asked for where that could not be written. `null`: nothing was written. */
  readonly folder: string | null;
}

/** Load as it may leave the process, kept as it comes: nothing in it is secret. */
export interface LoadWriter {
  /** Evidence by the names of its files. */
  readonly evidence: ReadonlyMap<string, LoadEvidence>;
  /** Of the evidence as it was written. */
  readonly digests: ReadonlyMap<string, string>;
  /** Where the files are: not what was asked for where that could not be written. `null`: nowhere. */
  readonly folder: () => string | null;
  readonly keepOutcome: (outcome: TrialResult) => void;
  /** Gives the report without secrets. */
  readonly keepReport: (report: Report) => Report;
}

/**
 * @param target whose secrets are taken out; `null`: the embedded server, which has none
 * @param wanted where `report.json` and `load/*.json` are written; `null`: nowhere
 * @param onProblem gets a sentence where that could not be done
 */
export function openLoadWriter(
  target: Target | null,
  wanted: string | null,
  onProblem: (sentence: string) => void,
): LoadWriter {
  const { deep } = redactorOf(target === null ? [] : secretsOf(target));
  const evidence = new Map<string, LoadEvidence>();
  const digests = new Map<string, string>();
  let folder = wanted;
  const write = (file: string, text: string): void => {
    if (folder === null) return;
    const written = writeFiles(folder, { [file]: text });
    if (written.problem !== null) onProblem(written.problem);
    folder = written.folder;
  };
  return {
    evidence,
    digests,
    folder: () => folder,
    keepOutcome: (outcome) => {
      if (outcome.kind === "skipped" || outcome.evidence === null) return;
      const file = evidenceFileOf(outcome.trial);
      const kept = deep(outcome.evidence);
      const text = `${JSON.stringify(kept)}\n`;
      evidence.set(file, kept);
      digests.set(file, sha256Of(text));
      // At once: what comes later must not cost what is there.
      write(file, text);
    },
    keepReport: (report) => {
      const shown = deep(report);
      write("report.json", serializeReport(shown));
      return shown;
    },
  };
}
