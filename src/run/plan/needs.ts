import { type WebhookEvent, webhookEvents } from "../../spec/events-and-errors.ts";
import { publishedTiers, type TierLimits } from "../../spec/tiers.ts";
import type { Receiver } from "../../receiver/receiver.ts";
import {
  type AgentRole,
  agentRoles,
  type ClockControl,
  type OpenPaths,
  type RoleAssignment,
  keyToSignFor,
  roleAssignmentOf,
  type RequestRole,
  isRequestRole,
  type Target,
  type TargetKey,
  usableKeys,
} from "../../target/target.ts";
import { inclusionOfThisMachine } from "../../target/source-address.ts";
import { limitsOf } from "./key-limits.ts";

export interface TierUnderTest {
  readonly tier: string;
  readonly key: TargetKey;
  readonly limits: TierLimits;
  readonly siblingKey: TargetKey | null;
}

/** Whether a key is of a special kind. `elsewhere`: no known address of this machine is in the key's `allowedIps`. */
const keyKinds = {
  expired: ({ expired }) => expired,
  temporary: (key) => !key.expired && key.expiresInSeconds !== null,
  readOnly: (key) => !key.expired && key.scope !== null,
  oneAgent: (key) => !key.expired && key.agents !== null,
  elsewhere: (key) => !key.expired && key.allowedIps !== null && inclusionOfThisMachine(key.allowedIps) !== "included",
  nearQuota: (key) => !key.expired && (key.nearQuota || key.tokensPerMonth !== null),
} as const satisfies Record<string, (key: TargetKey) => boolean>;
type KeyKind = keyof typeof keyKinds;

/** Everything that a probe can need from a target, with the type of the value that the probe gets. */
type ValueByNeed = {
  readonly [R in AgentRole as `agents.${R}`]: R extends RequestRole ? RoleAssignment : string;
} & {
  readonly [K in KeyKind as `keys.${K}`]: TargetKey;
} & { readonly [E in WebhookEvent as `triggers.${E}`]: () => Promise<void> } & {
  readonly "keys.second": TargetKey;
  readonly clock: ClockControl;
  readonly receiver: Receiver;
  /** The secret with which the harness signs requests. */
  readonly signing: string;
  readonly "paths.batch": string;
  readonly "paths.start": OpenPaths;
  readonly "paths.execute": string;
};

export type Need = keyof ValueByNeed;

export type ResolvedNeeds<N extends Need> = { readonly [K in N]: ValueByNeed[K] };

type NeedValue = Exclude<ValueByNeed[Need], Receiver>;

type NeedResolution =
  | { readonly kind: "given"; readonly given: Readonly<Record<string, NeedValue>> }
  | { readonly kind: "missing"; readonly need: Need };

/** Finds the value of each need in the target. Stops at the first need that the target does not meet. */
export function resolveNeeds(needs: readonly Need[], target: Target): NeedResolution {
  const given: Record<string, NeedValue> = {};
  for (const need of needs) {
    const found = resolverByNeed[need](target);
    if (found === null) return { kind: "missing", need };
    given[need] = found;
  }
  return { kind: "given", given };
}

type NeedResolver = (target: Target) => NeedValue | null;

const resolversByName = <N extends string>(
  names: readonly N[],
  prefix: string,
  lookUp: (name: N) => NeedResolver,
): Record<string, NeedResolver> => Object.fromEntries(names.map((name) => [`${prefix}.${name}`, lookUp(name)]));

const namesOf = <T extends object>(table: T): (keyof T & string)[] => Object.keys(table) as (keyof T & string)[];

const resolverByNeed = {
  ...resolversByName(
    namesOf(agentRoles),
    "agents",
    (role) => (target) => (isRequestRole(role) ? roleAssignmentOf(target, role) : (target.agents[role] ?? null)),
  ),
  ...resolversByName(
    namesOf(keyKinds),
    "keys",
    (kind) => (target) => Object.values(target.keys).find(keyKinds[kind]) ?? null,
  ),
  "keys.nearQuota": keyNearQuota,
  ...resolversByName(webhookEvents, "triggers", (event) => (target) => target.triggers[event] ?? null),
  "keys.second": secondKey,
  clock: (target) => target.clock,
  receiver: (target) => target.webhooks?.listen ?? null,
  signing: (target) => keyToSignFor(target)?.signingSecret ?? target.signing?.secret ?? null,
  "paths.batch": (target) => target.paths.batch,
  "paths.start": ({ paths }) => (paths.batch === null && paths.operation === null ? null : paths),
  "paths.execute": (target) => target.paths.execute,
} as Record<Need, NeedResolver>;

type KeyNeed = Extract<Need, `keys.${string}`>;

export const isKeyNeed = (need: Need): need is KeyNeed => need.startsWith("keys.");

export function resolveKey(need: KeyNeed, target: Target): TargetKey | null {
  const found = resolverByNeed[need](target);
  return typeof found === "object" && found !== null && "name" in found ? found : null;
}

export function mainKey(target: Target): TargetKey | null {
  const perMinuteOf = (key: TargetKey): number => limitsOf(key, target)?.perMinute ?? 0;
  return usableKeys(target).toSorted((a, b) => perMinuteOf(b) - perMinuteOf(a))[0] ?? null;
}

/**
 * Returns a key that the target file marks as `nearQuota`: its monthly tokens are nearly used up. Without such a key,
 * returns one with a token limit of its own, even if most of its tokens are left.
 */
function keyNearQuota(target: Target): TargetKey | null {
  const keys = Object.values(target.keys).filter(keyKinds.nearQuota);
  return keys.find(({ nearQuota }) => nearQuota) ?? keys[0] ?? null;
}

function secondKey(target: Target): TargetKey | null {
  const main = mainKey(target);
  const others = usableKeys(target).filter((key) => key.name !== main?.name && key.key !== main?.key);
  return untestedFirst(others, target)[0] ?? null;
}

export function untestedFirst(keys: readonly TargetKey[], target: Target): TargetKey[] {
  const tested = new Set(tiersUnderTest(target).map(({ key }) => key.key));
  return keys.toSorted((one, other) => Number(tested.has(one.key)) - Number(tested.has(other.key)));
}

const fewRequestsPerMinute = 2 * publishedTiers.free.perMinute;

/**
 * Whether the main key's limit per minute is at most 20 (twice the free tier's), or unknown. `false` with a test clock,
 * because the harness can then advance to the next minute at once.
 */
export function hasFewRequests(target: Target): boolean {
  const main = mainKey(target);
  return target.clock === null && main !== null && (limitsOf(main, target)?.perMinute ?? 0) <= fewRequestsPerMinute;
}

export function tiersUnderTest(target: Target): TierUnderTest[] {
  const tiers = new Map<string, TierUnderTest>();
  const usable = usableKeys(target);
  for (const key of usable) {
    const limits = limitsOf(key, target);
    if (limits === null || key.tier === null || tiers.has(key.tier)) continue;
    const siblingKey = usable.find((each) => each.tier === key.tier && each.key !== key.key) ?? null;
    tiers.set(key.tier, { tier: key.tier, key, limits, siblingKey });
  }
  return [...tiers.values()];
}
