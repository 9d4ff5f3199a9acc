import type { TierLimits } from "../interface/tiers.ts";
import {
  type AgentRole,
  agentRoles,
  type ClockControl,
  type Target,
  type TargetKey,
  usableKeys,
} from "../target/target.ts";
import { limitsOf } from "./tier-of.ts";

/** A key with a known tier, whose limits can be put to the test. */
export interface TierUnderTest {
  readonly tier: string;
  readonly key: TargetKey;
  readonly limits: TierLimits;
}

/** What a probe can ask of a target, and what it is then given. */
export type GivenByNeed = { readonly [R in AgentRole as `agents.${R}`]: string } & {
  readonly "keys.expired": TargetKey;
  readonly "keys.second": TargetKey;
  readonly clock: ClockControl;
};

export type Need = keyof GivenByNeed;

export type Given<N extends Need> = { readonly [K in N]: GivenByNeed[K] };

export type Resolution =
  | { readonly kind: "given"; readonly given: Partial<GivenByNeed> }
  | { readonly kind: "missing"; readonly need: Need; readonly hint: string };

/** Looks up what a probe needs; where something is missing, says which line of the target file would enable it. */
export function resolveNeeds(needs: readonly Need[], target: Target): Resolution {
  const given: Record<string, unknown> = {};
  for (const need of needs) {
    const found = lookUp(need, target);
    if (found === null) return { kind: "missing", need, hint: hintFor(need) };
    given[need] = found;
  }
  return { kind: "given", given };
}

function lookUp(need: Need, target: Target): unknown {
  if (need === "clock") return target.clock;
  if (need === "keys.expired") return Object.values(target.keys).find((key) => key.expired) ?? null;
  if (need === "keys.second") return secondKey(target);
  return target.agents[need.slice("agents.".length) as AgentRole] ?? null;
}

/** The key with the most room is the run's main key; it answers every probe that does not name another. */
export function mainKey(target: Target): TargetKey | null {
  const room = (key: TargetKey): number => limitsOf(key, target)?.perMinute ?? 0;
  return usableKeys(target).toSorted((a, b) => room(b) - room(a))[0] ?? null;
}

function secondKey(target: Target): TargetKey | null {
  const main = mainKey(target);
  return usableKeys(target).find((key) => key.name !== main?.name && key.key !== main?.key) ?? null;
}

/** One key for each tier whose numbers are known. */
export function tiersUnderTest(target: Target): TierUnderTest[] {
  const found = new Map<string, TierUnderTest>();
  for (const key of usableKeys(target)) {
    const limits = limitsOf(key, target);
    if (limits !== null && key.tier !== null && !found.has(key.tier))
      found.set(key.tier, { tier: key.tier, key, limits });
  }
  return [...found.values()];
}

export function hintFor(need: Need): string {
  if (need === "clock") return "`clock.advance` in the target file: a call that moves the target's clock";
  if (need === "keys.expired") return 'a key with `"expired": true` under `keys` in the target file';
  if (need === "keys.second") return "a second valid key under `keys` in the target file";
  const role = need.slice("agents.".length) as AgentRole;
  return `\`${need}\` in the target file: an agent that ${agentRoles[role]}`;
}
