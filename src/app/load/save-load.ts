import type { RequirementSet } from "../../spec/clause.ts";
import type { LoadEvidence } from "../../evidence/load-evidence.ts";
import type { TrialResult } from "../../load/run-trials.ts";
import { evidenceFileOf } from "../../load/trials.ts";
import { serializeReport } from "../../report/model/report-file.ts";
import type { ReportDocument } from "../../report/model/report.ts";
import type { RunEnd } from "../../report/model/verdict.ts";
import { type Digests, sha256Of } from "../../report/statement/statement.ts";
import { describeRoles, type Target } from "../../target/target.ts";
import { redactorWithAlteredKeys } from "../judge/redactor.ts";
import { secretsOf } from "../judge/secrets.ts";
import { writeFiles } from "../report-folder/write-files.ts";
import { assembleLoadReport, type LoadReportInput, loadReportTarget } from "../report/load-report.ts";
import { type NotSentReason, describeNotSent } from "./not-sent-reason.ts";

export interface RedactedLoad {
  readonly document: ReportDocument;
  readonly digests: Digests;
  /**
   * The folder with the written files; `null` if no files were requested. This is a temporary folder if the chosen
   * folder is not writable.
   */
  readonly folder: string | null;
}

export type LoadWriter = ReturnType<typeof openLoadWriter>;

export function openLoadWriter(
  target: Target | null,
  wantedFolder: string | null,
  requirements: RequirementSet,
  onProblem: (sentence: string) => void,
) {
  const { deep: redact } = redactorWithAlteredKeys(target === null ? [] : secretsOf(target));
  const outcomes: TrialResult[] = [];
  const load = new Map<string, LoadEvidence>();
  const digests: Record<string, string> = {};
  let folder = wantedFolder;
  const write = (file: string, text: string): void => {
    if (folder === null) return;
    const written = writeFiles(folder, { [file]: text });
    if (written.problem !== null) onProblem(written.problem);
    folder = written.folder ?? folder;
  };
  return {
    add: (outcome: TrialResult): void => {
      outcomes.push(outcome);
      if (outcome.kind === "skipped" || outcome.evidence === null) return;
      const file = evidenceFileOf(outcome.trial);
      const evidence = redact(outcome.evidence);
      const text = `${JSON.stringify(evidence)}\n`;
      load.set(file, evidence);
      digests[file] = sha256Of(text);
      // Writes the evidence at once, so that a crash during a later trial does not lose it.
      write(file, text);
    },
    finish: (occasion: Pick<LoadReportInput, "started" | "waitedMs" | "end">): RedactedLoad => {
      const report = redact(
        assembleLoadReport(outcomes, {
          ...occasion,
          requirements,
          target: { ...loadReportTarget(target), ...(target !== null && { roles: describeRoles(target) }) },
          finished: new Date(),
          fileOf: evidenceFileOf,
        }),
      );
      write("report.json", serializeReport(report));
      return { document: { report, evidence: null, load }, digests, folder };
    },
  };
}

export function runEndWithoutLoad(why: NotSentReason): RunEnd | null {
  if (why.kind === "nothing to load") return { kind: "unreachable", why: describeNotSent(why) };
  const isStopped = ["unsendable agent", "harness limit", "interrupted"].includes(why.kind);
  return isStopped ? { kind: "stopped", why: describeNotSent(why) } : null;
}
