import { performance } from "node:perf_hooks";
import { join } from "node:path";

import { suspectsOf } from "../../history/gate/judge-night.ts";
import { emptyNight, loadOf, nightOf } from "../../history/night-of.ts";
import type { Night } from "../../history/night.ts";
import { reportIn } from "../../history/store.ts";
import { clausesHash } from "../../report/assemble/run-report.ts";
import type { ReportDocument } from "../../report/document.ts";
import { evidenceText, reportText } from "../../report/json.ts";
import { startProgress } from "../../report/progress.ts";
import type { Report } from "../../report/report.ts";
import type { Patch } from "../../reference/patch.ts";
import type { RunScope } from "../../run/selection.ts";
import type { Trial } from "../../load/conduct-trials.ts";
import { documentOf } from "../session/read-document.ts";
import type { Session } from "../session/session.ts";
import { judge } from "../judge/judge.ts";
import { packageVersion } from "../session/version.ts";
import { UsageProblem } from "../../target/problem.ts";
import type { Target } from "../../target/target.ts";
import type { EnginesHere } from "../load/engines.ts";
import { lookForLoad } from "../load/first-look.ts";
import { type OpenGround, openGround } from "../load/open-ground.ts";
import { writeFiles } from "../folder/write-files.ts";
import { type LoadChoice, suspectTrials, trialsOf } from "./plan-night.ts";
import { restedGround, sendLoad, usedTarget } from "./send-load.ts";

export interface NightPlan extends RunScope {
  readonly id: string;
  readonly history: readonly Night[];
  readonly folder: string;
  /** `null`: the embedded server. */
  readonly target: Target | null;
  readonly patches: readonly Patch[];
  /** `null`: no load. */
  readonly choice: LoadChoice | null;
  readonly engines: EnginesHere;
  readonly isQuiet: boolean;
  readonly signal: AbortSignal;
}

/** A night as it was lived through, second runs included; not yet judged. */
export interface LivedNight {
  readonly night: Night;
  /** `null` where nothing could be judged. */
  readonly run: ReportDocument | null;
  /** `null` where none was sent. */
  readonly load: ReportDocument | null;
  /** Why no load was sent though it was wanted. */
  readonly loadProblem: string | null;
  readonly interrupted: boolean;
}

/** Runs the suites, sends the load, and sends that load again which the history makes suspect. Reports are written as they come. */
export async function liveNight(plan: NightPlan): Promise<LivedNight> {
  const started = new Date();
  const session = await judgedByRun(plan);
  if (session.kind === "nothing to judge") return nothingLived(plan, started, session);
  const { report, evidence, interrupted } = session;
  writeReport(plan, "run", { "report.json": reportText(report), "evidence.json": evidenceText(evidence) });
  const run = documentOf(report, evidence);
  const first = { night: nightOf({ id: plan.id, run: run.report, load: null }), run, load: null, interrupted };
  if (plan.choice === null || interrupted) return { ...first, loadProblem: null };
  const trials = await trialsAfterRun(plan, plan.choice);
  if (typeof trials === "string") return { ...first, loadProblem: trials, interrupted: plan.signal.aborted };
  return await withLoad(plan, run, trials);
}

interface KnownTrials {
  readonly trials: readonly Trial[];
  readonly target: Target | null;
}

async function withLoad(plan: NightPlan, run: ReportDocument, { trials, target }: KnownTrials): Promise<LivedNight> {
  const { id, history, engines, isQuiet, signal } = plan;
  const ground = openGround(target, plan.patches);
  const rested = target === null ? ground : restedGround(ground, performance.now());
  const parts = { ground: rested, engines, target, isQuiet, signal };
  try {
    const sent = await sendLoad({ ...parts, trials, folder: folderOf(plan, "load") });
    const first = nightOf({ id, run: run.report, load: sent.report });
    const again = signal.aborted ? [] : suspectTrials(trials, suspectsOf(history, first));
    const load: ReportDocument = { report: sent.report, evidence: null, load: sent.evidence };
    const second = again.length === 0 ? [] : await secondRuns(plan, { ...parts, trials: again });
    return { night: { ...first, second }, run, load, loadProblem: null, interrupted: signal.aborted };
  } finally {
    await ground.close();
  }
}

type SecondParts = Omit<Parameters<typeof sendLoad>[0], "folder"> & {
  readonly ground: OpenGround | Parameters<typeof sendLoad>[0]["ground"];
};

async function secondRuns(plan: NightPlan, parts: SecondParts): Promise<Night["second"]> {
  const names = parts.trials.map(({ scenario, tier }) => `${scenario.name} (${tier})`).join(", ");
  if (!plan.isQuiet) process.stderr.write(`Once more, to confirm what looks worse than before: ${names}\n`);
  const { report } = await sendLoad({ ...parts, folder: folderOf(plan, "second") });
  return (report.load?.runs ?? []).map(loadOf);
}

/** The load of the night, now that the run has shown what the target is; or why there is none. */
async function trialsAfterRun(plan: NightPlan, choice: LoadChoice): Promise<KnownTrials | string> {
  const { target, engines, signal } = plan;
  try {
    if (target === null) return { trials: trialsOf(choice, null, engines), target };
    const looked = await lookForLoad(target, signal);
    if (looked.kind === "nothing to load") return looked.sentence;
    const used = usedTarget(looked.target);
    return { trials: trialsOf(choice, used, engines), target: used };
  } catch (error) {
    // What the run has found is not lost with the load.
    if (error instanceof UsageProblem) return error.message;
    throw error;
  }
}

async function judgedByRun(plan: NightPlan): Promise<Session> {
  const progress = startProgress(process.stderr, { quiet: plan.isQuiet });
  try {
    return await judge({
      ...plan,
      events: {
        onStart: ({ name, baseUrl }) => progress.started(packageVersion(), name, baseUrl),
        onPlan: progress.planned,
        onProbe: progress.probeDone,
        onWait: progress.waiting,
      },
    });
  } finally {
    progress.done();
  }
}

function nothingLived(
  { id, target }: NightPlan,
  started: Date,
  { sentence, interrupted }: Extract<Session, { kind: "nothing to judge" }>,
): LivedNight {
  const times = { id, started: started.toISOString(), finished: new Date().toISOString() };
  const night = emptyNight(times, {
    suite: { version: packageVersion(), clauses: clausesHash() },
    target: { name: nameOf(target), baseUrl: target?.baseUrl ?? "", fingerprint: "" },
    sentence,
  });
  return { night, run: null, load: null, loadProblem: null, interrupted };
}

/** The name of a history's target. */
export const nameOf = (target: Target | null): string => target?.name ?? "embedded reference server";

const folderOf = ({ folder, id }: NightPlan, part: "run" | "load" | "second"): string =>
  join(reportIn(folder, id), part);

function writeReport(plan: NightPlan, part: "run", files: Readonly<Record<string, string>>): void {
  const { problem } = writeFiles(folderOf(plan, part), files);
  if (problem !== null) process.stderr.write(`${problem}\n`);
}

/** Every finding of a night, of run and load. */
export const findingsOf = ({ run, load }: LivedNight): Report["findings"] => [
  ...(run?.report.findings ?? []),
  ...(load?.report.findings ?? []),
];
