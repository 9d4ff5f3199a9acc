import { performance } from "node:perf_hooks";
import { join } from "node:path";

import { suspectsOf } from "../../history/gate/judge-night.ts";
import { emptyNight, loadOf, nightOf } from "../../history/night-of.ts";
import { loadKey, type LoadName, type Night } from "../../history/night.ts";
import { reportIn } from "../../history/store.ts";
import type { LoadTrial } from "../../load/conduct-trials.ts";
import { clausesHash } from "../../report/assemble/assemble.ts";
import { renderHtml } from "../../report/html/render.ts";
import type { ReportDocument, Report } from "../../report/report.ts";
import { evidencePieces, reportText } from "../../report/json.ts";
import type { Target } from "../../target/target.ts";
import type { KeptRun } from "../folder/kept-run.ts";
import { writeFiles } from "../folder/write-files.ts";
import { judge } from "../judge/judge.ts";
import type { NoLoad } from "../load/no-load.ts";
import { openLoad, type OpenedLoad } from "../load/send-load.ts";
import { documentOf } from "../folder/read-document.ts";
import type { Session } from "../judge/session.ts";
import { packageVersion } from "../version.ts";
import type { RunNightOptions } from "./night-options.ts";

/** A night that is about to begin, and those before it. */
export interface NightPlan extends RunNightOptions {
  readonly id: string;
  readonly before: readonly Night[];
}

/** A night as it was lived through, second runs included; not yet judged. */
export interface LivedNight {
  readonly night: Night;
  /** `null` where nothing could be judged. */
  readonly run: ReportDocument | null;
  /** `null` where none was sent. */
  readonly load: ReportDocument | null;
  /** Why no load was sent though it was wanted; `null` where it was, or nobody wanted any. */
  readonly noLoad: NoLoad | null;
  readonly interrupted: boolean;
}

/** Runs the suites, sends the load, and sends that load again which the history makes suspect. Reports are written as they come. */
export async function liveNight(plan: NightPlan): Promise<LivedNight> {
  const started = new Date();
  const session = await judgedByRun(plan);
  if (session.kind === "nothing to judge") return nothingLived(plan, started, session);
  const { report, evidence, interrupted } = session;
  keepRun(plan, { report, evidence });
  const run = documentOf(report, evidence);
  const first = { night: nightOf({ id: plan.id, run: run.report, load: null }), run, load: null, interrupted };
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
  const { target, patches, engines, isReadOnly, maxRequests, wording, agree, view, signal } = plan;
  const left = maxRequests === null ? Number.POSITIVE_INFINITY : Math.max(0, maxRequests - run.requests);
  return openLoad({
    ...wish,
    maxRequests: left,
    target,
    patches,
    engines,
    isReadOnly,
    wording,
    agree,
    usedAtMs: performance.now(),
    view: view.load,
    signal,
  });
}

async function withLoad(plan: NightPlan, run: ReportDocument, opened: OpenedLoad): Promise<LivedNight> {
  const { id, before, signal } = plan;
  const { document: load } = await opened.send(opened.trials, folderOf(plan, "load"));
  const first = nightOf({ id, run: run.report, load: load.report });
  const again = signal.aborted ? [] : suspectTrials(opened.trials, suspectsOf(before, first));
  const second = again.length === 0 ? [] : await secondRuns(plan, opened, again);
  return { night: { ...first, second }, run, load, noLoad: null, interrupted: signal.aborted };
}

async function secondRuns(plan: NightPlan, opened: OpenedLoad, trials: readonly LoadTrial[]): Promise<Night["second"]> {
  plan.view.again(trials);
  const { document } = await opened.send(trials, folderOf(plan, "second"));
  return (document.report.load?.runs ?? []).map(loadOf);
}

/** Those of the trials that have to be sent again. */
function suspectTrials(trials: readonly LoadTrial[], suspects: readonly LoadName[]): LoadTrial[] {
  const names = new Set(suspects.map(loadKey));
  return trials.filter(({ scenario, tier, engine }) => names.has(loadKey({ scenario: scenario.name, tier, engine })));
}

function keepRun(plan: NightPlan, { report, evidence }: KeptRun, others: Readonly<Record<string, string>> = {}): void {
  const files = { "report.json": reportText(report), "evidence.json": () => evidencePieces(evidence), ...others };
  const { problem } = writeFiles(folderOf(plan, "run"), files);
  if (problem !== null) plan.view.load.problem(problem);
}

async function judgedByRun(plan: NightPlan): Promise<Session> {
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
  session: Extract<Session, { kind: "nothing to judge" }>,
): LivedNight {
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
  join(reportIn(history, id), part);
