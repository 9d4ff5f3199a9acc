import { existsSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import { isSea } from "node:sea";

import type { Network } from "../../base/network/network.ts";
import { packageRoot } from "../../base/package-root.ts";
import type { ParsedTargetFile } from "../../target/target-file-schema.ts";
import { parseRoles, webhooksOf } from "../../target/target-file.ts";
import { type NetworkSettings, secretsOfNetwork } from "../../target/network-settings.ts";
import {
  defaultKeyTraits,
  defaultTargetTraits,
  type RequestRole,
  type Target,
  type TargetKey,
} from "../../target/target.ts";
import type { ControlParts } from "./detect-control.ts";
import type { DiscoveredTarget } from "./discover.ts";

/** The answers that the user gives before the first request. */
export interface TargetAnswers {
  /** Base URL of the target, normalized to end in `/v1`. */
  readonly baseUrl: string;
  readonly name: string;
  /** Environment variable that holds the API key. The target file names this variable and never contains the key. */
  readonly keyVariable: string;
  readonly key: string;
  /** Path of the target file to write. */
  readonly out: string;
  readonly network: Network;
  /** Proxy and certificates from the command line, to write into the target file. */
  readonly networkSettings: NetworkSettings;
}

/** Name of the only key in the target file. */
const keyName = "main";

/** The agents to name in the target file: one that answers, and one that streams. `null` if unknown. */
export interface ChosenAgents {
  readonly answering: string | null;
  readonly streaming: string | null;
}

/** Roles that an agent plays when it gets a certain query. `agent` says whether the answering or the streaming agent gets the query. */
export const promptRoles = {
  failing: { agent: "answering", behaviour: "fails" },
  slow: { agent: "answering", behaviour: "takes some seconds to answer" },
  slowStreaming: { agent: "streaming", behaviour: "streams for some seconds" },
  failingInStream: { agent: "streaming", behaviour: "fails in mid-stream" },
} as const satisfies Partial<Record<RequestRole, { readonly agent: keyof ChosenAgents; readonly behaviour: string }>>;

/** The queries that the user knows: each makes an agent play one role. */
export type KnownPrompts = Partial<Readonly<Record<keyof typeof promptRoles, string>>>;

/** The paths of batch and operation requests. The user has to give them, because the document does not define them. */
export type KnownPaths = Pick<NonNullable<ParsedTargetFile["paths"]>, "batch" | "operation">;

/** The answers that the user gives after discovery. */
export interface LaterAnswers {
  readonly agents: ChosenAgents;
  readonly prompts: KnownPrompts;
  readonly paths: KnownPaths;
  readonly tier: string | null;
  /** The parts of the file that come from the test control of the target. Empty without a test control. */
  readonly control: ControlParts;
}

/** Suggests agents for the target file: a healthy agent to answer, and a healthy agent with a `_stream` tag in its list item to stream. */
export function suggestAgents({ agents }: DiscoveredTarget): ChosenAgents {
  const healthy = agents.filter(({ health }) => health === "healthy");
  const best = healthy[0] ?? agents.find(({ health }) => health === "degraded") ?? agents[0];
  const streaming = [best, ...healthy].find((agent) => agent?.mentionsStream === true);
  return { answering: best?.id ?? null, streaming: streaming?.id ?? null };
}

/** Proposes a target file. It names the environment variable of the key, and does not contain the key itself. */
export function proposeTargetFile(
  { baseUrl, name, keyVariable, out, networkSettings }: TargetAnswers,
  discovered: DiscoveredTarget,
  { agents, prompts, paths, tier, control }: LaterAnswers,
): ParsedTargetFile {
  const withHealth = (health: "degraded" | "unhealthy"): string | null =>
    discovered.agents.find((agent) => agent.health === health)?.id ?? null;
  const byNature = {
    degraded: withHealth("degraded"),
    unhealthy: withHealth("unhealthy"),
    ...control.agents,
    ...Object.fromEntries(Object.entries(agents).filter(([, id]) => id !== null)),
  };
  const roles = {
    ...Object.fromEntries(Object.entries(byNature).flatMap(([role, id]) => (id === null ? [] : [[role, id]]))),
    ...rolesByPrompt(prompts, agents),
  };
  const schema = schemaPath(out);
  return {
    ...(schema === null ? {} : { $schema: schema }),
    name,
    baseUrl,
    keys: { [keyName]: { key: `\${${keyVariable}}`, ...(tier === null ? {} : { tier }) } },
    ...(Object.keys(roles).length === 0 ? {} : { agents: roles }),
    ...(control.clock && { clock: control.clock }),
    ...(control.control && { control: control.control }),
    ...(control.triggers && { triggers: control.triggers }),
    ...(Object.keys(paths).length === 0 ? {} : { paths }),
    ...networkPart(out, networkSettings),
  };
}

function rolesByPrompt(prompts: KnownPrompts, chosen: ChosenAgents): NonNullable<ParsedTargetFile["agents"]> {
  const roles = Object.entries(promptRoles).flatMap(([role, { agent: wanted }]) => {
    const query = prompts[role as keyof typeof promptRoles];
    const agent = chosen[wanted] ?? chosen.answering;
    return query === undefined || agent === null ? [] : [[role, { agent, body: { query } }]];
  });
  return Object.fromEntries(roles) as NonNullable<ParsedTargetFile["agents"]>;
}

/**
 * Returns the network settings for a target file, with paths relative to that file. Leaves out a proxy URL with credentials: the file must
 * hold no secret, and an environment variable can give the URL.
 */
function networkPart(out: string, { proxy, ...files }: NetworkSettings): Pick<ParsedTargetFile, "network"> {
  const folder = dirname(resolve(out));
  const network = {
    ...(proxy !== undefined && !proxy.includes("@") && { proxy }),
    ...Object.fromEntries(
      Object.entries(files).map(([part, path]) => [part, relative(folder, resolve(path ?? "")).replaceAll("\\", "/")]),
    ),
  };
  return Object.keys(network).length === 0 ? {} : { network };
}

/**
 * Path of the JSON schema, relative to the target file. The schema in an installed package is preferred. `null` if no schema is found, for
 * example when the standalone binary runs outside a project.
 */
function schemaPath(out: string): string | null {
  const folder = dirname(resolve(out));
  const installed = ancestorsOf(folder).map((each) =>
    join(each, "node_modules", "agent-hosting-conformance", schemaFile),
  );
  const packaged = isSea() ? [] : [join(packageRoot(), schemaFile)];
  const found = [...installed, ...packaged].find((path) => existsSync(path));
  if (found === undefined) return null;
  const path = relative(folder, found).replaceAll("\\", "/");
  return path.startsWith("..") ? path : `./${path}`;
}

const schemaFile = join("schemas", "target.schema.json");

const ancestorsOf = (folder: string): string[] =>
  dirname(folder) === folder ? [folder] : [folder, ...ancestorsOf(dirname(folder))];

/** Turns the key that the user gave into the form that a target has. */
export const keyFromAnswers = ({ key, keyVariable }: TargetAnswers, tier: string | null): TargetKey => ({
  ...defaultKeyTraits,
  name: keyName,
  key,
  variable: keyVariable,
  tier,
});

/** Builds the target that the user described. `agents` is `null` before discovery. */
export const targetFromAnswers = (
  answers: TargetAnswers,
  tier: string | null,
  agents: ParsedTargetFile["agents"] | null,
): Target => ({
  ...defaultTargetTraits,
  name: answers.name,
  baseUrl: answers.baseUrl,
  keys: { [keyName]: keyFromAnswers(answers, tier) },
  ...(agents === null ? {} : parseRoles(agents ?? {})),
  webhooks: webhooksOf(undefined, answers.baseUrl),
  network: answers.network,
  callSecrets: secretsOfNetwork(answers.network),
});
