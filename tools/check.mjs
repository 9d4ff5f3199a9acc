// `npm test` and `npm run check`: every check of the project, one line each, output only of those that fail.
import { rmSync } from "node:fs";
import { join } from "node:path";
import { stripVTControlCharacters } from "node:util";
import { capture } from "./process.mjs";
import { prepareChromium } from "./chromium.mjs";
import { prepareK6 } from "./k6.mjs";
import { preparePythonClients } from "./python-clients.mjs";
import { build, install, reportSetupError, root, SetupError, toolEnvironment } from "./setup.mjs";

const testResults = join(".cache", "vitest.json");

/** `run` resolves to the exit code and output; `summary` takes from the output what is worth showing when all is well. */
const steps = [
  { name: "build", run: builds },
  { name: "format", run: tool("oxfmt", "--check") },
  { name: "lint", run: tool("oxlint", "--type-aware") },
  { name: "types", run: tool("tsc", "--noEmit", "-p", "tsconfig.json") },
  { name: "k6 types", run: tool("tsc", "--noEmit", "-p", join("k6", "tsconfig.json")) },
  { name: "import rules", run: tool("oxlint", "-c", "tools/rooms.oxlintrc.json", "src") },
  { name: "unused code", run: tool("knip", "--no-progress") },
  { name: "Python clients", run: prepared(preparePythonClients, "Python clients"), summary: (output) => output },
  { name: "k6", run: prepared(prepareK6, "k6"), summary: (output) => output },
  { name: "Chromium", run: prepared(prepareChromium, "pages in a browser"), summary: (output) => output },
  {
    name: "tests",
    run: tool("vitest", "run", "--reporter=default", "--reporter=json", `--outputFile.json=${testResults}`),
    summary: testSummary,
  },
];

function tool(name, ...args) {
  return () => capture(join(root, "node_modules", ".bin", name), args, { cwd: root, env: toolEnvironment() });
}

async function builds() {
  try {
    await build();
    return { code: 0, output: "" };
  } catch (error) {
    if (!(error instanceof SetupError)) throw error;
    return { code: 1, output: `${error.detail}\n${error.message}` };
  }
}

/** Where something cannot be had, the tests of it are skipped, and one line says so; in CI that is a failure. */
function prepared(prepare, what) {
  return async () => {
    const lacking = await prepare();
    if (lacking === null) return { code: 0, output: "" };
    if (process.env.CI === undefined) return { code: 0, output: `Skipping the tests of ${what}. ${lacking.message}` };
    return { code: 1, output: `${lacking.detail}\n${lacking.message}` };
  };
}

/** Vitest's own closing lines: test files, tests, start and duration. */
function testSummary(output) {
  const lines = stripVTControlCharacters(output).split("\n");
  return lines.filter((line) => /^\s*(Test Files|Tests|Start at|Duration) {2}/.test(line)).join("\n");
}

/** The linter colours its output even where nobody can see it. */
function say(text) {
  process.stdout.write(`${process.stdout.isTTY ? text : stripVTControlCharacters(text)}\n`);
}

/** Runs one step and says how it went; resolves to whether it passed. */
async function passes({ name, run, summary }) {
  const startedMs = performance.now();
  const { code, output } = await run();
  const seconds = ((performance.now() - startedMs) / 1000).toFixed(1);
  say(`${code === 0 ? "ok    " : "FAILED"} ${name.padEnd(14)} ${seconds.padStart(6)} s`);
  const shown = code === 0 ? (summary?.(output) ?? "") : output.trimEnd();
  if (shown !== "") say(shown);
  return code === 0;
}

async function check() {
  await install();
  rmSync(join(root, testResults), { force: true });
  const failed = [];
  for (const step of steps) {
    if (!(await passes(step))) failed.push(step.name);
  }
  say(
    failed.length === 0
      ? `All ${steps.length} checks passed.`
      : `${failed.length} of ${steps.length} checks failed: ${failed.join(", ")}.`,
  );
  process.exitCode = failed.length === 0 ? 0 : 1;
}

await check().catch((error) => {
  reportSetupError(error);
  process.exitCode = 2;
});
