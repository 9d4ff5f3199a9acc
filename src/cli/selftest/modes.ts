import { openEmbeddedEnvironment } from "../../app/load/trial-environment.ts";
import { globMatcher, formatCount } from "../../base/text.ts";
import { formatNumber } from "../../base/numbers.ts";
import { line, UsageError } from "../../base/line.ts";
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
import { complaintsOf, type PatchTrial, tryGroups } from "../../selftest/trial.ts";
import { type SeedTrial, trySeeds } from "../../selftest/seeds.ts";
import { runWire, type WireTrial } from "../../selftest/wire/trial.ts";
import { describeMutant } from "../../selftest/wire/mutant.ts";
import {
  type ClassRow,
  isSurvivor,
  summariseWire,
  survivalReason,
  type WireSummary,
} from "../../selftest/wire/survivors.ts";
import { printLine } from "../print-line.ts";
import { type FlagsOf, readCount, repeatable } from "../options.ts";

const counted = (flag: string, help: string) => ({ help, parse: (text: string): number => readCount(text, flag) });

export const selftestOptions = {
  "--only <pattern>": repeatable("only patches whose name or clause matches the glob"),
  "--full":
    "use up the limits of tiers for every patch, and of every tier where it concerns limits (otherwise of free and enterprise, there alone)",
  "--load":
    "instead: send load to each fault that only load can show, with every installed engine, and to the server without one",
  "--seeds <count>": counted(
    "--seeds",
    "instead: servers of ten and more legal behaviours at once, drawn by this many seeds; none may turn red",
  ),
  "--mutants":
    "instead: change the evidence of clean runs one step at a time; a clause must notice every wrong change, and none a legal one",
  "--sample <count>": counted("--sample", "only this many mutants, drawn by the seed"),
  "--wire":
    "instead: servers that behave otherwise under a condition, drawn by the seed, behind a proxy; a clause must notice every wrong one, and none a legal one",
  "--count <count>": { ...counted("--count", "with --wire: this many such servers"), default: 40 },
  "--mutant <number>": counted("--mutant", "with --wire: only the server with this number, with all that it shows"),
  "--seed <number>": {
    ...counted("--seed", "the first of the seeds, or what draws the sample or the servers"),
    default: 1,
  },
  "--verbose": "findings of each red check; of mutants, also those that are known to survive",
  "--json": "as JSON",
} as const;

export type SelftestFlags = FlagsOf<typeof selftestOptions>;

interface SelftestResult {
  readonly wrong: number;
  readonly json: unknown;
  readonly text: string;
}

export function selftest(options: SelftestFlags): Promise<SelftestResult> {
  if (options.load === true) return testLoad(options);
  if (options.mutants === true) return testMutants(options);
  if (options.wire === true) return testWire(options);
  return options.seeds === undefined ? testPatches(options) : testSeeds(options, options.seeds);
}

const print = (text: string): void => void process.stdout.write(text);
export const printJson = (value: unknown): void => print(`${JSON.stringify(value, null, 2)}\n`);
const verdictOf = (wrong: number, good: string): string => (wrong === 0 ? good : `${wrong} wrong`);
const resultMark = (complaints: readonly string[]): string => (complaints.length === 0 ? "ok   " : "WRONG");
const indented = (texts: readonly string[]): string[] => texts.map((text) => `        ${text}`);

/** Returns the items that match a pattern of `only`; all if `only` is empty. Throws if none match, as after a typo. */
function matching<T>(all: readonly T[], only: readonly string[], textsOf: (one: T) => readonly string[], what: string) {
  if (only.length === 0) return all;
  const globs = only.map(globMatcher);
  const found = all.filter((one) => globs.some((glob) => textsOf(one).some((text) => glob(text))));
  if (found.length === 0) throw new UsageError(line`--only ${only.join(" ")} matches no ${what}.`);
  return found;
}

/**
 * Runs the suites against a server with each fault or variant. A clause is red if one of its
 * checks fails, warns or adds a note. Clauses in `breaks` must be red, those in `mayAlsoBreak` may be, and no others.
 */
async function testPatches({ only, full, json = false, verbose = false }: SelftestFlags): Promise<SelftestResult> {
  const patches = matching(
    [...suiteFaults, ...allVariants],
    only,
    ({ name, breaks }) => [name, ...breaks],
    "fault, variant or clause",
  );
  const onTrial = (trial: PatchTrial): void => {
    if (!json) print(patchRow(trial, verbose));
  };
  const groups = patches.map((patch) => [patch]);
  const trials = await tryGroups(groups, full === true ? "full" : "short", { onTrial });
  const wrong = trials.filter((trial) => complaintsOf(trial).length > 0).length;
  const count = (kind: PatchTrial["kind"]): string =>
    formatCount(trials.filter((trial) => trial.kind === kind).length, kind);
  const good = "every fault is caught by exactly what it breaks, every variant passes";
  return { wrong, json: trials, text: `\n${count("fault")}, ${count("variant")}: ${verdictOf(wrong, good)}\n` };
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

/** Sends load to servers with and without a fault. A load must detect the server's fault, and nothing else. */
async function testLoad({ only, json = false }: SelftestFlags): Promise<SelftestResult> {
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
  const counts = `${withFaults.length} loads with a fault, ${trials.length - withFaults.length} without`;
  return { wrong, json: results.map(loadJson), text: `\n${counts}: ${verdictOf(wrong, good)}\n` };
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

/**
 * For each seed, tests a server with random variants, all of them legal. If a check fails nonetheless, prints a small
 * set of variants that makes it fail.
 */
async function testSeeds({ seed, full, json = false }: SelftestFlags, seeds: number): Promise<SelftestResult> {
  const drawn = Array.from({ length: seeds }, (_, index) => seed + index);
  const trials = await trySeeds(drawn, full === true ? "full" : "short", (trial) => {
    if (!json) print(seedRow(trial));
  });
  const wrong = trials.filter(({ complaints }) => complaints.length > 0).length;
  const servers = formatCount(trials.length, "legal server");
  return { wrong, json: trials, text: `\n${servers}: ${verdictOf(wrong, "none turns anything red")}\n` };
}

function seedRow({ seed, variants, complaints, fewest }: SeedTrial): string {
  const head = `${resultMark(complaints)} seed ${seed}: ${formatCount(variants.length, "variant")}`;
  if (complaints.length === 0) return `${head}\n`;
  const command = `conformance run ${fewest.map((name) => `--variant ${name}`).join(" ")}`;
  return [head, ...indented([...complaints, `the fewest that show it: ${fewest.join(", ")}`, command]), ""].join("\n");
}

/**
 * Mutates the evidence of correct runs. Checks must detect illegal mutations and accept legal ones. docs/trust.md lists
 * the exceptions, each with its reason.
 */
async function testMutants({ verbose = false, sample: given, seed }: SelftestFlags): Promise<SelftestResult> {
  const sample = given ?? null;
  const startedMs = performance.now();
  const all = summariseMutants(await runMutants({ sample, seed }));
  const summary = sample === null ? all : { ...all, needless: [] };
  const seconds = (performance.now() - startedMs) / 1000;
  return {
    wrong: summary.unexplained + summary.needless.length,
    json: { ...summary, seed, seconds },
    text: mutantsText(summary, seconds, verbose),
  };
}

function mutantsText(summary: MutantSummary, seconds: number, isVerbose: boolean): string {
  const { wrong, legal, fates, unexplained, sideEffects, needless } = summary;
  return [
    ...summary.groups.filter(({ reason }) => isVerbose || reason === null).flatMap(mutantLines),
    "",
    `${formatCount(wrong + legal, "mutant")} in ${seconds.toFixed(1)} s: ${formatNumber(wrong)} wrong, ${formatNumber(legal)} legal`,
    `  wrong   ${formatNumber(fates.killed)} found by their own clause, ${formatNumber(fates["killed elsewhere"])} only by another, ${formatNumber(fates.survived)} by none`,
    `  legal   ${formatNumber(fates.unchanged)} changed no outcome, ${formatNumber(fates.changed)} did`,
    `  of ${formatNumber(sideEffects.judged)} judged by every check, ${formatNumber(sideEffects.alsoRed)} also turned red a clause that does not cover them`,
    ...(isVerbose ? Object.entries(sideEffects.clauses).map(([name, count]) => `          ${name}: ${count}`) : []),
    ...(fates.crashed === 0 ? [] : [`  ${formatCount(fates.crashed, "mutant")} crashed a check`]),
    ...needless.map((row) => `not needed in docs/trust.md, because nothing survives this way: ${row}`),
    unexplained === 0
      ? "every mutant as expected, or known with its reason (docs/trust.md)"
      : `${formatNumber(unexplained)} without a reason in docs/trust.md`,
    "",
  ].join("\n");
}

const mutantLines = ({ fate, operator, place, subject, count, example, reason }: MutantGroup): string[] => [
  `${reason === null ? "WRONG" : "known"} ${fate}: ${operator}, ${subject} of ${place} (${count}; ${example.source}, ${example.id})`,
  ...indented(reason === null ? example.said : [reason]),
];

/**
 * Runs the suites through a proxy that changes some messages of the reference server. Checks must pass on legal
 * changes. An illegal change that no check notices is listed, and does not fail the selftest.
 */
async function testWire({
  json = false,
  verbose = false,
  count,
  mutant,
  seed,
}: SelftestFlags): Promise<SelftestResult> {
  const numbers = mutant === undefined ? Array.from({ length: count }, (_, index) => index + 1) : [mutant];
  const startedMs = performance.now();
  const trials = await runWire({ seed, numbers }, (trial) => {
    if (!json) print(wireRow(trial, seed, verbose || mutant !== undefined));
  });
  const summary = summariseWire(trials);
  const seconds = (performance.now() - startedMs) / 1000;
  const rows = trials.map(({ mutant: each, ...result }) => ({
    number: each.number,
    kind: each.kind,
    description: describeMutant(each),
    condition: each.conditionClass,
    operation: each.mutation.class,
    ...result,
  }));
  return {
    wrong: summary.countByStatus.flagged + summary.countByStatus.broken,
    json: { ...summary, seed, seconds, trials: rows },
    text: wireText(summary, seconds),
  };
}

/** Maximum number of lines shown about failed checks or errors of a mutant, without `--verbose` and `--mutant`. */
const maxReported = 3;

function wireRow(trial: WireTrial, seed: number, isVerbose: boolean): string {
  const { mutant, status, said, changed, ms } = trial;
  const isExpected = status === "killed" || status === "passed";
  if (isExpected && !isVerbose) return "";
  const reason = isSurvivor(trial) ? survivalReason(trial) : null;
  return [
    `${status.padEnd(11)} ${describeMutant(mutant)}`,
    `            ${formatCount(changed, "answer")} changed, ${(ms / 1000).toFixed(1)} s: conformance selftest --wire --seed ${seed} --mutant ${mutant.number}`,
    ...(reason === null ? [] : [`            known: ${reason}`]),
    ...said.slice(0, isVerbose ? said.length : maxReported).map((text) => `            ${text}`),
    "",
  ].join("\n");
}

const percent = (value: number | null): string => (value === null ? "none drawn" : `${value.toFixed(1)} %`);

function wireText(summary: WireSummary, seconds: number): string {
  const { countByStatus, byCondition, byMutation, killedPercent, killedPercentOfExtraProperties, unexplained } =
    summary;
  const wrong = countByStatus.killed + countByStatus.survived + countByStatus["not visited"];
  const legal = countByStatus.passed + countByStatus.flagged;
  return [
    "",
    ...table("mutation", byMutation),
    "",
    ...table("condition", byCondition),
    "",
    `${formatCount(wrong + legal + countByStatus.broken, "mutant")} in ${seconds.toFixed(0)} s: ${formatNumber(wrong)} wrong, ${formatNumber(legal)} legal`,
    `  wrong   ${formatNumber(countByStatus.killed)} killed (${percent(killedPercent)}; of conditions that are no dimension ${percent(killedPercentOfExtraProperties)}), ${formatNumber(countByStatus.survived)} visited and not noticed, ${formatNumber(countByStatus["not visited"])} not visited`,
    `  legal   ${formatNumber(countByStatus.passed)} passed, ${formatNumber(countByStatus.flagged)} turned a clause red`,
    ...(countByStatus.broken === 0 ? [] : [`  ${formatCount(countByStatus.broken, "mutant")} could not be tried`]),
    unexplained === 0
      ? "every survivor is known with its reason (docs/trust.md)"
      : `${formatNumber(unexplained)} survivors without a reason in docs/trust.md`,
    "",
  ].join("\n");
}

function table(head: string, rows: readonly ClassRow[]): string[] {
  const width = Math.max(head.length, ...rows.map(({ name }) => name.length));
  const cells = (name: string, ...numbers: readonly (string | number)[]): string =>
    name.padEnd(width) + numbers.map((each) => String(each).padStart(13)).join("");
  return [
    cells(head, "killed", "not noticed", "not visited"),
    ...rows.map(({ name, killed, survived, notVisited }) => cells(name, killed, survived, notVisited)),
  ];
}
