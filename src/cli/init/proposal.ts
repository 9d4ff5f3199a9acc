import { dirname, join, relative, resolve } from "node:path";
import { isSea } from "node:sea";

import { packageRoot } from "../../base/package-root.ts";
import type { ParsedTargetFile } from "../../target/file-schema.ts";
import { parseRoles, webhooksOf } from "../../target/file.ts";
import { type NetworkSettings, secretsOfNetwork } from "../../target/network.ts";
import {
  type RequestRole,
  defaultKeyTraits,
  defaultTargetTraits,
  type Target,
  type TargetKey,
} from "../../target/target.ts";
import type { Answers } from "./answers.ts";
import type { DiscoveredTarget } from "./surroundings.ts";

/** Name under which the only known key stands in the file. */
const keyName = "main";

/** What the file says of agents; `null` where nobody knows. */
export interface ChosenAgents {
  readonly answering: string | null;
  readonly streaming: string | null;
}

/** Roles that a prompt can make an agent play, and which of the two agents is asked. */
export const promptRoles = {
  failing: { asks: "answering", makes: "fails" },
  slow: { asks: "answering", makes: "takes some seconds to answer" },
  slowStreaming: { asks: "streaming", makes: "streams for some seconds" },
  failingInStream: { asks: "streaming", makes: "fails in mid-stream" },
} as const satisfies Partial<Record<RequestRole, { readonly asks: keyof ChosenAgents; readonly makes: string }>>;

/** What a person knows to ask, by the role that it makes an agent play. */
export type KnownPrompts = Partial<Readonly<Record<keyof typeof promptRoles, string>>>;

/** Where the target has what the document gives no path for. */
export type KnownPaths = Pick<NonNullable<ParsedTargetFile["paths"]>, "batch" | "operation">;

/** What the file is to say beside the answers that came before the look. */
export interface Known {
  readonly chosen: ChosenAgents;
  readonly prompts: KnownPrompts;
  readonly paths: KnownPaths;
  readonly tier: string | null;
}

/** Agents that the look speaks for: a healthy one answers, and one whose list item names a `_stream` tag streams. */
export function suggestAgents({ agents }: DiscoveredTarget): ChosenAgents {
  const healthy = agents.filter(({ health }) => health === "healthy");
  const best = healthy[0] ?? agents.find(({ health }) => health === "degraded") ?? agents[0];
  const streaming = [best, ...healthy].find((agent) => agent?.showsStream === true);
  return { answering: best?.id ?? null, streaming: streaming?.id ?? null };
}

/** The proposed target file. The key itself is not in it. */
export function proposeFile(
  { baseUrl, name, keyVariable, out, saidNetwork }: Answers,
  { agents }: DiscoveredTarget,
  { chosen, prompts, paths, tier }: Known,
): ParsedTargetFile {
  const withHealth = (health: "degraded" | "unhealthy"): string | null =>
    agents.find((agent) => agent.health === health)?.id ?? null;
  const roles = { ...chosen, degraded: withHealth("degraded"), unhealthy: withHealth("unhealthy") };
  const known = {
    ...Object.fromEntries(Object.entries(roles).flatMap(([role, id]) => (id === null ? [] : [[role, id]]))),
    ...playersBy(prompts, chosen),
  };
  return {
    $schema: schemaFor(out),
    name,
    baseUrl,
    keys: { [keyName]: { key: `\${${keyVariable}}`, ...(tier === null ? {} : { tier }) } },
    ...(Object.keys(known).length === 0 ? {} : { agents: known }),
    ...(Object.keys(paths).length === 0 ? {} : { paths }),
    ...seenFrom(out, saidNetwork),
  };
}

/** Without an agent there is nobody to ask. */
function playersBy(prompts: KnownPrompts, chosen: ChosenAgents): NonNullable<ParsedTargetFile["agents"]> {
  const players = Object.entries(promptRoles).flatMap(([role, { asks }]) => {
    const query = prompts[role as keyof typeof promptRoles];
    const agent = chosen[asks] ?? chosen.answering;
    return query === undefined || agent === null ? [] : [[role, { agent, body: { query } }]];
  });
  return Object.fromEntries(players) as NonNullable<ParsedTargetFile["agents"]>;
}

/** Files were named as seen from here, and stand in a file that may be elsewhere. A proxy with a password is for the environment to tell. */
function seenFrom(out: string, { proxy, ...files }: NetworkSettings): Pick<ParsedTargetFile, "network"> {
  const folder = dirname(resolve(out));
  const isOpen = proxy !== undefined && !proxy.includes("@");
  const network = {
    ...(isOpen && { proxy }),
    ...Object.fromEntries(
      Object.entries(files).map(([part, path]) => [part, relative(folder, resolve(path ?? "")).replaceAll("\\", "/")]),
    ),
  };
  return Object.keys(network).length === 0 ? {} : { network };
}

/** Where the schema is as seen from the file: below it, or where a project installs the harness. */
function schemaFor(out: string): string {
  const installed = "../initiating/node_modules/agent-hosting-conformance/schemas/target.schema.json";
  if (isSea()) return installed;
  const packaged = join(packageRoot(), "schemas", "target.schema.json");
  const path = relative(dirname(resolve(out)), packaged).replaceAll("\\", "/");
  return path.startsWith("..") ? installed : `./${path}`;
}

/** The key that a person gave, as a run would know it. */
export const keyOf = ({ key, keyVariable }: Answers, tier: string | null): TargetKey => ({
  ...defaultKeyTraits,
  name: keyName,
  key,
  variable: keyVariable,
  tier,
});

/** The target as the look meets it, or, with agents, as a run would read it from the file. */
export const targetOf = (answers: Answers, tier: string | null, agents: ParsedTargetFile["agents"] | null): Target => ({
  ...defaultTargetTraits,
  name: answers.name,
  baseUrl: answers.baseUrl,
  keys: { [keyName]: keyOf(answers, tier) },
  ...(agents === null ? {} : parseRoles(agents ?? {})),
  webhooks: webhooksOf(undefined, answers.baseUrl),
  network: answers.network,
  callSecrets: secretsOfNetwork(answers.network),
});
