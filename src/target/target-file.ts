import { dirname } from "node:path";

import { z } from "zod";

import { parseJsonFile, readTextFile } from "../base/read-file.ts";
import { isLoopback, type Network } from "../base/network/network.ts";
import { type TierLimits, tierNames } from "../spec/tiers.ts";
import { readBaseUrl } from "./base-url.ts";
import { clockOverHttp, secretsOfCall, triggerOverHttp, unusedKeysOverHttp } from "./control-calls.ts";
import { type HttpCall, type ParsedTargetFile, targetFileSchema, type webhooksSchema } from "./target-file-schema.ts";
import {
  type EnvironmentVariables,
  type NetworkSettingsSource,
  readNetwork,
  type NetworkSettings,
  secretsOfNetwork,
} from "./network-settings.ts";
import { line, UsageError } from "../base/line.ts";
import { withoutUndefined } from "../base/json.ts";
import {
  type AgentRole,
  defaultKeyTraits,
  defaultTargetTraits,
  isRequestRole,
  noKey,
  type OwnRequest,
  type RequestRole,
  type RoleAssignment,
  type Target,
  type TargetKey,
  type WebhookSettings,
} from "./target.ts";

export function readTargetFile(
  path: string,
  environment: EnvironmentVariables,
  networkFlags: NetworkFlags = noNetworkFlags,
): Target {
  return targetFromObject(parseJsonFile(readTextFile(path, "The target file"), path), path, environment, {
    folder: dirname(path),
    networkFlags,
  });
}

export interface NetworkFlags {
  readonly network: NetworkSettings;
  readonly nameOf: NetworkSettingsSource["nameOf"];
}

const noNetworkFlags: NetworkFlags = { network: {}, nameOf: String };

interface ParseContext {
  /** Folder to which the file names under `network` are relative. Default: the working directory. */
  readonly folder?: string;
  readonly networkFlags?: NetworkFlags;
}

export function targetFromObject(
  raw: unknown,
  where: string,
  environment: EnvironmentVariables,
  { folder = ".", networkFlags = noNetworkFlags }: ParseContext = {},
): Target {
  const variables = variablesOfKeys(raw);
  const parsed = targetFileSchema.safeParse(insertVariables(raw, where, environment));
  if (!parsed.success) throw new UsageError(line`${where}: ${describeIssues(parsed.error)}`);
  const own = { nameOf: (part: string) => `${where}: network.${part}`, folder };
  const network = mergeNetworks(parsed.data.network ?? {}, own, networkFlags, environment);
  return toTarget(parsed.data, where, variables, network);
}

function mergeNetworks(
  file: NetworkSettings,
  own: NetworkSettingsSource,
  flags: NetworkFlags,
  environment: EnvironmentVariables,
): Network {
  const ofFlags = readNetwork(flags.network, { nameOf: flags.nameOf, folder: "." }, environment);
  const ofFile = readNetwork(file, own, environment);
  return {
    proxy: flags.network.proxy === undefined ? ofFile.proxy : ofFlags.proxy,
    ca: ofFlags.ca ?? ofFile.ca,
    client: ofFlags.client ?? ofFile.client,
    files: {
      ca: ofFlags.files.ca ?? ofFile.files.ca,
      cert: ofFlags.files.cert ?? ofFile.files.cert,
      key: ofFlags.files.key ?? ofFile.files.key,
    },
  };
}

/**
 * Replaces `${NAME}` by an environment variable. Keeps `${seconds}` and `${milliseconds}`, the placeholders in requests
 * to a test clock.
 */
function insertVariables(
  value: unknown,
  path: string,
  environment: EnvironmentVariables,
  at: readonly string[] = [],
): unknown {
  if (typeof value === "string")
    return value.replace(/\$\{(\w+)\}/g, (whole, name: string) => {
      if (name === "seconds" || name === "milliseconds") return whole;
      const found = environment[name];
      if (found === undefined || found === "")
        throw new UsageError(
          line`${path}: ${at.join(".")} takes $${name}, which is not set. Set it, or take that part out.`,
        );
      return found;
    });
  if (Array.isArray(value))
    return value.map((each, index) => insertVariables(each, path, environment, [...at, String(index)]));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, each]) => [key, insertVariables(each, path, environment, [...at, key])]),
  );
}

function variablesOfKeys(raw: unknown): Record<string, string> {
  const keys = z.object({ keys: z.record(z.string(), z.object({ key: z.string() })) }).safeParse(raw);
  if (!keys.success) return {};
  return Object.fromEntries(
    Object.entries(keys.data.keys).flatMap(([name, { key }]) => {
      const variable = /^\$\{(\w+)\}$/.exec(key)?.[1];
      return variable === undefined ? [] : [[name, variable]];
    }),
  );
}

function describeIssues(error: z.ZodError): string {
  const messages = error.issues.map((issue) => {
    const where = issue.path.length === 0 ? "the file" : issue.path.join(".");
    if (issue.code !== "unrecognized_keys") return `${where}: ${issue.message}`;
    return `${where} has ${issue.keys.map((key) => JSON.stringify(key)).join(", ")}, which is not known there; allowed: ${allowedNamesAt(issue.path).join(", ")}`;
  });
  return messages.slice(0, 3).join("; ") + (messages.length > 3 ? ` (and ${messages.length - 3} more)` : "");
}

function allowedNamesAt(path: readonly PropertyKey[]): string[] {
  let schema: unknown = z.toJSONSchema(targetFileSchema, { io: "input" });
  for (const step of path) {
    const node = schema as { properties?: Record<string, unknown>; additionalProperties?: unknown };
    schema = node.properties?.[String(step)] ?? node.additionalProperties ?? {};
  }
  return Object.keys((schema as { properties?: object }).properties ?? {}).filter((name) => name !== "$schema");
}

function toTarget(
  file: ParsedTargetFile,
  path: string,
  variables: Readonly<Record<string, string>>,
  network: Network,
): Target {
  const tiers = Object.fromEntries(
    Object.entries(file.tiers ?? {}).map(([name, tier]): [string, TierLimits] => [
      name,
      { ...tier, burst: tier.burst ?? null, tokensPerMonth: tier.tokensPerMonth ?? null },
    ]),
  );
  const baseUrl = readBaseUrl(file.baseUrl);
  if (file.auth === "none" && !isLoopback(baseUrl))
    throw new UsageError(
      line`${path}: auth is none, but ${baseUrl} is not on loopback. Only a local server may ask for no keys.`,
    );
  const keys = Object.fromEntries(
    Object.entries(file.keys).map(([name, key]): [string, TargetKey] => {
      const known = [...tierNames, ...Object.keys(tiers)];
      if (key.tier !== undefined && !known.includes(key.tier))
        throw new UsageError(
          line`${path}: keys.${name}.tier is ${JSON.stringify(key.tier)}; allowed: ${[...new Set(known)].join(", ")}.`,
        );
      return [name, toTargetKey(name, key, variables[name] ?? variableFor(name))];
    }),
  );
  return {
    name: file.name ?? new URL(baseUrl).host,
    baseUrl,
    keys: file.auth === "none" ? { [noKey.name]: noKey } : keys,
    auth: file.auth ?? "keys",
    ...parseRoles(file.agents ?? {}),
    tiers,
    clock: file.clock === undefined ? null : clockOverHttp(file.clock, network),
    control: file.control ?? null,
    unusedKeys: file.freshness === undefined ? null : unusedKeysOverHttp(file.freshness, network),
    webhooks: webhooksOf(file.webhooks, baseUrl),
    triggers: triggersOf(file.triggers, network),
    signing: file.signing ?? null,
    paths: openPathsOf(file.paths),
    offers: file.offers ?? null,
    isDirect: file.direct ?? false,
    network,
    callSecrets: [...new Set([...controlCallsOf(file).flatMap(secretsOfCall), ...secretsOfNetwork(network)])],
  };
}

export const triggersOf = (triggers: ParsedTargetFile["triggers"], network: Network): Target["triggers"] =>
  Object.fromEntries(
    Object.entries(withoutUndefined(triggers ?? {})).map(([event, call]) => [event, triggerOverHttp(call, network)]),
  );

export const openPathsOf = (paths: ParsedTargetFile["paths"]): Target["paths"] => ({
  ...defaultTargetTraits.paths,
  ...withoutUndefined(paths ?? {}),
});

/** Reads the roles under `agents`. A role has an agent's id, or an object with `agent` and maybe `body` and `path`. */
export function parseRoles(
  roles: NonNullable<ParsedTargetFile["agents"]>,
): Pick<Target, "agents" | "roleAssignments" | "ownRequests" | "agentSource"> {
  const agents: Partial<Record<AgentRole, string>> = {};
  const roleAssignments: Partial<Record<RequestRole, RoleAssignment>> = {};
  const ownRequests: OwnRequest[] = [];
  for (const [name, who] of Object.entries(withoutUndefined(roles))) {
    const role = name as AgentRole;
    if (typeof who === "string") agents[role] = who;
    else if (isRequestRole(role))
      roleAssignments[role] = {
        agent: who.agent,
        body: who.body ?? {},
        path: "path" in who ? (who.path ?? null) : null,
      };
    else {
      agents[role] = who.agent;
      ownRequests.push({ role, agent: who.agent, body: who.body ?? {} });
    }
  }
  return { ...withDefaultStreamingAgent(agents), roleAssignments, ownRequests };
}

/** Gives the agent of the role `answering` also the role `streaming`, unless `agents` already has an agent for it. */
export function withDefaultStreamingAgent(agents: Target["agents"]): Pick<Target, "agents" | "agentSource"> {
  const { answering, streaming } = agents;
  if (answering === undefined) return { agents, agentSource: "found" };
  if (streaming !== undefined) return { agents, agentSource: "named" };
  return { agents: { ...agents, streaming: answering }, agentSource: "named to answer" };
}

const controlCallsOf = ({ clock, control, freshness, triggers }: ParsedTargetFile): HttpCall[] => [
  ...(control === undefined ? [] : [{ method: "GET" as const, url: control.url, headers: { token: control.token } }]),
  ...(clock === undefined ? [] : [clock.advance]),
  ...(freshness === undefined ? [] : [freshness.ask]),
  ...Object.values(withoutUndefined(triggers ?? {})),
];

const anyLoopbackPort = "127.0.0.1:0";

/**
 * Returns the webhook receiver's settings that the user stated. Default: an address on loopback if the target is on
 * loopback, otherwise `null`.
 */
export function webhooksOf(given: z.infer<typeof webhooksSchema> | undefined, baseUrl: string): WebhookSettings | null {
  if (given !== undefined)
    return {
      listen: given.listen ?? anyLoopbackPort,
      publicUrl: given.publicUrl ?? null,
      isReachabilityPromised: true,
      sources: given.sources === undefined ? null : { addresses: given.sources, header: given.sourceHeader ?? null },
    };
  return isLoopback(baseUrl)
    ? { listen: anyLoopbackPort, publicUrl: null, isReachabilityPromised: false, sources: null }
    : null;
}

function toTargetKey(name: string, key: ParsedTargetFile["keys"][string], variable: string): TargetKey {
  return {
    ...defaultKeyTraits,
    signed: key.signingSecret !== undefined,
    ...withoutUndefined(key),
    name,
    key: checkedKey(key.key, `keys.${name}.key`),
    variable,
  };
}

export const variableFor = (name: string): string => `${name.toUpperCase().replace(/\W+/g, "_")}_KEY`;

/** Returns the key. Throws a usage error if an HTTP header cannot carry it. */
export function checkedKey(key: string, where: string): string {
  if (/^[\x21-\x7e]+$/.test(key)) return key;
  throw new UsageError(
    line`${where} holds white space or characters that a header cannot carry. Check what was pasted.`,
  );
}
