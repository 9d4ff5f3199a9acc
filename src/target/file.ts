import { dirname } from "node:path";

import { z } from "zod";

import { parseJsonFile, readTextFile } from "../base/read-file.ts";
import type { Network } from "../base/network/network.ts";
import { type TierLimits, tierNames } from "../spec/tiers.ts";
import { isLoopback, readBaseUrl } from "./base-url.ts";
import { clockOverHttp, secretsOfCall, triggerOverHttp } from "./control-calls.ts";
import { unusedKeysOverHttp } from "./freshness.ts";
import { type HttpCall, type ParsedTargetFile, targetFileSchema, type webhooksSchema } from "./file-schema.ts";
import {
  type EnvironmentVariables,
  type NetworkPlace,
  networkOf,
  type NetworkSettings,
  secretsOfNetwork,
} from "./network.ts";
import { line } from "../base/line.ts";
import { UsageError } from "../base/usage-error.ts";
import { defaultKeyTraits, type RoleAssignment, type Target, type TargetKey, type WebhookSettings } from "./target.ts";

/**
 * Reads a target file.
 *
 * @throws {UsageError} that says where in the file the error is, and which values are allowed
 */
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

/**
 * Network settings from flags. They take precedence over those of a target file. File names in them are relative to the working directory.
 */
export interface NetworkFlags {
  readonly network: NetworkSettings;
  readonly nameOf: NetworkPlace["nameOf"];
}

const noNetworkFlags: NetworkFlags = { network: {}, nameOf: String };

/** The context in which a target description is parsed. */
export interface ParseContext {
  /** The folder to which file names are relative. */
  readonly folder: string;
  readonly networkFlags: NetworkFlags;
}

export const defaultParseContext: ParseContext = { folder: ".", networkFlags: noNetworkFlags };

/**
 * Creates a target from an object in the form of a target file.
 *
 * @param where the source of the object, for messages.
 * @param context the base folder of file names, and network flags.
 * @throws {UsageError} that says where in the object the error is, and which values are allowed.
 */
export function targetFromObject(
  raw: unknown,
  where: string,
  environment: EnvironmentVariables,
  { folder, networkFlags }: ParseContext = defaultParseContext,
): Target {
  const variables = variablesOfKeys(raw);
  const parsed = targetFileSchema.safeParse(withVariables(raw, where, environment));
  if (!parsed.success) throw new UsageError(line`${where}: ${describeIssues(parsed.error)}`);
  const own = { nameOf: (part: string) => `${where}: network.${part}`, folder };
  const network = mergeNetworks(parsed.data.network ?? {}, own, networkFlags, environment);
  return toTarget(parsed.data, where, variables, network);
}

/** Merges the network settings of flags and of a target file. Flags take precedence. */
function mergeNetworks(
  file: NetworkSettings,
  own: NetworkPlace,
  flags: NetworkFlags,
  environment: EnvironmentVariables,
): Network {
  const ofFlags = networkOf(flags.network, { nameOf: flags.nameOf, folder: "." }, environment);
  const ofFile = networkOf(file, own, environment);
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
 * Replaces `${NAME}` in every string with the value of the environment variable. Leaves `${seconds}` and `${milliseconds}`, which are
 * placeholders for an advance of the clock.
 */
function withVariables(
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
    return value.map((each, index) => withVariables(each, path, environment, [...at, String(index)]));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, each]) => [key, withVariables(each, path, environment, [...at, key])]),
  );
}

/**
 * The environment variable that holds each key, so that `curl` commands can name it. A key that is written in the file itself has no
 * variable.
 */
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
    return `${where} has ${issue.keys.map((key) => JSON.stringify(key)).join(", ")}, which is not known there; allowed: ${allowedAt(issue.path).join(", ")}`;
  });
  return messages.slice(0, 3).join("; ") + (messages.length > 3 ? ` (and ${messages.length - 3} more)` : "");
}

/** The property names that the schema allows at a path of the file. */
function allowedAt(path: readonly PropertyKey[]): string[] {
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
  const keys = Object.fromEntries(
    Object.entries(file.keys).map(([name, key]): [string, TargetKey] => {
      const known = [...tierNames, ...Object.keys(tiers)];
      if (key.tier !== undefined && !known.includes(key.tier))
        throw new UsageError(
          line`${path}: keys.${name}.tier is ${JSON.stringify(key.tier)}; allowed: ${[...new Set(known)].join(", ")}.`,
        );
      return [name, toKey(name, key, variables[name] ?? variableFor(name))];
    }),
  );
  return {
    name: file.name ?? new URL(baseUrl).host,
    baseUrl,
    keys,
    ...parseRoles(file.agents ?? {}),
    tiers,
    clock: file.clock === undefined ? null : clockOverHttp(file.clock, network),
    unusedKeys: file.freshness === undefined ? null : unusedKeysOverHttp(file.freshness, network),
    webhooks: webhooksOf(file.webhooks, baseUrl),
    triggers: Object.fromEntries(
      Object.entries(withoutUndefined(file.triggers ?? {})).map(([event, call]) => [
        event,
        triggerOverHttp(call, network),
      ]),
    ),
    signing: file.signing ?? null,
    paths: openPathsOf(file.paths),
    isDirect: file.direct ?? false,
    network,
    callSecrets: [...new Set([...callsOf(file).flatMap(secretsOfCall), ...secretsOfNetwork(network)])],
  };
}

/** Paths that a target file gives, because the document does not define them. */
export const openPathsOf = (paths: ParsedTargetFile["paths"]): Target["paths"] => ({
  batch: paths?.batch ?? null,
  operation: paths?.operation ?? null,
  execute: paths?.execute ?? null,
});

/** Reads the agents of a target file. An agent is a plain name, or a name with the request that makes it play its role. */
export function parseRoles(
  roles: NonNullable<ParsedTargetFile["agents"]>,
): Pick<Target, "agents" | "roleAssignments" | "agentSource"> {
  const entries = Object.entries(withoutUndefined(roles));
  const agents = Object.fromEntries(entries.filter(([, who]) => typeof who === "string")) as Target["agents"];
  const assignments = entries.flatMap(([role, who]): [string, RoleAssignment][] =>
    typeof who === "string" ? [] : [[role, { agent: who.agent, body: who.body ?? {}, path: who.path ?? null }]],
  );
  return { ...withDefaultStreaming(agents), roleAssignments: Object.fromEntries(assignments) };
}

/**
 * Uses the agent that answers for streams too, unless the user named a streaming agent. If no agent that answers is named, discovery will
 * look for one in the list.
 */
export function withDefaultStreaming(agents: Target["agents"]): Pick<Target, "agents" | "agentSource"> {
  const { answering, streaming } = agents;
  if (answering === undefined) return { agents, agentSource: "found" };
  if (streaming !== undefined) return { agents, agentSource: "named" };
  return { agents: { ...agents, streaming: answering }, agentSource: "named to answer" };
}

const callsOf = ({ clock, freshness, triggers }: ParsedTargetFile): HttpCall[] => [
  ...(clock === undefined ? [] : [clock.advance]),
  ...(freshness === undefined ? [] : [freshness.ask]),
  ...Object.values(withoutUndefined(triggers ?? {})),
];

const anyLoopbackPort = "127.0.0.1:0";

/** The settings of the webhook receiver. If the user gave settings, the user promises that the target can reach the receiver. */
export function webhooksOf(given: z.infer<typeof webhooksSchema> | undefined, baseUrl: string): WebhookSettings | null {
  if (given !== undefined)
    return {
      listen: given.listen ?? anyLoopbackPort,
      publicUrl: given.publicUrl ?? null,
      isReachabilityPromised: true,
    };
  // A server on loopback can most likely reach a receiver on loopback, but the user has not promised it.
  return isLoopback(baseUrl) ? { listen: anyLoopbackPort, publicUrl: null, isReachabilityPromised: false } : null;
}

function toKey(name: string, key: ParsedTargetFile["keys"][string], variable: string): TargetKey {
  return {
    ...defaultKeyTraits,
    signed: key.signingSecret !== undefined,
    ...withoutUndefined(key),
    name,
    key: readKey(key.key, `keys.${name}.key`),
    variable,
  };
}

/** The name of a shell variable for a key that is written in the target file. Commands in the report use this name. */
export const variableFor = (name: string): string => `${name.toUpperCase().replace(/\W+/g, "_")}_KEY`;

/**
 * Checks that a key can be a header value.
 *
 * @throws {UsageError} if the key has white space or other characters that a header cannot contain
 */
export function readKey(key: string, where: string): string {
  if (/^[\x21-\x7e]+$/.test(key)) return key;
  throw new UsageError(
    line`${where} holds white space or characters that a header cannot carry. Check what was pasted.`,
  );
}

const withoutUndefined = <T extends object>(value: T): { [K in keyof T]: Exclude<T[K], undefined> } =>
  Object.fromEntries(Object.entries(value).filter(([, each]) => each !== undefined)) as {
    [K in keyof T]: Exclude<T[K], undefined>;
  };
