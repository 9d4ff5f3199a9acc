import {
  assertLoadParameters,
  defaultLoadParameters,
  type LoadParameters,
  type LoadPreview,
} from "../load/plan-load.ts";
import { existsSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { line, UsageError } from "../../base/line.ts";
import {
  judgeNight,
  trialsToConfirm,
  type NightJudgement,
  changesToReport,
} from "../../report/history/gate/judge-night.ts";
import {
  type DamagedNight,
  emptyNight,
  type Night,
  nightFromReports,
  type NightHistory,
  nightLoadOf,
  trialIdText,
} from "../../report/history/night.ts";
import {
  newNightId,
  pruneHistory,
  readHistory,
  removeReports,
  reportFolder,
  type Retention,
  trendPageFile,
  writeNight,
} from "./history-store.ts";
import { renderTrendPage } from "../../report/history/trend/page.ts";
import { renderHtml } from "../../report/html/render-html.ts";
import { writeFiles } from "../report-folder/write-files.ts";
import type { LoadTrial } from "../../load/trials.ts";
import type { Patch } from "../../reference/patch.ts";
import type { RegressionRules } from "../../report/compare/regression-rules.ts";
import type { ReportDocument } from "../../report/model/report.ts";
import { coverageSeedOfNight } from "../../run/plan/bounds.ts";
import type { RunScope } from "../../run/plan/selection.ts";
import type { TrialId } from "../../report/model/load-results.ts";
import type { Target } from "../../target/target.ts";
import { judgeTarget, type RunEvents } from "../judge/judge-target.ts";
import type { RedactedRun } from "../judge/run-and-report.ts";
import type { AvailableEngines } from "../load/available-engines.ts";
import { type LoadEvents, type PreparedLoad, prepareLoad, requestsLeft } from "../load/send-load.ts";
import type { NotSentReason } from "../load/not-sent-reason.ts";
import { runEndWithoutLoad } from "../load/save-load.ts";
import { documentOf, type SavedRun, saveRun } from "../report-folder/saved-report.ts";

interface NightPlan extends RunNightOptions {
  readonly id: string;
  readonly before: readonly Night[];
}

interface ExecutedNight {
  readonly night: Night;
  readonly run: ReportDocument | null;
  readonly unjudged: ReportDocument | null;
  readonly load: ReportDocument | null;
  readonly noLoad: NotSentReason | null;
  readonly interrupted: boolean;
}

interface JudgedNight {
  readonly night: Night;
  readonly judgement: NightJudgement;
  readonly executed: ExecutedNight;
  readonly nightCount: number;
}

async function executeNight(plan: NightPlan): Promise<ExecutedNight> {
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
  const opened = await prepareLoad({
    ...plan,
    ...plan.load,
    maxRequests: requestsLeft(plan.maxRequests, run.report),
    usedAtMs: performance.now(),
    events: plan.view.load,
  });
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

async function sendNightLoad(plan: NightPlan, run: ReportDocument, opened: PreparedLoad): Promise<ExecutedNight> {
  const { id, before, signal } = plan;
  const { document: load } = await opened.sendTrials(opened.trials, reportPartFolder(plan, "load"));
  const first = nightFromReports({ id, run: run.report, load: load.report });
  const again = signal.aborted ? [] : trialsWithIds(opened.trials, trialsToConfirm(before, first));
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

const historyNameOf = (target: Target | null): string => target?.name ?? "embedded reference server";

const reportPartFolder = ({ history, id }: NightPlan, part: "run" | "load" | "second"): string =>
  join(reportFolder(history, id), part);

export interface NightEvents {
  readonly damaged: (damaged: readonly DamagedNight[]) => void;
  readonly run: { readonly events: RunEvents; readonly done: () => void };
  readonly load: LoadEvents;
  /** Called with the judged nightly run before the run is saved, so that a failed save cannot hide the verdict. */
  readonly judged?: (night: JudgedNight) => void;
  readonly again: (trials: readonly LoadTrial[]) => void;
}

/**
 * Options of one nightly job: a run, then load. `maxRequests` limits the requests of the run, the load and the repeated
 * trials together. With `readOnly`, no load is sent.
 */
export interface RunNightOptions extends RunScope {
  readonly history: string;
  readonly target: Target | null;
  readonly patches: readonly Patch[];
  /**
   * Parameters of the load; `null` for no load. `engine` must not be `in turns`: results of one night and the next are
   * comparable only if the same engine sent the load.
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

export async function runNight(options: RunNightOptions): Promise<SavedNight | { readonly kind: "interrupted" }> {
  const { history, target, load, engines, view } = options;
  if (load !== null) assertLoadParameters({ ...defaultLoadParameters, ...load }, target, engines);
  const before = readHistory(history, Date.now());
  assertSameTarget(before.nights.at(-1)?.target.name ?? null, historyNameOf(target), history);
  view.damaged(before.damaged);
  const executed = await executeNight({ ...options, id: newNightId(new Date()), before: before.nights });
  if (!executed.interrupted) return saveNight(executed, before, options);
  removeReports(history, executed.night.id);
  return { kind: "interrupted" };
}

function assertSameTarget(before: string | null, now: string, history: string): void {
  if (before === null || before === now) return;
  throw new UsageError(
    line`${history} is the history of ${JSON.stringify(before)}, and this target is ${JSON.stringify(now)}: give each target a history of its own, or the name that it had.`,
  );
}

export interface SavedNight extends JudgedNight {
  readonly kind: "kept";
  readonly damaged: readonly DamagedNight[];
  readonly reports: string | null;
}

function saveNight(executed: ExecutedNight, before: NightHistory, options: RunNightOptions): SavedNight {
  const { history, keep, rules, view } = options;
  const judgement = judgeNight(before.nights, executed.night, rules);
  const night: Night = { ...executed.night, reported: changesToReport(judgement) };
  const judged = { night, judgement, executed, nightCount: before.nights.length + 1 };
  view.judged?.(judged);
  const { problem } = writeNight(history, night);
  if (problem !== null) view.load.problem(problem);
  pruneHistory(history, keep);
  writePages(executed, night, options);
  return {
    ...judged,
    kind: "kept",
    damaged: before.damaged,
    reports: hasReport(history, night) ? reportFolder(history, night.id) : null,
  };
}

function writePages(
  { run, unjudged, load }: ExecutedNight,
  { id }: Night,
  { history: folder, page, view }: RunNightOptions,
): void {
  const write = (file: string, text: string): void => {
    const { problem } = writeFiles(dirname(file), { [basename(file)]: text });
    if (problem !== null) view.load.problem(problem);
  };
  for (const [part, document] of Object.entries({ run: run ?? unjudged, load }))
    if (document !== null) write(join(reportFolder(folder, id), part, "report.html"), renderHtml(document));
  // Reads the history again, because another job may have saved a nightly run in the meantime.
  const history = readHistory(folder, Date.now());
  write(join(folder, trendPageFile), renderTrendPage(history, { hasReports: (night) => hasReport(folder, night) }));
  if (page !== null) write(page, renderTrendPage(history, { hasReports: () => false }));
}

const hasReport = (folder: string, { id }: Night): boolean => existsSync(join(reportFolder(folder, id), "run"));
