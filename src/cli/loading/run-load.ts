import { basename, dirname, extname, join, relative } from "node:path";

import { redactDeep, redactorFor, type Secret } from "../../evidence/redaction.ts";
import { conductLoad, type Outcome } from "../../load/conduct.ts";
import { type Trial, trialName } from "../../load/conduct-trials.ts";
import type { Patch } from "../../reference/patch.ts";
import { reportText } from "../../report/json.ts";
import { renderLoadTerminal } from "../../report/load-terminal.ts";
import type { Report } from "../../report/report.ts";
import type { Target } from "../../target/target.ts";
import { exitCodes } from "../exit-codes.ts";
import { prepareFile, prepareFolder, writeFiles } from "../output.ts";
import { secretsOf } from "../../session/secrets.ts";
import { terminalOf } from "../terminal-of.ts";
import { packageVersion } from "../../session/version.ts";
import { againLines } from "./again.ts";
import { assembleLoadReport, evidenceFileOf } from "./assemble.ts";
import { type EnginesHere, engines as sendingEngines } from "./engines.ts";
import { invalidText, loadExitCode } from "./exit-code.ts";
import type { LoadFlags, Sending } from "./load-flags.ts";
import type { OpenGround } from "./open-ground.ts";
import type { LoadPlan } from "./plan-load.ts";
import { showLoadProgress } from "./progress.ts";

/** Where a load run writes; made sure of before anything is sent. */
export interface PreparedLoad {
  readonly folder: string;
  readonly jsonFile: string | null;
  readonly dashboardFile: string | null;
}

/** @throws {UsageProblem} */
export function prepareLoad(flags: LoadFlags, target: Target | null): PreparedLoad {
  return {
    jsonFile: flags.json === undefined || flags.json === "-" ? null : prepareFile(flags.json, "--json"),
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
  const { outcomes, waitedMs, folder } = await conducted(parts, secrets);
  const interrupted = signal.aborted;
  const report = assembleLoadReport(outcomes, {
    version: packageVersion(),
    target: targetOf(target),
    started,
    finished: new Date(),
    waitedMs,
    stopped: interrupted ? "interrupted" : null,
    fileOf: evidenceFileOf,
  });
  present(redactDeep(report, redactorFor(secrets), secrets), { ...parts, prepared: { ...prepared, folder } });
  return interrupted ? exitCodes.interrupted : loadExitCode(report);
}

const targetOf = (target: Target | null) => ({
  name: target?.name ?? "embedded reference server",
  baseUrl: target?.baseUrl ?? "",
  tiers: Object.fromEntries(
    Object.values(target?.keys ?? {}).flatMap(({ name, tier }) => (tier === null ? [] : [[name, tier]])),
  ),
});

interface Conducted {
  readonly outcomes: readonly Outcome[];
  readonly waitedMs: number;
  /** Where the evidence is: not what was asked for where that could not be written. */
  readonly folder: string;
}

async function conducted(parts: LoadRunParts, secrets: readonly Secret[]): Promise<Conducted> {
  const { plan, sending, flags, prepared, engines, ground, signal } = parts;
  const view = showLoadProgress(process.stderr, flags.quiet === true);
  const redact = redactorFor(secrets);
  let { folder } = prepared;
  let waitedMs = 0;
  const keep = (outcome: Outcome): void => {
    view.outcome(outcome);
    if (outcome.kind === "skipped" || outcome.evidence === null) return;
    // At once: what comes later must not cost what is there.
    const text = `${JSON.stringify(redactDeep(outcome.evidence, redact, secrets))}\n`;
    const written = writeFiles(folder, { [evidenceFileOf(outcome.trial)]: text });
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
    return { outcomes, waitedMs, folder };
  } finally {
    view.done();
  }
}

function boundOf({ estimateOf }: LoadPlan, trial: Trial): number | null {
  const { requests, open } = estimateOf(trial);
  return open.length === 0 ? requests : null;
}

/** One file for one run; of several, each has its run's name in it. */
function dashboardOf(trial: Trial, file: string | null, trials: number): string | null {
  if (file === null || trial.engine !== "k6") return null;
  if (trials === 1) return file;
  const extension = extname(file);
  return `${file.slice(0, file.length - extension.length)}-${trialName(trial)}${extension}`;
}

function present(report: Report, { target, flags, patches, prepared }: LoadRunParts): void {
  const text = reportText(report);
  const written = writeFiles(prepared.folder, { "report.json": text });
  if (prepared.jsonFile !== null) writeFiles(dirname(prepared.jsonFile), { [basename(prepared.jsonFile)]: text });
  if (flags.json === "-") process.stdout.write(text);
  const { look, write } = terminalOf(flags.json === "-" ? process.stderr : process.stdout);
  const nearer = relative(process.cwd(), written.folder);
  const patchFlags = patches.map(({ kind, name }) => ` --${kind} ${name}`).join("");
  const parts = { target, targetFile: flags.target ?? null, patchFlags };
  write(
    renderLoadTerminal(report, {
      ...look,
      quiet: flags.quiet === true,
      folder: nearer.startsWith("..") ? written.folder : nearer,
      againLines: (finding) => againLines(finding, parts),
    }),
  );
  const invalid = invalidText(report);
  if (invalid !== null) process.stderr.write(`${invalid}\n`);
  if (written.problem !== null) process.stderr.write(`${written.problem}\n`);
}
