import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { python, type ProcessResult } from "./python.ts";

/** What every answer is held to, whatever was asked: it is described, with its status, media type, headers and body. */
export const descriptionChecks = [
  "status_code_conformance",
  "content_type_conformance",
  "response_headers_conformance",
  "response_schema_conformance",
] as const;

/**
 * What a server of this interface is held to besides, where its agents are sound. Left out are `unsupported_method` and
 * `allow_header_conformance`: they want 405, and the document has no such status; a method it does not define is 404.
 */
export const soundServerChecks = [
  ...descriptionChecks,
  "not_a_server_error",
  "positive_data_acceptance",
  "negative_data_rejection",
  "missing_required_header",
  "ignored_auth",
] as const;

export interface Campaign {
  /** Where the description is; the server it names is the one that is called. */
  readonly descriptionUrl: string;
  readonly key: string;
  readonly checks: readonly string[];
  /** Ids of the agents to call. */
  readonly agents: readonly string[];
  /** Ids of agents never to call. */
  readonly avoided: readonly string[];
  /** A regular expression that the paths to call match. */
  readonly paths: string;
  readonly phases: readonly ("examples" | "coverage" | "fuzzing" | "stateful")[];
  /** Test cases per operation and phase. */
  readonly examples: number;
}

/** Runs the public tool schemathesis on a server's description; the same campaign always sends the same requests. */
export async function schemathesis(campaign: Campaign): Promise<ProcessResult> {
  // The tool writes where it stands.
  const folder = await mkdtemp(join(tmpdir(), "schemathesis-"));
  const env = {
    SCHEMATHESIS_HOOKS: "schemathesis_hooks",
    AGENTS: campaign.agents.join(","),
    AVOIDED: campaign.avoided.join(","),
    NO_PROXY: "127.0.0.1",
  };
  try {
    return await python(["-m", "schemathesis.cli", "run", campaign.descriptionUrl, ...options(campaign)], {
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
