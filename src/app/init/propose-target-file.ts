import { existsSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import { isSea } from "node:sea";

import { withoutUndefined } from "../../base/json.ts";
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
import type { ControlParts, DiscoveredTarget } from "./discover.ts";

export interface UserAnswersBeforeDiscovery {
  readonly baseUrl: string;
  readonly name: string;
  readonly keyVariable: string;
  readonly key: string;
  readonly out: string;
  readonly network: Network;
  readonly networkSettings: NetworkSettings;
}

const keyName = "main";

export interface ChosenAgents {
  readonly answering: string | null;
  readonly streaming: string | null;
}

/** Roles for which the user can give a query. `behaviour` is what the query makes the agent do. */
export const queryRoles = {
  failing: { agent: "answering", behaviour: "fails" },
  slow: { agent: "answering", behaviour: "takes some seconds to answer" },
  slowStreaming: { agent: "streaming", behaviour: "streams for some seconds" },
  failingInStream: { agent: "streaming", behaviour: "fails in mid-stream" },
} as const satisfies Partial<Record<RequestRole, { readonly agent: keyof ChosenAgents; readonly behaviour: string }>>;

export type KnownQueries = Partial<Readonly<Record<keyof typeof queryRoles, string>>>;

/** Paths of the batch and operation endpoints, which the interface document does not define. */
export type UserGivenPaths = Pick<NonNullable<ParsedTargetFile["paths"]>, "batch" | "operation">;

export interface UserAnswersAfterDiscovery {
  readonly agents: ChosenAgents;
  readonly prompts: KnownQueries;
  readonly paths: UserGivenPaths;
  readonly tier: string | null;
  readonly control: ControlParts;
}

/**
 * Suggests the healthiest agent for the role `answering`. For `streaming`, suggests an agent whose item in the list
 * mentions `_stream`: the same agent, or else another healthy one.
 */
export function suggestAgents({ agents }: DiscoveredTarget): ChosenAgents {
  const healthy = agents.filter(({ health }) => health === "healthy");
  const best = healthy[0] ?? agents.find(({ health }) => health === "degraded") ?? agents[0];
  const streaming = [best, ...healthy].find((agent) => agent?.mentionsStream === true);
  return { answering: best?.id ?? null, streaming: streaming?.id ?? null };
}

export function proposeTargetFile(
  { baseUrl, name, keyVariable, out, networkSettings }: UserAnswersBeforeDiscovery,
  discovered: DiscoveredTarget,
  { agents, prompts, paths, tier, control }: UserAnswersAfterDiscovery,
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
  const schema = relativeSchemaPath(out);
  return {
    ...(schema === null ? {} : { $schema: schema }),
    name,
    baseUrl,
    keys: { [keyName]: { key: `\${${keyVariable}}`, ...(tier === null ? {} : { tier }) } },
    ...(Object.keys(roles).length === 0 ? {} : { agents: roles }),
    ...withoutUndefined({ clock: control.clock, control: control.control, triggers: control.triggers }),
    ...(Object.keys(paths).length === 0 ? {} : { paths }),
    ...networkPartFor(out, networkSettings),
  };
}

function rolesByPrompt(prompts: KnownQueries, chosen: ChosenAgents): NonNullable<ParsedTargetFile["agents"]> {
  const roles = Object.entries(queryRoles).flatMap(([role, { agent: wanted }]) => {
    const query = prompts[role as keyof typeof queryRoles];
    const agent = chosen[wanted] ?? chosen.answering;
    return query === undefined || agent === null ? [] : [[role, { agent, body: { query } }]];
  });
  return Object.fromEntries(roles) as NonNullable<ParsedTargetFile["agents"]>;
}

/** Returns network settings for a target file, with relative paths. Leaves out a proxy URL with credentials. */
function networkPartFor(out: string, { proxy, ...files }: NetworkSettings): Pick<ParsedTargetFile, "network"> {
  const folder = dirname(resolve(out));
  const network = {
    ...(proxy !== undefined && !proxy.includes("@") && { proxy }),
    ...Object.fromEntries(
      Object.entries(files).map(([part, path]) => [part, relative(folder, resolve(path ?? "")).replaceAll("\\", "/")]),
    ),
  };
  return Object.keys(network).length === 0 ? {} : { network };
}

function relativeSchemaPath(out: string): string | null {
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

export const keyFromAnswers = ({ key, keyVariable }: UserAnswersBeforeDiscovery, tier: string | null): TargetKey => ({
  ...defaultKeyTraits,
  name: keyName,
  key,
  variable: keyVariable,
  tier,
});

export const targetFromAnswers = (
  answers: UserAnswersBeforeDiscovery,
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
