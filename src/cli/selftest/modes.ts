import { openEmbeddedEnvironment } from "../../app/load/embedded-environment.ts";
import { globOf, formatCount } from "../../base/text.ts";
import { formatNumber } from "../../base/numbers.ts";
import { line } from "../../base/line.ts";
import { UsageError } from "../../base/usage-error.ts";
import { allVariants, suiteFaults } from "../../reference/catalogue.ts";
import {
  loadFaultPlans,
  complaintsOf as loadComplaintsOf,
  installedEngines,
  type LoadFaultResult,
  runLoadFaults,
  trialsOf,
  withoutFaults,
} from "../../selftest/load/plans.ts";
import { runMutants } from "../../selftest/mutants/run-mutants.ts";
import { type MutantGroup, type MutantSummary, summariseMutants } from "../../selftest/mutants/survivors.ts";
import { tryPatches } from "../../selftest/run-patches.ts";
import { type SeedTrial, trySeeds } from "../../selftest/seeds.ts";
import { complaintsOf, type PatchTrial } from "../../selftest/trial.ts";
import { runWire } from "../../selftest/wire/run-wire.ts";
import { summariseWire } from "../../selftest/wire/survivors.ts";
import { describeMutant } from "../../selftest/wire/mutant.ts";
import { exitCodes } from "../exit-codes.ts";
import { printLine } from "../print-line.ts";
import { wireRow, wireText } from "./wire-text.ts";

export interface SelftestOptions {
  readonly only: readonly string[];
  readonly json?: boolean;
  readonly verbose?: boolean;
  readonly full?: boolean;
  readonly load?: boolean;
  readonly seeds?: number;
  readonly mutants?: boolean;
  readonly sample?: number;
  readonly wire?: boolean;
  readonly count: number;
  readonly mutant?: number;
  readonly seed: number;
}

/** Runs the kind of self-test that the flags choose, and prints a row for each trial. Resolves to the exit code. */
export function selftest(options: SelftestOptions): Promise<number> {
  if (options.load === true) return testLoad(options);
  if (options.mutants === true) return testMutants(options);
  if (options.wire === true) return testWire(options);
  return options.seeds === undefined ? testPatches(options) : testSeeds(options, options.seeds);
}

const print = (text: string): void => void process.stdout.write(text);
const printJson = (value: unknown): void => print(`${JSON.stringify(value, null, 2)}\n`);
const exitCodeOf = (wrong: number): number => (wrong === 0 ? exitCodes.fine : exitCodes.broken);
const verdictOf = (wrong: number, good: string): string => (wrong === 0 ? good : `${wrong} wrong`);
const resultMark = (complaints: readonly string[]): string => (complaints.length === 0 ? "ok   " : "WRONG");
const indented = (texts: readonly string[]): string[] => texts.map((text) => `        ${text}`);

/**
 * Returns the items that match a pattern in `only`. Without patterns, returns all items.
 *
 * @throws {UsageError} if nothing matches
 */
function matching<T>(all: readonly T[], only: readonly string[], textsOf: (one: T) => readonly string[], what: string) {
  if (only.length === 0) return all;
  const globs = only.map(globOf);
  const found = all.filter((one) => globs.some((glob) => textsOf(one).some((text) => glob(text))));
  if (found.length === 0) throw new UsageError(line`--only ${only.join(" ")} matches no ${what}.`);
  return found;
}

/** Tests the suites: each fault must be caught by exactly the clauses that it breaks, and each legal variant must pass. */
async function testPatches({ only, full, json = false, verbose = false }: SelftestOptions): Promise<number> {
  const patches = matching(
    [...suiteFaults, ...allVariants],
    only,
    ({ name, breaks }) => [name, ...breaks],
    "fault, variant or clause",
  );
  const trials = await tryPatches(patches, full === true ? "full" : "short", (trial) => {
    if (!json) print(patchRow(trial, verbose));
  });
  const wrong = trials.filter((trial) => complaintsOf(trial).length > 0).length;
  const count = (kind: PatchTrial["kind"]): string =>
    formatCount(trials.filter((trial) => trial.kind === kind).length, kind);
  const good = "every fault is caught by exactly what it breaks, every variant passes";
  if (json) printJson(trials);
  else print(`\n${count("fault")}, ${count("variant")}: ${verdictOf(wrong, good)}\n`);
  return exitCodeOf(wrong);
}

function patchRow(trial: PatchTrial, isVerbose: boolean): string {
  const complaints = complaintsOf(trial);
  const red = trial.redChecks.join(", ");
  const result = trial.kind === "fault" ? `turns red: ${red}` : red === "" ? "passes" : `passes, with a note: ${red}`;
  return [
    `${resultMark(complaints)} ${trial.kind.padEnd(8)} ${trial.name.padEnd(40)} ${result}`,
    ...indented([...complaints, ...(isVerbose ? trial.said : [])]),
    "",
  ].join("\n");
}

/** Tests the load scenarios: a scenario must find each fault that only load can show, and the server without a fault must pass. */
async function testLoad({ only, json = false }: SelftestOptions): Promise<number> {
  const plans = matching(
    loadFaultPlans,
    only,
    ({ fault, scenario, finds }) => [fault, scenario, ...finds],
    "fault that load can show, scenario or clause",
  );
  const engines = await installedEngines();
  if (!engines.includes("k6")) printLine(line`k6 is not installed: only autocannon sends load.`);
  const withFaults = trialsOf(plans, engines);
  const trials = [...withFaults, ...withoutFaults(withFaults)];
  const results = await runLoadFaults(trials, openEmbeddedEnvironment, (result) => {
    if (!json) print(loadRow(result));
  });
  const wrong = results.filter((result) => loadComplaintsOf(result).length > 0).length;
  const good = "every fault is found by what it breaks, and nothing without a fault";
  if (json) printJson(results.map(loadJson));
  else
    print(
      `\n${withFaults.length} loads with a fault, ${trials.length - withFaults.length} without: ${verdictOf(wrong, good)}\n`,
    );
  return exitCodeOf(wrong);
}

const loadJson = ({ fault, trial: { scenario, tier, engine }, finds, found, problem, seconds }: LoadFaultResult) => ({
  fault,
  scenario: scenario.name,
  tier,
  engine,
  finds,
  found: found.map(({ claim }) => claim),
  problem,
  seconds,
});

function loadRow(result: LoadFaultResult): string {
  const { fault, trial, found, seconds } = result;
  const complaints = loadComplaintsOf(result);
  const finds = found.length === 0 ? "finds nothing" : `finds ${found.map(({ claim }) => claim).join(", ")}`;
  const row = `${resultMark(complaints)} ${(fault ?? "no fault").padEnd(30)} ${trial.scenario.name.padEnd(22)} ${trial.engine.padEnd(10)} ${seconds.toFixed(1).padStart(5)} s  ${finds}`;
  return [row, ...indented(complaints), ""].join("\n");
}

/** Tests legal servers that combine many variants, which a seed draws. If one fails, prints the fewest variants that still fail. */
async function testSeeds({ seed, full, json = false }: SelftestOptions, seeds: number): Promise<number> {
  const drawn = Array.from({ length: seeds }, (_, index) => seed + index);
  const trials = await trySeeds(drawn, full === true ? "full" : "short", (trial) => {
    if (!json) print(seedRow(trial));
  });
  const wrong = trials.filter(({ complaints }) => complaints.length > 0).length;
  if (json) printJson(trials);
  else print(`\n${formatCount(trials.length, "legal server")}: ${verdictOf(wrong, "none turns anything red")}\n`);
  return exitCodeOf(wrong);
}

function seedRow({ seed, variants, complaints, fewest }: SeedTrial): string {
  const head = `${resultMark(complaints)} seed ${seed}: ${formatCount(variants.length, "variant")}`;
  if (complaints.length === 0) return `${head}\n`;
  const command = `conformance run ${fewest.map((name) => `--variant ${name}`).join(" ")}`;
  return [head, ...indented([...complaints, `the fewest that show it: ${fewest.join(", ")}`, command]), ""].join("\n");
}

/**
 * Tests mutants: changes the evidence of correct runs in one place at a time. Prints illegal changes that no clause noticed, and legal
 * changes that a clause reported.
 */
async function testMutants({ json, verbose = false, sample: given, seed }: SelftestOptions): Promise<number> {
  const sample = given ?? null;
  const startedMs = performance.now();
  const all = summariseMutants(await runMutants({ sample, seed }));
  const summary = sample === null ? all : { ...all, needless: [] };
  const seconds = (performance.now() - startedMs) / 1000;
  if (json === true) printJson({ ...summary, seed, seconds });
  else print(mutantsText(summary, seconds, verbose));
  return exitCodeOf(summary.unexplained + summary.needless.length);
}

function mutantsText(summary: MutantSummary, seconds: number, isVerbose: boolean): string {
  const { wrong, legal, fates, unexplained, sideEffects, needless } = summary;
  const number = formatNumber;
  return [
    ...summary.groups.filter(({ reason }) => isVerbose || reason === null).flatMap(mutantLines),
    "",
    `${formatCount(wrong + legal, "mutant")} in ${seconds.toFixed(1)} s: ${number(wrong)} wrong, ${number(legal)} legal`,
    `  wrong   ${number(fates.killed)} found by their own clause, ${number(fates["killed elsewhere"])} only by another, ${number(fates.survived)} by none`,
    `  legal   ${number(fates.unchanged)} changed no outcome, ${number(fates.changed)} did`,
    `  of ${number(sideEffects.judged)} judged by every check, ${number(sideEffects.alsoRed)} also turned red a clause that does not cover them`,
    ...(isVerbose ? Object.entries(sideEffects.clauses).map(([name, count]) => `          ${name}: ${count}`) : []),
    ...(fates.crashed === 0 ? [] : [`  ${formatCount(fates.crashed, "mutant")} crashed a check`]),
    ...needless.map((row) => `not needed in docs/trust.md, because nothing survives this way: ${row}`),
    unexplained === 0
      ? "every mutant as expected, or known with its reason (docs/trust.md)"
      : `${number(unexplained)} without a reason in docs/trust.md`,
    "",
  ].join("\n");
}

const mutantLines = ({ fate, operator, place, subject, count, example, reason }: MutantGroup): string[] => [
  `${reason === null ? "WRONG" : "known"} ${fate}: ${operator}, ${subject} of ${place} (${count}; ${example.source}, ${example.id})`,
  ...indented(reason === null ? example.said : [reason]),
];

/**
 * Tests servers that misbehave under a condition that a seed draws. Prints illegal servers that no clause noticed, and legal ones that a
 * clause reported.
 */
async function testWire({ json = false, verbose = false, count, mutant, seed }: SelftestOptions): Promise<number> {
  const numbers = mutant === undefined ? Array.from({ length: count }, (_, index) => index + 1) : [mutant];
  const startedMs = performance.now();
  const trials = await runWire({ seed, numbers }, (trial) => {
    if (!json) print(wireRow(trial, seed, verbose || mutant !== undefined));
  });
  const summary = summariseWire(trials);
  const seconds = (performance.now() - startedMs) / 1000;
  if (json)
    printJson({
      ...summary,
      seed,
      seconds,
      trials: trials.map(({ mutant: { number, kind, conditionClass, isDimensional, ...each }, ...result }) => ({
        number,
        kind,
        description: describeMutant({ number, kind, conditionClass, isDimensional, ...each }),
        condition: conditionClass,
        operation: each.mutation.class,
        ...result,
      })),
    });
  else print(wireText(summary, seconds));
  return exitCodeOf(summary.countByStatus.flagged + summary.countByStatus.broken);
}
