// `npm test` and `npm run check`: runs all checks, with a sample of the test cases. `--full` tries all test cases.
// `--trials` runs only the tests in `sampledTestFiles`, with a larger sample.
import { rmSync } from "node:fs";
import { join } from "node:path";
import { stripVTControlCharacters } from "node:util";
import { capture, endAll } from "./process.mjs";
import { prepareChromium } from "./chromium.mjs";
import { prepareK6 } from "./k6.mjs";
import { hostPython, preparePythonClients } from "./python-clients.mjs";
import { failedTests, faultyNames, skippedTests } from "./test-names.mjs";
import { build, compileCache, install, reportSetupError, root, SetupError, toolEnvironment } from "./setup.mjs";

const testResults = join(".cache", "vitest.json");

const usage = `npm test [-- --full | --trials]
Runs all checks, with a sample of the test cases. CONTRIBUTING.md lists commands for single checks.
  --full    tries all test cases
  --trials  runs only the tests with many cases, with a larger sample`;

const flags = process.argv.slice(2);
const unknownFlag = flags.find((each) => !["--full", "--trials", "--help"].includes(each));
const isFull = flags.includes("--full");
const isTrials = flags.includes("--trials");
const extent = isTrials ? "trials" : isFull ? "full" : null;
const isCi = process.env.CI !== undefined;
/** Whether a later CI job runs `sampledTestFiles` with `--trials`. If so, this run skips these files. */
const areTrialsToFollow = process.env.CONFORMANCE_TRIALS_FOLLOW === "1" && extent === null;

/** Steps that prepare optional tools for the tests. Each `summary` selects the output to print after a success. */
const preparations = [
  { name: "Python clients", run: preparationOf(preparePythonClients, "Python clients"), summary: wholeOutput },
  { name: "Python", run: preparationOf(preparePython, "a server and a receiver in Python"), summary: wholeOutput },
  {
    name: "OpenSSL",
    run: preparationOf(prepareOpenssl, "certificates and signatures by OpenSSL"),
    summary: wholeOutput,
  },
  { name: "k6", run: preparationOf(prepareK6, "k6"), summary: wholeOutput },
  { name: "Chromium", run: preparationOf(prepareChromium, "pages in a browser"), summary: wholeOutput },
];
const builds = [
  { name: "build", run: runBuild },
  { name: "first load", run: firstLoad },
];
/** Checks of the source files. They start before the tests, and run one at a time. */
const sourceChecks = [
  { name: "types", run: tool("tsc", "--noEmit", "-p", "tsconfig.json") },
  { name: "k6 types", run: tool("tsc", "--noEmit", "-p", join("k6", "tsconfig.json")) },
  { name: "import rules", run: tool("oxlint", "-c", "tools/import-rules.oxlintrc.json", "src", "bench") },
  { name: "words", run: () => capture(process.execPath, [join("tools", "words.mjs")], { cwd: root }) },
  { name: "unused code", run: tool("knip", "--no-progress") },
  { name: "format", run: tool("oxfmt", "--check") },
  // Runs last, because the linter uses all cores, which slows down the tests that run at the same time.
  { name: "lint", run: tool("oxlint", "--type-aware") },
];
const tests = [
  { name: "tests", run: runTests, summary: (output) => [testSummary(output), leftToTrialsText()].join("") },
  { name: "names of tests", run: checkTestNames },
  { name: "tests left out", run: checkSkippedTests, summary: wholeOutput },
];

function tool(name, ...args) {
  const options = { cwd: root, env: toolEnvironment(), hasLowPriority: true };
  return () => capture(join(root, "node_modules", ".bin", name), args, options);
}

function wholeOutput(output) {
  return output;
}

/** Test files and folders with many cases. By default, a sample runs; `--trials` runs a larger one, `--full` all. */
const sampledTestFiles = [
  "src/app/judge/run-and-report.test.ts",
  "src/cli/hostile.test.ts",
  "src/load/judge/broken.test.ts",
  "src/reference/openapi.test.ts",
  "src/run/hostile.test.ts",
  "src/selftest/phases.test.ts",
  "src/selftest/load/plans.test.ts",
  "src/selftest/selftest.test.ts",
  "src/selftest/manual-mutations/manual-mutations.test.ts",
  "src/selftest/third-party",
];

async function runTests() {
  const result = await startVitest();
  if (result.code === 0) return result;
  const failed = failedTests(join(root, testResults));
  return { ...result, output: [`${failed.length} failed:`, ...failed, "", result.output].join("\n") };
}

function startVitest() {
  const files = isTrials ? sampledTestFiles.map((path) => join(...path.split("/"))) : [];
  const env = {
    ...(extent === null ? {} : { CONFORMANCE_TESTS: extent }),
    ...(areTrialsToFollow ? { CONFORMANCE_LEFT_OUT: sampledTestFiles.map(globOf).join(",") } : {}),
  };
  return capture(
    join(root, "node_modules", ".bin", "vitest"),
    ["run", ...files, "--reporter=default", "--reporter=json", `--outputFile.json=${testResults}`],
    { cwd: root, env: { ...toolEnvironment(), ...env } },
  );
}

const globOf = (path) => (path.endsWith(".ts") ? path : `${path}/**`);

function checkTestNames() {
  const lines = faultyNames(join(root, testResults));
  return { code: lines.length === 0 ? 0 : 1, output: lines.join("\n") };
}

function checkSkippedTests() {
  const names = skippedTests(join(root, testResults));
  if (names.length === 0) return { code: 0, output: "" };
  if (!isCi) return { code: 0, output: `${names.length} tests were left out: what they need is not here.` };
  return { code: 1, output: ["CI leaves out no test, and these did not run:", ...names].join("\n") };
}

async function preparePython() {
  return (await hostPython()) === null
    ? { message: "Python is not on PATH: install Python 3.10 or newer (python3).", detail: "" }
    : null;
}

async function prepareOpenssl() {
  const { code, output } = await capture("openssl", ["version"], { cwd: root });
  return code === 0 ? null : { message: "OpenSSL is not on PATH: install openssl.", detail: output };
}

async function runBuild() {
  try {
    await build();
    return { code: 0, output: "" };
  } catch (error) {
    if (!(error instanceof SetupError)) throw error;
    return { code: 1, output: `${error.detail}\n${error.message}` };
  }
}

/** Fills Node's compile cache by importing most modules. Ignores a failed import, because the tests report it. */
async function firstLoad() {
  const env = { ...toolEnvironment(), NODE_COMPILE_CACHE: compileCache };
  await capture(join(root, "node_modules", ".bin", "node"), [join("tools", "first-load.mjs")], { cwd: root, env });
  return { code: 0, output: "" };
}

/** Returns a function that prepares a tool for tests. If the tool is missing, CI fails; other runs skip its tests. */
function preparationOf(prepare, what) {
  return async () => {
    const problem = await prepare();
    if (problem === null) return { code: 0, output: "" };
    if (!isCi) return { code: 0, output: `Skipping the tests of ${what}. ${problem.message}` };
    return { code: 1, output: `${problem.detail}\n${problem.message}` };
  };
}

const leftToTrialsText = () =>
  areTrialsToFollow ? `\n Left to the trials that follow: ${sampledTestFiles.join(", ")}` : "";

function testSummary(output) {
  const lines = stripVTControlCharacters(output).split("\n");
  return lines.filter((line) => /^\s*(Test Files|Tests|Start at|Duration) {2}/.test(line)).join("\n");
}

function printText(text) {
  process.stdout.write(`${process.stdout.isTTY ? text : stripVTControlCharacters(text)}\n`);
}

async function runStep({ run }) {
  const startedMs = performance.now();
  const result = await run();
  return { ...result, seconds: (performance.now() - startedMs) / 1000 };
}

function printResult({ name, summary }, { code, output, seconds }) {
  printText(`${code === 0 ? "ok    " : "FAILED"} ${name.padEnd(14)} ${seconds.toFixed(1).padStart(6)} s`);
  const shown = code === 0 ? (summary?.(output) ?? "") : output.trimEnd();
  if (shown !== "") printText(shown);
  return code === 0;
}

const startAll = (steps) => steps.map((step) => ({ step, result: runStep(step) }));

function startInTurn(steps) {
  let last = Promise.resolve();
  return steps.map((step) => ({ step, result: (last = last.then(() => runStep(step))) }));
}

async function failuresOf(started) {
  const failed = [];
  for (const { step, result } of started) {
    if (!printResult(step, await result)) failed.push(step.name);
  }
  return failed;
}

async function check() {
  rmSync(join(root, testResults), { force: true });
  const preparing = startAll(isTrials ? [] : preparations);
  await install();
  const building = startAll(isTrials ? [] : builds);
  const checking = startInTurn(isTrials ? [] : sourceChecks);
  const failed = [...(await failuresOf(preparing)), ...(await failuresOf(building))];
  const underTest = startInTurn(tests);
  failed.push(...(await failuresOf(checking)), ...(await failuresOf(underTest)));
  const count = [preparing, building, checking, underTest].flat().length;
  printText(
    failed.length === 0
      ? `All ${count} checks passed.`
      : `${failed.length} of ${count} checks failed: ${failed.join(", ")}.`,
  );
  process.exitCode = failed.length === 0 ? 0 : 1;
}

if (unknownFlag !== undefined) {
  process.stderr.write(
    `check.mjs does not take "${unknownFlag}": --help shows the flags. One test: npx vitest run FILE\n`,
  );
  process.exitCode = 2;
} else if (flags.includes("--help")) process.stdout.write(`${usage}\n`);
else {
  await check().catch((error) => {
    endAll();
    reportSetupError(error);
    process.exitCode = 2;
  });
}
