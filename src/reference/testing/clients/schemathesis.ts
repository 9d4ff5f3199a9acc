import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { runPython, type ProcessResult } from "./python.ts";

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
  const folder = await mkdtemp(join(tmpdir(), "schemathesis-"));
  const env = {
    SCHEMATHESIS_HOOKS: "schemathesis_hooks",
    AGENTS: campaign.agents.join(","),
    AVOIDED: campaign.avoided.join(","),
    NO_PROXY: "127.0.0.1",
  };
  try {
    return await runPython(["-m", "schemathesis.cli", "run", campaign.descriptionUrl, ...options(campaign)], {
      cwd: folder,
      env,
    });
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

function options({ key, checks, paths, phases, examples }: Campaign): readonly string[] {
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
