import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

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
interface ProcessResult {
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

/**
 * Names of the checks that every response must pass: its status, media type, headers and body are in the description.
 */
export const descriptionChecks = [
  "status_code_conformance",
  "content_type_conformance",
  "response_headers_conformance",
  "response_schema_conformance",
] as const;

/**
 * Names of the checks for servers whose agents are healthy. `unsupported_method` and `allow_header_conformance` are
 * left out: they demand 405, but the document has 404 for an undefined method.
 */
export const healthyServerChecks = [
  ...descriptionChecks,
  "not_a_server_error",
  "positive_data_acceptance",
  "negative_data_rejection",
  "missing_required_header",
  "ignored_auth",
] as const;

export interface Campaign {
  /** URL of the OpenAPI description. The requests go to the server that the description names. */
  readonly descriptionUrl: string;
  readonly key: string;
  readonly checks: readonly string[];
  /** Ids of the agents to call. */
  readonly agents: readonly string[];
  /** Ids of the agents that are never called. */
  readonly avoided: readonly string[];
  /** A regular expression for the paths to call. */
  readonly paths: string;
  readonly phases: readonly ("examples" | "coverage" | "fuzzing" | "stateful")[];
  /** Number of test cases for each operation and phase. */
  readonly examples: number;
}

/** Runs schemathesis on a server's description. The same campaign always sends the same requests. */
export async function runSchemathesis(campaign: Campaign): Promise<ProcessResult> {
  // A new folder for each run, because schemathesis writes files into its working folder.
  const workingFolder = await mkdtemp(join(tmpdir(), "schemathesis-"));
  const env = {
    SCHEMATHESIS_HOOKS: "schemathesis_hooks",
    AGENTS: campaign.agents.join(","),
    AVOIDED: campaign.avoided.join(","),
    NO_PROXY: "127.0.0.1",
  };
  try {
    return await runPython(["-m", "schemathesis.cli", "run", campaign.descriptionUrl, ...campaignOptions(campaign)], {
      cwd: workingFolder,
      env,
    });
  } finally {
    await rm(workingFolder, { recursive: true, force: true });
  }
}

function campaignOptions({ key, checks, paths, phases, examples }: Campaign): readonly string[] {
  const valued = {
    "--header": `Authorization: Bearer ${key}`,
    "--checks": checks.join(","),
    "--include-path-regex": paths,
    "--phases": phases.join(","),
    "--max-examples": String(examples),
    "--request-timeout": "10",
  };
  return [
    ...Object.entries(valued).flat(),
    "--generation-deterministic",
    "--continue-on-failure",
    "--no-shrink",
    "--no-color",
  ];
}
