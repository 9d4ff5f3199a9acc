import { isLoopback } from "../../base/network/network.ts";
import { mainKey, resolveKey } from "../../run/plan/needs.ts";
import { type Enabler, need } from "../../run/skip-reason.ts";
import { type Dimension, dimensions } from "../../spec/dimensions.ts";
import {
  type AgentRole,
  agentRoles,
  isRequestRole,
  type RoleAssignment,
  roleAssignmentOf,
  type Target,
  type TargetKey,
  usableKeys,
} from "../../target/target.ts";

const keyNeeds = {
  "read-only": "keys.readOnly",
  "one agent": "keys.oneAgent",
  "near quota": "keys.nearQuota",
  expired: "keys.expired",
  outlived: "keys.temporary",
  "other address": "keys.elsewhere",
} as const;

const isNamedKind = (kind: string): kind is keyof typeof keyNeeds => Object.hasOwn(keyNeeds, kind);

export const keyOfKind = (kind: string, target: Target): TargetKey | null =>
  isNamedKind(kind)
    ? resolveKey(keyNeeds[kind], target)
    : (usableKeys(target).find(({ tier }) => tier === kind) ?? null);

export const derivedKeyKinds: readonly string[] = dimensions.key.refused.filter((kind) => !isNamedKind(kind));

export const isRejectedKeyKind = (kind: string): boolean => dimensions.key.refused.some((each) => each === kind);

export const validKeyKinds = (target: Target): string[] => {
  const tiers = usableKeys(target).flatMap(({ tier }) => tier ?? []);
  return [...new Set([...tiers, "read-only", "one agent"])].filter(
    (kind) => missingSettingFor("key", kind, target) === null,
  );
};

/**
 * Returns a key to send in URLs; `null` if the target has none. A target that is not on this machine gets only a
 * disposable key, because URLs are often logged.
 */
export const keyForUrl = (target: Target): TargetKey | null =>
  isLoopback(target.baseUrl) ? mainKey(target) : (usableKeys(target).find(({ disposable }) => disposable) ?? null);

/**
 * Returns the setting that a request with this value needs and the target lacks, e.g. a test clock. `null` if the target
 * lacks nothing.
 */
export function missingSettingFor(dimension: Dimension, value: string, target: Target): Enabler | null {
  if (dimension === "endpoint") return value === "batch" && target.paths.batch === null ? need("paths.batch") : null;
  if (dimension === "key") return missingKey(value, target);
  if (dimension === "agent") return missingAgent(value, target);
  if (dimension === "query" && value !== "none" && value !== "plain" && hasFixedQuery(target)) return queryOfHarness;
  return dimension === "state" && value !== "fresh" ? missingState(value, target) : null;
}

const queryOfHarness = "`{query}` in the `query` of `agents` in the target file";

const hasFixedQuery = ({ ownRequests }: Target): boolean =>
  ownRequests.some(({ body: { query } }) => typeof query === "string" && !query.includes("{query}"));

function missingKey(kind: string, target: Target): Enabler | null {
  if (target.auth === "none") return "a target that asks for keys";
  if (kind === "in the query" && keyForUrl(target) === null)
    return 'a key with `"disposable": true` in the target file, or a target on loopback: a URL ends in logs';
  if (kind === "outlived" && target.clock === null) return need("clock");
  if (derivedKeyKinds.includes(kind) || keyOfKind(kind, target) !== null) return null;
  return isNamedKind(kind) ? need(keyNeeds[kind]) : `\`keys\` in the target file: a key of the tier ${kind}`;
}

function missingState(state: string, target: Target): Enabler | null {
  if (state === "tokens spent") return resolveKey("keys.nearQuota", target) === null ? need("keys.nearQuota") : null;
  if (state === "slots held" && roleAssignmentOf(target, "slow") === null) return need("agents.slow");
  return state === "minute used up" || target.clock !== null ? null : need("clock");
}

const isRole = (value: string): value is AgentRole => Object.hasOwn(agentRoles, value);

export function agentOfRole(value: string, target: Target): string | RoleAssignment | null {
  if (!isRole(value)) return null;
  return isRequestRole(value) ? roleAssignmentOf(target, value) : (target.agents[value] ?? null);
}

const missingAgent = (value: string, target: Target): Enabler | null =>
  value === "none" || value === "unknown" || !isRole(value) || agentOfRole(value, target) !== null
    ? null
    : need(`agents.${value}`);
