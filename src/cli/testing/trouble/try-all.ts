import { cpSync } from "node:fs";
import { join } from "node:path";
import { memoizeByValue } from "../../../base/memoize.ts";
import { seededRandom, shuffled } from "../../../base/numbers.ts";
import { findK6 } from "../../../load/engines/k6/binary.ts";
import { allFaults } from "../../../reference/catalogue.ts";
import { problemsOf, type QuietResults, quietResultsOf, type TrialProblem } from "./judge-trial.ts";
import { type CommandName, numberBetween, randomItem, type Trouble } from "./trouble.ts";
import { inFolder, runTrial } from "./trial.ts";
import type { Trial } from "./trial-environment.ts";
import { fileTroubles, processTroubles } from "./machine.ts";
import { networkTroubles, targetTroubles } from "./target-and-network.ts";

/** A trial and its results. */
export interface Tried {
  readonly trial: Trial;
  readonly trouble: Trouble;
  /** The exit code of the harness, or the signal that ended it. */
  readonly end: string;
  readonly seconds: number;
  readonly problems: readonly TrialProblem[];
}

interface TryAllOptions {
  readonly firstSeed: number;
  /** Number of trials; infinite if `seconds` limits them. */
  readonly trials: number;
  /** Time after which no trial begins, in seconds. If it is finite, commands that take more than a minute are not tried. */
  readonly seconds: number;
  /** The kinds of trouble to try in turn. The first seed decides their order. */
  readonly kinds: readonly Trouble[];
  /** Maximum number of concurrent trials. */
  readonly atOnce: number;
  readonly onTried: (tried: Tried) => void;
}

/**
 * Tries one kind of trouble for each seed, after each command has run once without trouble. A trial that was only too slow is repeated
 * alone at the end, because other trials may have kept the machine busy. Then only its second result is reported.
 */
export async function tryAll({ firstSeed, trials, seconds, kinds, atOnce, onTried }: TryAllOptions): Promise<void> {
  const until = performance.now() + seconds * 1000;
  const isTimed = Number.isFinite(seconds);
  const missing: readonly CommandName[] = [
    ...((await hasK6()) ? [] : (["load k6"] as const)),
    ...(isTimed ? slow : []),
  ];
  const order = shuffled(kinds, seededRandom(firstSeed));
  const late: Tried[] = [];
  let begun = 0;
  await inFolder(async (folder) => {
    const quiet = quietTrials(folder);
    const work = async (): Promise<void> => {
      while (begun < trials && performance.now() < until) {
        const at = begun++;
        const trouble = order[at % order.length] as Trouble;
        const drawn = drawCommand(firstSeed + at, trouble, missing);
        if (drawn === null) continue;
        const tried = await tryOne(drawn, await quiet(drawn.command));
        if (atOnce > 1 && isOnlySlow(tried)) late.push(tried);
        else onTried(tried);
      }
    };
    await Promise.all(Array.from({ length: atOnce }, work));
    for (const { trial, trouble } of late) {
      const drawn = drawCommand(trial.seed, trouble, missing);
      if (drawn !== null) onTried(await tryOne(drawn, await quiet(drawn.command)));
    }
  });
}

/**
 * Whether the only problem of a trial is that the command was too slow. A lock that remained does not count, because the command was
 * killed.
 */
const isOnlySlow = ({ end, problems }: Tried): boolean =>
  problems.some(({ kind }) => kind === "time" || (kind === "exit code" && end === "3")) &&
  problems.every(({ kind }) => ["time", "exit code", "left over"].includes(kind));

const slow: readonly CommandName[] = ["nightly with load"];

/** Draws the command of a trial. Returns `null` if this machine cannot run any command for this trouble. */
function drawCommand(seed: number, trouble: Trouble, missing: readonly CommandName[]): Drawn | null {
  const numbers = seededRandom(seed);
  const chosen = trouble.commands.filter((each) => !missing.includes(each));
  return chosen.length === 0 ? null : { seed, trouble, numbers, command: randomItem(numbers, chosen) };
}

const hasK6 = (): Promise<boolean> =>
  findK6().then(
    () => true,
    () => false,
  );

interface Quiet {
  readonly results: QuietResults;
  readonly seconds: number;
  /** A folder with a copy of the command's output. */
  readonly folder: string;
}

/** Returns a function that runs a command without trouble, and remembers the result for later calls. */
const quietTrials = (folder: string): ((command: CommandName) => Promise<Quiet>) =>
  memoizeByValue((command: CommandName) =>
    inFolder(async (root) => {
      const trial = quietTrial(command, null);
      const observed = await runTrial(trial, root);
      const results = quietResultsOf(observed);
      const [first] = problemsOf(trial, observed, results);
      if (first !== undefined) throw new Error(`Without any trouble, ${command} has a problem: ${first.text}`);
      const kept = join(folder, command.replaceAll(" ", "-"));
      cpSync(observed.first.folder, kept, { recursive: true });
      return { results, seconds: observed.first.ended.seconds, folder: kept };
    }),
  );

interface Drawn {
  readonly seed: number;
  readonly command: CommandName;
  readonly trouble: Trouble;
  readonly numbers: () => number;
}

async function tryOne({ seed, command, trouble, numbers }: Drawn, quiet: Quiet): Promise<Tried> {
  const trial: Trial = {
    seed,
    command,
    trouble,
    fault: numbers() < shareOfFaults ? randomItem(numbers, faultsFor(command)) : null,
    atSeconds: numberBetween(numbers, minAtSeconds, quiet.seconds),
    before: numbers() < 0.5 ? quiet.folder : null,
  };
  return await inFolder(async (root) => {
    const observed = await runTrial(trial, root);
    const { code, signal, seconds } = observed.first.ended;
    const results = await explainedResults(trial, quiet.results, problemsOf(trial, observed, quiet.results));
    const problems = problemsOf(trial, observed, results);
    return { trial, trouble, end: code === null ? String(signal) : String(code), seconds, problems };
  });
}

/**
 * Adds the clauses that the target's fault breaks even without trouble, which may be more than the fault declares. Runs the command once
 * more, but only if a clause seems wrongly broken.
 */
async function explainedResults(
  { command, fault }: Trial,
  sound: QuietResults,
  problems: readonly TrialProblem[],
): Promise<QuietResults> {
  if (fault === null || problems.every(({ kind }) => kind !== "false red")) return sound;
  const { red } = await inFolder(async (root) => quietResultsOf(await runTrial(quietTrial(command, fault), root)));
  return { ...sound, red: [...sound.red, ...red] };
}

const quietTrial = (command: CommandName, fault: string | null): Trial => {
  return { seed: 0, command, trouble: null, fault, atSeconds: 0, before: null };
};

/** Share of the trials in which the target has a fault. */
const shareOfFaults = 0.3;
const minAtSeconds = 0.2;

const faultsFor = (command: CommandName): readonly string[] => {
  const detectedBy = command.startsWith("load") ? "load" : "suites";
  return allFaults.filter((fault) => fault.detectedBy === detectedBy).map(({ name }) => name);
};

/** Every kind of trouble. To add a kind, add a row to one of these tables. */
export const troubles: readonly Trouble[] = [
  ...targetTroubles,
  ...networkTroubles,
  ...fileTroubles,
  ...processTroubles,
];

/** Formats trials as a Markdown table, with a row for each kind of trouble. */
export function tableOf(tried: readonly Tried[]): string {
  const rows = [...Map.groupBy(tried, ({ trouble }) => trouble)].map(([{ name, summary }, trials]) => {
    const ends = [...Map.groupBy(trials, ({ end }) => end)]
      .toSorted(([one], [other]) => one.localeCompare(other))
      .map(([end, those]) => `${end} (${those.length})`);
    const failed = trials.filter(({ problems }) => problems.length > 0).length;
    return `| ${name} | ${summary} | ${trials.length} | ${ends.join(", ")} | ${failed} |`;
  });
  return ["| trouble | what happens | trials | exit codes | wrong |", "|---|---|---|---|---|", ...rows].join("\n");
}
