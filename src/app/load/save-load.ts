import type { LoadEvidence } from "../../evidence/load-evidence.ts";
import type { TrialResult } from "../../load/run-trials.ts";
import { evidenceFileOf } from "../../load/trials.ts";
import { serializeReport } from "../../report/model/report-file.ts";
import type { Report, ReportDocument } from "../../report/model/report.ts";
import type { RunEnd } from "../../report/model/verdict.ts";
import { type Digests, sha256Of } from "../../report/statement/statement.ts";
import type { Target } from "../../target/target.ts";
import { redactorOf } from "../judge/redactor.ts";
import { secretsOf } from "../judge/secrets.ts";
import { writeFiles } from "../report-folder/write-files.ts";
import { assembleLoadReport, loadReportTarget } from "../report/load-report.ts";
import { packageVersion } from "../version.ts";
import { type NotSentReason, describeNotSent } from "./not-sent-reason.ts";
import { rolesIn } from "./target-environment.ts";

/** The result of a load without secrets: only this may leave the process. */
export interface SentLoad {
  readonly document: ReportDocument;
  /** Digests of the written evidence files, for a statement. */
  readonly digests: Digests;
  /** Folder of the files: a temporary one if the requested folder could not be written. `null`: nothing was written. */
  readonly folder: string | null;
}

/** Redacts and writes evidence after each trial, and the report at the end. */
export interface LoadWriter {
  /** Evidence by file name. */
  readonly evidence: ReadonlyMap<string, LoadEvidence>;
  /** Digests of the written files by file name. */
  readonly digests: ReadonlyMap<string, string>;
  /** Folder of the files: a temporary one if the requested folder could not be written. `null`: nothing is written. */
  readonly folder: () => string | null;
  readonly keepOutcome: (outcome: TrialResult) => void;
  /** Writes the report and returns it without secrets. */
  readonly keepReport: (report: Report) => Report;
}

/**
 * @param target its secrets are redacted; `null`: the embedded server, which has none
 * @param wanted folder for `report.json` and `load/*.json`; `null`: nothing is written
 * @param onProblem called with a sentence if writing fails
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
      // Written at once, so that a later failure does not lose it.
      write(file, text);
    },
    keepReport: (report) => {
      const shown = deep(report);
      write("report.json", serializeReport(shown));
      return shown;
    },
  };
}

/**
 * Writes the report of a load that was not sent because of the target or an interruption, so that a CI job finds a file. Returns `null` if the
 * load parameters were the reason.
 *
 * @param folder folder for `report.json`; `null`: nothing is written
 * @param onProblem called with a sentence if writing fails
 */
export function saveNotSent(
  why: NotSentReason,
  { target, started }: { readonly target: Target | null; readonly started: Date },
  folder: string | null,
  onProblem: (sentence: string) => void,
): SentLoad | null {
  const end = endFor(why);
  if (end === null) return null;
  const keeper = openLoadWriter(target, folder, onProblem);
  const report = assembleLoadReport([], {
    version: packageVersion(),
    target: { ...loadReportTarget(target), ...rolesIn(target) },
    started,
    finished: new Date(),
    waitedMs: 0,
    end,
    fileOf: () => "",
  });
  return {
    document: { report: keeper.keepReport(report), evidence: null, load: new Map() },
    digests: {},
    folder: keeper.folder(),
  };
}

/** The end of a load that was not sent; `null` if the load parameters were the reason. */
function endFor(why: NotSentReason): RunEnd | null {
  if (why.kind === "nothing to load") return { kind: "unreachable", why: describeNotSent(why) };
  const isStopped = why.kind === "unsendable agent" || why.kind === "interrupted";
  return isStopped ? { kind: "stopped", why: describeNotSent(why) } : null;
}
