// Installs the Python clients for the tests into a virtual environment under .cache.
import { createHash } from "node:crypto";
import { existsSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { capture } from "./process.mjs";
import { root } from "./setup.mjs";

const pinsFile = join(root, "tools", "python-clients.txt");
const environment = join(root, ".cache", "python-clients");
const python = join(environment, ...(process.platform === "win32" ? ["Scripts", "python.exe"] : ["bin", "python"]));
const stamp = join(environment, ".installed-from");

/**
 * Makes sure that the clients are installed.
 *
 * @returns {Promise<{ message: string, detail: string } | null>} the problem, and the output of the failed command
 */
export async function preparePythonClients() {
  const wanted = createHash("sha256").update(readFileSync(pinsFile)).digest("hex");
  if (existsSync(stamp) && readFileSync(stamp, "utf8") === wanted && (await canRun(python))) return null;
  const host = await hostPython();
  if (host === null)
    return setupProblem("Python is not on PATH: install Python 3.10 or newer (python3 with venv and pip).");
  rmSync(environment, { recursive: true, force: true });
  const created = await capture(host, ["-m", "venv", environment], { cwd: root });
  if (created.code !== 0)
    return setupProblem("`python3 -m venv` failed: install Python's venv module (python3-venv).", created);
  // `--no-deps` saves time, because python-clients.txt lists every dependency. `--no-compile` saves time, because
  // Python compiles modules when needed.
  const options = [
    "--quiet",
    "--disable-pip-version-check",
    "--no-input",
    "--only-binary",
    ":all:",
    "--no-deps",
    "--no-compile",
  ];
  const installed = await capture(python, ["-m", "pip", "install", ...options, "-r", pinsFile], { cwd: root });
  if (installed.code !== 0)
    return setupProblem("pip could not install tools/python-clients.txt: see its output.", installed);
  writeFileSync(stamp, wanted);
  return null;
}

export async function hostPython() {
  for (const command of ["python3", "python"]) {
    const { code, output } = await capture(command, ["--version"], { cwd: root });
    if (code === 0 && /Python 3\./.test(output)) return command;
  }
  return null;
}

async function canRun(command) {
  return (await capture(command, ["--version"], { cwd: root })).code === 0;
}

function setupProblem(message, { output } = { output: "" }) {
  return { message, detail: output.trim() };
}

if (process.argv[1] !== undefined && realpathSync(process.argv[1]) === fileURLToPath(import.meta.url)) {
  const trouble = await preparePythonClients();
  if (trouble !== null) {
    process.stderr.write(`${trouble.detail === "" ? "" : `${trouble.detail}\n`}${trouble.message}\n`);
    process.exitCode = 2;
  }
}
