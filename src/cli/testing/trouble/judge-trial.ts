import { tracesIn } from "../../../evidence/testing/traces.ts";
import { reportSchema, type Report } from "../../../report/model/report.ts";
import { findPatch } from "../../../reference/catalogue.ts";
import { tryParseJson } from "../../../base/json.ts";
import { loadFaultPlans } from "../../../selftest/load/plans.ts";
import { exitCodes } from "../../../base/process-end.ts";
import { incompleteFiles, leftOverFiles } from "./harness-process.ts";
import type { Observation, Observed } from "./trial.ts";
import type { Trial } from "./trial-environment.ts";

/** Kinds of problems. No trouble may cause any of them. */
export const problemKinds = ["exit code", "false red", "file", "key", "stack trace", "time", "left over"] as const;

export interface TrialProblem {
  readonly kind: (typeof problemKinds)[number];
  /** Describes the problem in a sentence with figures. */
  readonly text: string;
}

/** The results of the same command without any trouble. Trials with trouble are compared with them. */
export interface QuietResults {
  /** The checks that passed, by check and instance, each with its clause. */
  readonly passed: ReadonlyMap<string, string>;
  /** Clauses that failed although neither trouble nor a fault was present. */
  readonly red: readonly string[];
}

const problem = (kind: TrialProblem["kind"], ...texts: readonly string[]): TrialProblem[] =>
  texts.map((text) => ({ kind, text }));

/** Lists the problems of a trial: what the harness did wrong under the trouble. */
export function problemsOf(trial: Trial, observed: Observed, quiet: QuietResults): readonly TrialProblem[] {
  const { first, second, processes, keys } = observed;
  const { trouble } = trial;
  const codes = trouble?.codes ?? [0];
  const each = (observation: Observation, allowed: readonly number[]): TrialProblem[] => [
    ...problemsOfEnd(observation, { trial, allowed, quiet, hasCome: observed.hasCome }),
    ...problem("key", ...leaksOf(observation, keys)),
  ];
  return [
    ...each(first, codes),
    ...(second === null ? [] : each(second, secondCodesOf(trial, second))),
    ...problem("left over", ...processes.map((command) => `a process: ${command}`)),
  ];
}

/** Returns the correct exit codes of a second process. They include 0 if it began after the first had ended and unlocked the folder. */
function secondCodesOf({ trouble }: Trial, second: NonNullable<Observed["second"]>): readonly number[] {
  const codes = trouble?.secondCodes ?? trouble?.codes ?? [];
  const isAfter = newReports(second).some(
    ({ started }) => Date.parse(started) >= second.firstEndedMs - clockToleranceMs,
  );
  return isAfter ? [0, ...codes] : codes;
}

const clockToleranceMs = 1000;

interface Expected {
  readonly trial: Trial;
  readonly allowed: readonly number[];
  readonly quiet: QuietResults;
  readonly hasCome: boolean;
}

function problemsOfEnd(observation: Observation, expected: Expected): TrialProblem[] {
  const { ended, folder, files, before } = observation;
  const reports = newReports(observation);
  const traces = `${ended.out}\n${ended.err}`.match(/^\s+at .*[(:/].*$/m);
  return [
    ...(ended.isLate
      ? problem("time", `it had not ended after ${ended.seconds.toFixed(0)} s`)
      : problemsOfCode(observation, reports, expected)),
    ...problem("false red", ...falseReds(reports, expected)),
    ...problem("file", ...incompleteFiles(folder, files, before)),
    ...problem(
      "left over",
      ...(expected.trial.trouble?.leavesFiles === true ? [] : leftOverFiles(files)).map((name) => `a file: ${name}`),
    ),
    ...problem("stack trace", ...(traces === null ? [] : [traces[0].trim()])),
  ];
}

/** Returns the reports of runs and of loads that a process wrote. */
const newReports = ({ files, before }: Observation): readonly Report[] =>
  [...files]
    .filter(([name, text]) => /(^|\/)report\.json$/.test(name) && before.get(name) !== text)
    .flatMap(([, text]) => {
      const read = reportSchema.safeParse(tryParseJson(text));
      return read.success ? [read.data] : [];
    });

const redOutcomes: ReadonlySet<string> = new Set(["fail", "warning", "note"]);

/** Lists clauses that a report wrongly calls broken: neither the trial without trouble nor the target's fault explains them. */
function falseReds(reports: readonly Report[], { trial, quiet }: Expected): readonly string[] {
  const explained = new Set([...quiet.red, ...brokenBy(trial.fault)]);
  return reports.flatMap(({ findings }) =>
    findings
      .filter(({ outcome, clause }) => redOutcomes.has(outcome) && !explained.has(clause))
      .map(({ check, outcome, expected = "", actual = "" }) =>
        `${check} (${outcome}): expected ${expected}; got ${actual}`.slice(0, 400),
      ),
  );
}

function brokenBy(fault: string | null): readonly string[] {
  const patch = fault === null ? undefined : findPatch("fault", fault);
  if (patch === undefined) return [];
  const foundByLoad = loadFaultPlans.filter((plan) => plan.fault === fault).flatMap(({ finds }) => finds);
  return [...patch.breaks, ...patch.mayAlsoBreak, ...foundByLoad];
}

function problemsOfCode({ ended }: Observation, reports: readonly Report[], expected: Expected): TrialProblem[] {
  const { trial, allowed, quiet, hasCome } = expected;
  const { trouble } = trial;
  const { code, signal } = ended;
  const says = `${code === null ? String(signal) : `exit code ${code}`}: ${lastLine(ended.err, ended.out)}`;
  if (code === null)
    return signal !== null && trouble?.deaths?.includes(signal) === true ? [] : problem("exit code", says);
  // Whether the process must have written a report. After lost outputs, exit code 1 may come without one: a broken clause still decides the
  // code.
  const mustReport = code === 0 || (code === 1 && !allowed.includes(exitCodes.harnessFailed));
  if (mustReport && reports.length === 0) return problem("file", `${says}, although no report was written`);
  const hasFailed =
    reports.length === 0 ? /^nonconformant/m.test(ended.out) : reports.some(({ totals }) => totals.fail > 0);
  if (code === 1) return hasFailed && trial.fault !== null ? [] : problem("exit code", says);
  if (code === 0 && hasFailed) return problem("exit code", `${says}, although a clause is broken`);
  if (code === 0 && reports.some(({ verdict }) => verdict === "incomplete" || verdict === "unreachable"))
    return problem("exit code", `${says}, although the run was not complete`);
  if (allowed.includes(code)) return [];
  const mayComeTooLate = trouble?.act !== undefined;
  const isQuiet = code === 0 && (!hasCome || (mayComeTooLate && isAsQuiet(reports, trial, quiet)));
  return isQuiet ? [] : problem("exit code", says);
}

/** Whether the reports have every check of the trial without trouble. If so, the trouble came too late to have an effect. */
function isAsQuiet(reports: readonly Report[], { fault }: Trial, { passed }: QuietResults): boolean {
  const exercised = new Set(reports.flatMap(({ findings }) => findings.filter(isExercised).map(nameOf)));
  const broken = new Set(brokenBy(fault));
  return [...passed].every(([name, clause]) => exercised.has(name) || broken.has(clause));
}

type Finding = Report["findings"][number];
const isExercised = ({ outcome }: Finding): boolean => outcome !== "skipped" && outcome !== "error";
const nameOf = ({ check, instance = "" }: Finding): string => `${check} ${instance}`;

/** Returns the results of a trial without trouble, for comparison with later trials. */
export function quietResultsOf({ first }: Observed): QuietResults {
  const findings = newReports(first).flatMap((report) => report.findings);
  return {
    passed: new Map(
      findings.filter(({ outcome }) => outcome === "pass").map((finding) => [nameOf(finding), finding.clause]),
    ),
    red: findings.filter(({ outcome }) => redOutcomes.has(outcome)).map(({ clause }) => clause),
  };
}

const lastLine = (...texts: readonly string[]): string =>
  texts
    .flatMap((text) => text.trim().split("\n").slice(-1))
    .filter((line) => line !== "")
    .join(" | ")
    .slice(0, 400);

/**
 * Maximum size of a text that is searched for the keys in every encoding. Larger texts are searched only for the plain keys, which is
 * faster.
 */
const maxThoroughCharacters = 300_000;

/** Lists outputs and files that contain a key, or eight consecutive characters of one. */
function leaksOf({ ended, files }: Observation, keys: readonly string[]): readonly string[] {
  const texts = [["standard output", ended.out] as const, ["standard error", ended.err] as const, ...files];
  return texts.flatMap(([place, text]) =>
    keys
      .filter((key) => (text.length > maxThoroughCharacters ? text.includes(key) : tracesIn(text, key).length > 0))
      .map((key) => `${key.slice(0, 6)}… is in ${place}`),
  );
}
