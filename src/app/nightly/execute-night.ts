import { join } from "node:path";
import { performance } from "node:perf_hooks";

import type { LoadTrial } from "../../load/trials.ts";
import type { Patch } from "../../reference/patch.ts";
import type { RegressionRules } from "../../report/compare/regression-rules.ts";
import { loadsToConfirm, type NightJudgement } from "../../report/history/gate/judge-night.ts";
import { emptyNight, nightLoadOf, nightFromReports } from "../../report/history/night-from-reports.ts";
import { trialIdText, type Night, type DamagedNight } from "../../report/history/night.ts";
import { reportFolder, type Retention } from "./history-store.ts";
import type { ReportDocument, Report } from "../../report/model/report.ts";
import { coverageSeedOfNight } from "../../run/plan/bounds.ts";
import type { RunScope } from "../../run/plan/selection.ts";
import type { TrialId } from "../../report/model/load-results.ts";
import type { Target } from "../../target/target.ts";
import { judgeTarget, type RunEvents } from "../judge/judge-target.ts";
import type { RedactedRun } from "../judge/redacted-run.ts";
import type { AvailableEngines } from "../load/available-engines.ts";
import { type LoadEvents, prepareLoad, type PreparedLoad, requestsLeft } from "../load/send-load.ts";
import type { LoadParameters, LoadPreview } from "../load/plan-load.ts";
import type { NotSentReason } from "../load/not-sent-reason.ts";
import { runEndWithoutLoad } from "../load/save-load.ts";
import { documentOf } from "../report-folder/read-report-document.ts";
import { saveRun, type SavedRun } from "../report-folder/saved-run.ts";

export interface NightPlan extends RunNightOptions {
  readonly id: string;
  readonly before: readonly Night[];
}

export interface ExecutedNight {
  readonly night: Night;
  readonly run: ReportDocument | null;
  readonly unjudged: ReportDocument | null;
  readonly load: ReportDocument | null;
  readonly noLoad: NotSentReason | null;
  readonly interrupted: boolean;
}

export interface JudgedNight {
  readonly night: Night;
  readonly judgement: NightJudgement;
  readonly executed: ExecutedNight;
  readonly nightCount: number;
}

export async function executeNight(plan: NightPlan): Promise<ExecutedNight> {
  const started = new Date();
  const { events, done } = plan.view.run;
  const coverageSeed = plan.coverageSeed ?? coverageSeedOfNight(started);
  const session = await judgeTarget({ ...plan, coverageSeed, events }).finally(done);
  if (session.kind === "nothing to judge") return unjudgedNight(plan, started, session);
  const { report, evidence, interrupted } = session;
  saveNightRun(plan, { report, evidence });
  const run = documentOf(report, evidence);
  const night = nightFromReports({ id: plan.id, run: run.report, load: null });
  const first = { night, run, unjudged: null, load: null, interrupted };
  if (plan.load === null || interrupted) return { ...first, noLoad: null };
  const opened = await prepareLoadAfterRun(plan, plan.load, run.report);
  if (opened.kind === "not sent") {
    const loadEnd = runEndWithoutLoad(opened.why);
    const unloaded = nightFromReports({ id: plan.id, run: run.report, load: null, loadEnd });
    return { ...first, night: unloaded, noLoad: opened.why, interrupted: plan.signal.aborted };
  }
  try {
    return await sendNightLoad(plan, run, opened);
  } finally {
    await opened.close();
  }
}

function prepareLoadAfterRun(plan: NightPlan, parameters: NonNullable<RunNightOptions["load"]>, run: Report) {
  return prepareLoad({
    ...plan,
    ...parameters,
    maxRequests: requestsLeft(plan.maxRequests, run),
    usedAtMs: performance.now(),
    events: plan.view.load,
  });
}

async function sendNightLoad(plan: NightPlan, run: ReportDocument, opened: PreparedLoad): Promise<ExecutedNight> {
  const { id, before, signal } = plan;
  const { document: load } = await opened.sendTrials(opened.trials, reportPartFolder(plan, "load"));
  const first = nightFromReports({ id, run: run.report, load: load.report });
  const again = signal.aborted ? [] : trialsWithIds(opened.trials, loadsToConfirm(before, first));
  if (again.length === 0) return { night: first, run, unjudged: null, load, noLoad: null, interrupted: signal.aborted };
  plan.view.again(again);
  const { document } = await opened.sendTrials(again, reportPartFolder(plan, "second"));
  const second = (document.report.load?.runs ?? []).map(nightLoadOf);
  return { night: { ...first, second }, run, unjudged: null, load, noLoad: null, interrupted: signal.aborted };
}

function trialsWithIds(trials: readonly LoadTrial[], suspects: readonly TrialId[]): LoadTrial[] {
  const names = new Set(suspects.map(trialIdText));
  return trials.filter(({ scenario, tier, engine }) =>
    names.has(trialIdText({ scenario: scenario.name, tier, engine })),
  );
}

function saveNightRun(plan: NightPlan, run: SavedRun): void {
  const { problem } = saveRun(reportPartFolder(plan, "run"), run);
  if (problem !== null) plan.view.load.problem(problem);
}

function unjudgedNight(
  plan: NightPlan,
  started: Date,
  session: Extract<RedactedRun, { kind: "nothing to judge" }>,
): ExecutedNight {
  const { id, target } = plan;
  const { sentence, interrupted, report, evidence } = session;
  if (!interrupted) saveNightRun(plan, { report, evidence });
  const run = interrupted ? null : documentOf(report, evidence);
  const times = { id, started: started.toISOString(), finished: new Date().toISOString() };
  const night = emptyNight(times, {
    suite: report.suite,
    target: { name: historyNameOf(target), baseUrl: target?.baseUrl ?? "", fingerprint: "", tiers: {} },
    verdict: report.verdict,
    sentence,
  });
  return { night, run: null, unjudged: run, load: null, noLoad: null, interrupted };
}

export const historyNameOf = (target: Target | null): string => target?.name ?? "embedded reference server";

const reportPartFolder = ({ history, id }: NightPlan, part: "run" | "load" | "second"): string =>
  join(reportFolder(history, id), part);

export interface NightEvents {
  readonly damaged: (damaged: readonly DamagedNight[]) => void;
  readonly run: { readonly events: RunEvents; readonly done: () => void };
  readonly load: LoadEvents;
  /** Called with the judged nightly run before it is saved. So a failed save cannot hide the verdict. */
  readonly judged?: (night: JudgedNight) => void;
  readonly again: (trials: readonly LoadTrial[]) => void;
}

/** Options of one night: a run, then a load. `maxRequests` limits both together, and `readOnly` omits the load. */
export interface RunNightOptions extends RunScope {
  readonly history: string;
  readonly target: Target | null;
  readonly patches: readonly Patch[];
  /**
   * Parameters of the load; `null` for no load. `engine` must not be `in turns`, because results of alternating engines
   * are not comparable.
   */
  readonly load: Omit<LoadParameters, "maxRequests" | "requirements"> | null;
  readonly engines: AvailableEngines;
  readonly agree: (outlook: LoadPreview) => boolean | Promise<boolean>;
  readonly keep: Retention;
  readonly rules: RegressionRules;
  /** File for an additional copy of the trend page, without links to reports; `null` for none. */
  readonly page: string | null;
  readonly view: NightEvents;
  readonly signal: AbortSignal;
}
