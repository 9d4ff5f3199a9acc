// Installs the Python clients for the tests into a virtual environment under .cache.
import { createHash } from "node:crypto";
import { existsSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { capture } from "./process.mjs";
import { reportSetupError, root, SetupError } from "./setup.mjs";

const pinsFile = join(root, "tools", "python-clients.txt");
const environment = join(root, ".cache", "python-clients");
const python = join(environment, ...(process.platform === "win32" ? ["Scripts", "python.exe"] : ["bin", "python"]));
const stamp = join(environment, ".installed-from");

/**
 * Makes sure that the Python clients are installed.
 *
 * @returns {Promise<SetupError | null>} the problem; `null` if the clients are installed
 */
export async function preparePythonClients() {
  const wanted = createHash("sha256").update(readFileSync(pinsFile)).digest("hex");
  if (existsSync(stamp) && readFileSync(stamp, "utf8") === wanted && (await canRun(python))) return null;
  const host = await hostPython();
  if (host === null)
    return new SetupError("Python is not on PATH: install Python 3.10 or newer (python3 with venv and pip).");
  rmSync(environment, { recursive: true, force: true });
  const created = await capture(host, ["-m", "venv", environment], { cwd: root });
  if (created.code !== 0)
    return new SetupError("`python3 -m venv` failed: install Python's venv module (python3-venv).", created.output);
  // Two options save time. `--no-deps`: python-clients.txt already lists every dependency. `--no-compile`: Python
  // compiles a module when a test imports it.
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
    return new SetupError("pip could not install tools/python-clients.txt: see its output.", installed.output);
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

if (process.argv[1] !== undefined && realpathSync(process.argv[1]) === fileURLToPath(import.meta.url)) {
  const problem = await preparePythonClients();
  if (problem !== null) {
    reportSetupError(problem);
    process.exitCode = 2;
  }
}
