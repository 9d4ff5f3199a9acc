import { performance } from "node:perf_hooks";
import { join } from "node:path";

import { loadsToConfirm } from "../../report/history/gate/judge-night.ts";
import { emptyNight, nightLoadOf, nightFromReports } from "../../report/history/night-from-reports.ts";
import { trialKey, type Night } from "../../report/history/night.ts";
import type { TrialId } from "../../report/model/trial-id.ts";
import { reportFolder } from "./history-store.ts";
import type { LoadTrial } from "../../load/trials.ts";
import { clausesHash } from "../report/assemble.ts";
import { renderHtml } from "../../report/html/render.ts";
import type { ReportDocument, Report } from "../../report/model/report.ts";
import { serializeEvidenceChunks, serializeReport } from "../../report/model/report-file.ts";
import type { Target } from "../../target/target.ts";
import type { SavedRun } from "../report-folder/saved-run.ts";
import { writeFiles } from "../report-folder/write-files.ts";
import { judge } from "../judge/judge.ts";
import type { NotSentReason } from "../load/not-sent-reason.ts";
import { openLoad, type OpenedLoad } from "../load/send-load.ts";
import { documentOf } from "../report-folder/read-document.ts";
import type { RedactedRun } from "../judge/redacted-run.ts";
import { packageVersion } from "../version.ts";
import type { RunNightOptions } from "./night-options.ts";

/** A night that is about to begin, and those before it. */
export interface NightPlan extends RunNightOptions {
  readonly id: string;
  readonly before: readonly Night[];
}

/** A night as it was lived through, second runs included; not yet judged. */
export interface ExecutedNight {
  readonly night: Night;
  /** `null` where nothing could be judged. */
  readonly run: ReportDocument | null;
  /** `null` where none was sent. */
  readonly load: ReportDocument | null;
  /** Why no load was sent though it was wanted; `null` where it was, or nobody wanted any. */
  readonly noLoad: NotSentReason | null;
  readonly interrupted: boolean;
}

/** Runs the suites, sends the load, and sends that load again which the history makes suspect. Reports are written as they come. */
export async function executeNight(plan: NightPlan): Promise<ExecutedNight> {
  const started = new Date();
  const session = await judgedByRun(plan);
  if (session.kind === "nothing to judge") return nothingLived(plan, started, session);
  const { report, evidence, interrupted } = session;
  keepRun(plan, { report, evidence });
  const run = documentOf(report, evidence);
  const first = { night: nightFromReports({ id: plan.id, run: run.report, load: null }), run, load: null, interrupted };
  if (plan.load === null || interrupted) return { ...first, noLoad: null };
  const opened = await openedAfter(plan, plan.load, run.report);
  if (opened.kind === "not sent") return { ...first, noLoad: opened.why, interrupted: plan.signal.aborted };
  try {
    return await withLoad(plan, run, opened);
  } finally {
    await opened.close();
  }
}

/** Load within what the run has left of its bounds. */
function openedAfter(plan: NightPlan, wish: NonNullable<RunNightOptions["load"]>, run: Report) {
  const { target, patches, engines, readOnly, maxRequests, messages, agree, view, signal } = plan;
  const left = maxRequests === null ? Number.POSITIVE_INFINITY : Math.max(0, maxRequests - run.requests);
  return openLoad({
    ...wish,
    maxRequests: left,
    target,
    patches,
    engines,
    readOnly: readOnly,
    messages: messages,
    agree,
    usedAtMs: performance.now(),
    view: view.load,
    signal,
  });
}

async function withLoad(plan: NightPlan, run: ReportDocument, opened: OpenedLoad): Promise<ExecutedNight> {
  const { id, before, signal } = plan;
  const { document: load } = await opened.send(opened.trials, folderOf(plan, "load"));
  const first = nightFromReports({ id, run: run.report, load: load.report });
  const again = signal.aborted ? [] : suspectTrials(opened.trials, loadsToConfirm(before, first));
  const second = again.length === 0 ? [] : await secondRuns(plan, opened, again);
  return { night: { ...first, second }, run, load, noLoad: null, interrupted: signal.aborted };
}

async function secondRuns(plan: NightPlan, opened: OpenedLoad, trials: readonly LoadTrial[]): Promise<Night["second"]> {
  plan.view.again(trials);
  const { document } = await opened.send(trials, folderOf(plan, "second"));
  return (document.report.load?.runs ?? []).map(nightLoadOf);
}

/** Those of the trials that have to be sent again. */
function suspectTrials(trials: readonly LoadTrial[], suspects: readonly TrialId[]): LoadTrial[] {
  const names = new Set(suspects.map(trialKey));
  return trials.filter(({ scenario, tier, engine }) => names.has(trialKey({ scenario: scenario.name, tier, engine })));
}

function keepRun(plan: NightPlan, { report, evidence }: SavedRun, others: Readonly<Record<string, string>> = {}): void {
  const files = {
    "report.json": serializeReport(report),
    "evidence.json": () => serializeEvidenceChunks(evidence),
    ...others,
  };
  const { problem } = writeFiles(folderOf(plan, "run"), files);
  if (problem !== null) plan.view.load.problem(problem);
}

async function judgedByRun(plan: NightPlan): Promise<RedactedRun> {
  const { events, done } = plan.view.run;
  try {
    return await judge({ ...plan, events });
  } finally {
    done();
  }
}

function nothingLived(
  plan: NightPlan,
  started: Date,
  session: Extract<RedactedRun, { kind: "nothing to judge" }>,
): ExecutedNight {
  const { id, target } = plan;
  const { sentence, interrupted, report, evidence } = session;
  // One that was interrupted is not kept.
  if (!interrupted) keepRun(plan, { report, evidence }, { "report.html": renderHtml(documentOf(report, evidence)) });
  const times = { id, started: started.toISOString(), finished: new Date().toISOString() };
  const night = emptyNight(times, {
    suite: { version: packageVersion(), clauses: clausesHash() },
    target: { name: nameOf(target), baseUrl: target?.baseUrl ?? "", fingerprint: "", tiers: {} },
    verdict: report.verdict,
    sentence,
  });
  return { night, run: null, load: null, noLoad: null, interrupted };
}

/** The name of a history's target. */
export const nameOf = (target: Target | null): string => target?.name ?? "embedded reference server";

const folderOf = ({ history, id }: NightPlan, part: "run" | "load" | "second"): string =>
  join(reportFolder(history, id), part);
