import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";

const folder = fileURLToPath(new URL(".", import.meta.url));
const environment = new URL("../../../../.cache/python-clients/", import.meta.url);
/** Path of the Python in which the clients are installed. */
export const pythonInterpreter = fileURLToPath(
  new URL(process.platform === "win32" ? "Scripts/python.exe" : "bin/python", environment),
);
const isInstalled = existsSync(new URL(".installed-from", environment));

/** Whether to skip tests with Python clients because they are not installed. CI never skips them. */
export const withoutPython = !isInstalled && process.env["CI"] === undefined;
if (withoutPython) {
  process.stderr.write("Python clients are not installed, their tests are skipped: node tools/python-clients.mjs\n");
}

/** The result of a program. */
export interface ProcessResult {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/**
 * Runs the Python in which the clients are installed. The program can import the modules of this folder. Never rejects.
 */
export function runPython(
  args: readonly string[],
  { cwd = folder, env = {} }: { readonly cwd?: string; readonly env?: Readonly<Record<string, string>> } = {},
): Promise<ProcessResult> {
  if (!isInstalled) {
    const stderr = "The Python clients are not installed: run `node tools/python-clients.mjs`.";
    return Promise.resolve({ code: 1, stdout: "", stderr });
  }
  return new Promise((resolve) => {
    const options = { cwd, env: { ...process.env, ...pythonEnvironment, ...env }, maxBuffer: 64 * 1024 * 1024 };
    const child = execFile(pythonInterpreter, args, options, (error, stdout, stderr) => {
      resolve({ code: child.exitCode ?? 1, stdout, stderr: error === null ? stderr : `${error.message}\n${stderr}` });
    });
  });
}

const pythonEnvironment = {
  PYTHONDONTWRITEBYTECODE: "1",
  PYTHONIOENCODING: "utf-8",
  PYTHONPATH: folder,
  NO_COLOR: "1",
};

/**
 * Runs a Python program of this folder and parses the JSON that the program prints. Rejects with the program's errors
 * if it fails.
 */
export async function pythonJson(program: string, ...args: readonly string[]): Promise<unknown> {
  const { code, stdout, stderr } = await runPython([program, ...args]);
  if (code !== 0) throw new Error(`${program} ended with exit code ${code}: ${stderr}`);
  return JSON.parse(stdout);
}
