import { performance } from "node:perf_hooks";

import { redactDeep, redactorFor } from "../../evidence/redaction.ts";
import { conductLoad, type Ground, type Outcome } from "../../load/conduct.ts";
import type { Trial } from "../../load/conduct-trials.ts";
import type { LoadEvidence } from "../../load/load-evidence.ts";
import { reportText } from "../../report/json.ts";
import type { Report } from "../../report/report.ts";
import { secretsOf } from "../session/secrets.ts";
import { packageVersion } from "../session/version.ts";
import type { Target } from "../../target/target.ts";
import { assembleLoadReport } from "../../report/assemble/load-report.ts";
import { evidenceFileOf } from "../../load/conduct-trials.ts";
import { type EnginesHere, engines as sendingEngines } from "../load/engines.ts";
import { showLoadProgress } from "../../cli/loading/progress.ts";
import { writeFiles } from "../folder/write-files.ts";

export interface NightLoadParts {
  readonly trials: readonly Trial[];
  readonly ground: Ground;
  readonly engines: EnginesHere;
  /** `null`: the embedded server. */
  readonly target: Target | null;
  /** Where the report and its evidence are written. */
  readonly folder: string;
  readonly isQuiet: boolean;
  readonly signal: AbortSignal;
}

/** Load as it may leave the process: nothing in it is secret. */
export interface SentLoad {
  readonly report: Report;
  readonly evidence: ReadonlyMap<string, LoadEvidence>;
}

/** Sends load, judges it, and writes its report beside its evidence. */
export async function sendLoad(parts: NightLoadParts): Promise<SentLoad> {
  const { target, folder, signal } = parts;
  const secrets = target === null ? [] : secretsOf(target);
  const redact = redactorFor(secrets);
  const evidence = new Map<string, LoadEvidence>();
  const started = new Date();
  const { outcomes, waitedMs } = await conducted(parts, (outcome) => {
    if (outcome.kind === "skipped" || outcome.evidence === null) return;
    const kept = redactDeep(outcome.evidence, redact, secrets);
    evidence.set(evidenceFileOf(outcome.trial), kept);
    // At once: what comes later must not cost what is there.
    tell(writeFiles(folder, { [evidenceFileOf(outcome.trial)]: `${JSON.stringify(kept)}\n` }).problem);
  });
  const assembled = assembleLoadReport(outcomes, {
    version: packageVersion(),
    target: { name: target?.name ?? "embedded reference server", baseUrl: target?.baseUrl ?? "", tiers: {} },
    started,
    finished: new Date(),
    waitedMs,
    stopped: signal.aborted ? "interrupted" : null,
    fileOf: evidenceFileOf,
  });
  const report = redactDeep(assembled, redact, secrets);
  tell(writeFiles(folder, { "report.json": reportText(report) }).problem);
  return { report, evidence };
}

const tell = (problem: string | null): void => {
  if (problem !== null) process.stderr.write(`${problem}\n`);
};

async function conducted(
  { trials, ground, engines, isQuiet, signal }: NightLoadParts,
  onOutcome: (outcome: Outcome) => void,
): Promise<{ readonly outcomes: readonly Outcome[]; readonly waitedMs: number }> {
  const view = showLoadProgress(process.stderr, isQuiet);
  let waitedMs = 0;
  try {
    const outcomes = await conductLoad({
      trials,
      ground,
      engines: sendingEngines,
      missing: engines.missing,
      segments: 1,
      dashboardOf: () => null,
      requestsOf: () => null,
      maxRequests: Number.POSITIVE_INFINITY,
      signal,
      onTrial: (trial, at) => view.trial(trial, at, trials.length),
      onWait: (ms, why) => {
        waitedMs += ms;
        view.waiting(ms, why);
      },
      onProgress: view.progress,
      onOutcome: (outcome) => {
        view.outcome(outcome);
        onOutcome(outcome);
      },
    });
    return { outcomes, waitedMs };
  } finally {
    view.done();
  }
}

/** What a run has sent is in the windows of the keys: before the first load they rest as between two loads. */
export function restedGround(ground: Ground, runEndedMs: number): Ground {
  const minuteMs = 61_000;
  return {
    ...ground,
    restMs: (trial) => Math.max(ground.restMs(trial), runEndedMs + minuteMs - performance.now()),
  };
}

/** After a run no key is fresh. */
export function usedTarget(target: Target): Target {
  const keys = Object.entries(target.keys).map(([name, key]) => [name, { ...key, fresh: false }] as const);
  return { ...target, keys: Object.fromEntries(keys) };
}
