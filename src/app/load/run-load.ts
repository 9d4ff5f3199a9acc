import { extname, join, relative } from "node:path";

import { redactDeep, redactorFor, type Secret } from "../../evidence/redaction.ts";
import { conductLoad, type Outcome } from "../../load/conduct.ts";
import { type Trial, trialName } from "../../load/conduct-trials.ts";
import type { LoadEvidence } from "../../load/load-evidence.ts";
import type { Patch } from "../../reference/patch.ts";
import type { FormatRules } from "../../report/formats/rules.ts";
import { reportText } from "../../report/json.ts";
import { renderLoadTerminal } from "../../report/load-terminal.ts";
import type { Report } from "../../report/report.ts";
import { type Digests, sha256Of } from "../../report/statement/digests.ts";
import type { Target } from "../../target/target.ts";
import { exitCodes } from "../../cli/exit-codes.ts";
import { writeFiles } from "../folder/write-files.ts";
import { prepareFile, prepareFolder } from "../../cli/output.ts";
import { baselineText } from "../../cli/reporting/baseline-text.ts";
import { tellCi } from "../../cli/reporting/ci.ts";
import { readRules } from "../../cli/reporting/format-flags.ts";
import { type PreparedFormats, prepareFormats, writeFormats } from "../../cli/reporting/write-formats.ts";
import { secretsOf } from "../session/secrets.ts";
import { terminalOf } from "../../cli/terminal-of.ts";
import { packageVersion } from "../session/version.ts";
import { againLines } from "./again.ts";
import { assembleLoadReport, loadTargetOf } from "../../report/assemble/load-report.ts";
import { evidenceFileOf } from "../../load/conduct-trials.ts";
import { type EnginesHere, engines as sendingEngines } from "./engines.ts";
import { invalidText, loadExitCode } from "./exit-code.ts";
import type { LoadFlags, Sending } from "../../cli/loading/load-flags.ts";
import type { OpenGround } from "./open-ground.ts";
import { boundOf, type LoadPlan } from "./plan-load.ts";
import { showLoadProgress } from "../../cli/loading/progress.ts";

/** Where a load run writes; made sure of before anything is sent. */
export interface PreparedLoad {
  readonly folder: string;
  readonly formats: PreparedFormats;
  readonly rules: FormatRules;
  readonly dashboardFile: string | null;
}

/** @throws {UsageProblem} */
export function prepareLoad(flags: LoadFlags, target: Target | null): PreparedLoad {
  return {
    rules: readRules(flags),
    formats: prepareFormats(flags),
    dashboardFile: flags.k6Dashboard === undefined ? null : prepareFile(flags.k6Dashboard, "--k6-dashboard"),
    folder: prepareFolder(flags.out ?? join("reports", folderName(target))),
  };
}

function folderName(target: Target | null): string {
  const time = new Date().toISOString().replace(/[:.]/g, "-");
  const name = (target?.name ?? "embedded").toLowerCase().replace(/[^a-z0-9]+/g, "-");
  return `${time}-load-${name.slice(0, 40)}`;
}

export interface LoadRunParts {
  readonly plan: LoadPlan;
  readonly sending: Sending;
  /** `null`: the embedded server. */
  readonly target: Target | null;
  readonly patches: readonly Patch[];
  readonly flags: LoadFlags;
  readonly prepared: PreparedLoad;
  readonly engines: EnginesHere;
  readonly ground: OpenGround;
  readonly signal: AbortSignal;
}

/** Sends, judges, writes and shows. Gives the exit code. */
export async function runLoad(parts: LoadRunParts): Promise<number> {
  const { target, signal, prepared } = parts;
  const secrets = target === null ? [] : secretsOf(target);
  const started = new Date();
  const { outcomes, waitedMs, folder, kept } = await conducted(parts, secrets);
  const interrupted = signal.aborted;
  const report = assembleLoadReport(outcomes, {
    version: packageVersion(),
    target: loadTargetOf(target),
    started,
    finished: new Date(),
    waitedMs,
    stopped: interrupted ? "interrupted" : null,
    fileOf: evidenceFileOf,
  });
  present(redactDeep(report, redactorFor(secrets), secrets), kept, { ...parts, prepared: { ...prepared, folder } });
  return interrupted ? exitCodes.interrupted : loadExitCode(report, prepared.rules);
}

interface Conducted {
  readonly outcomes: readonly Outcome[];
  readonly waitedMs: number;
  /** Where the evidence is: not what was asked for where that could not be written. */
  readonly folder: string;
  readonly kept: KeptEvidence;
}

/** Evidence as it was written, by the names of its files. */
interface KeptEvidence {
  readonly load: Map<string, LoadEvidence>;
  readonly digests: Map<string, string>;
}

async function conducted(parts: LoadRunParts, secrets: readonly Secret[]): Promise<Conducted> {
  const { plan, sending, flags, prepared, engines, ground, signal } = parts;
  const view = showLoadProgress(process.stderr, flags.quiet === true);
  const redact = redactorFor(secrets);
  let { folder } = prepared;
  let waitedMs = 0;
  const kept: KeptEvidence = { load: new Map(), digests: new Map() };
  const keep = (outcome: Outcome): void => {
    view.outcome(outcome);
    if (outcome.kind === "skipped" || outcome.evidence === null) return;
    // At once: what comes later must not cost what is there.
    const [file, evidence] = [evidenceFileOf(outcome.trial), redactDeep(outcome.evidence, redact, secrets)];
    const text = `${JSON.stringify(evidence)}\n`;
    kept.load.set(file, evidence);
    kept.digests.set(file, sha256Of(text));
    const written = writeFiles(folder, { [file]: text });
    if (written.problem !== null) process.stderr.write(`${written.problem}\n`);
    folder = written.folder;
  };
  try {
    const outcomes = await conductLoad({
      trials: plan.trials,
      ground,
      engines: sendingEngines,
      missing: engines.missing,
      segments: sending.segments,
      dashboardOf: (trial) => dashboardOf(trial, prepared.dashboardFile, plan.trials.length),
      requestsOf: (trial) => boundOf(plan, trial),
      maxRequests: sending.maxRequests,
      signal,
      onTrial: (trial, at) => view.trial(trial, at, plan.trials.length),
      onWait: (ms, why) => {
        waitedMs += ms;
        view.waiting(ms, why);
      },
      onProgress: view.progress,
      onOutcome: keep,
    });
    return { outcomes, waitedMs, folder, kept };
  } finally {
    view.done();
  }
}

/** One file for one run; of several, each has its run's name in it. */
function dashboardOf(trial: Trial, file: string | null, trials: number): string | null {
  if (file === null || trial.engine !== "k6") return null;
  if (trials === 1) return file;
  const extension = extname(file);
  return `${file.slice(0, file.length - extension.length)}-${trialName(trial)}${extension}`;
}

function present(report: Report, kept: KeptEvidence, { target, flags, patches, prepared }: LoadRunParts): void {
  const { formats, rules } = prepared;
  const written = writeFiles(prepared.folder, { "report.json": reportText(report) });
  const document = { report, evidence: null, load: kept.load };
  const digests = (): Digests => Object.fromEntries(kept.digests);
  const problems = writeFormats(document, formats, { rules, digests });
  const { look, write } = terminalOf(formats.isStdoutTaken ? process.stderr : process.stdout);
  const nearer = relative(process.cwd(), written.folder);
  const patchFlags = patches.map(({ kind, name }) => ` --${kind} ${name}`).join("");
  const parts = { target, targetFile: flags.target ?? null, patchFlags };
  write(
    renderLoadTerminal(report, {
      ...look,
      quiet: flags.quiet === true,
      folder: nearer.startsWith("..") ? written.folder : nearer,
      againLines: (row) => againLines(row, parts),
    }),
  );
  write(baselineText(report.findings, rules.baseline));
  const invalid = invalidText(report);
  for (const sentence of [invalid, written.problem, ...problems])
    if (sentence !== null) process.stderr.write(`${sentence}\n`);
  tellCi(document, rules, formats.isStdoutTaken);
}
