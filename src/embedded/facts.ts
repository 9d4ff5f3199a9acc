import type { TierLimits } from "../interface/tiers.ts";
import type { ReferenceKey } from "../reference/keys.ts";
import type { Reference } from "../reference/reference.ts";
import { variableFor } from "../target/file.ts";
import type { AgentRole, ClockControl, Target, TargetKey } from "../target/target.ts";

/** What a harness needs to know of a reference server: plain data, so that it can cross from one thread to another. */
export interface ServerFacts {
  readonly baseUrl: string;
  readonly keys: readonly TargetKey[];
  readonly agents: Partial<Readonly<Record<AgentRole, string>>>;
  readonly enterprise: TierLimits;
}

export const factsOf = (reference: Reference): ServerFacts => ({
  baseUrl: reference.baseUrl,
  keys: reference.keys.filter(isOfUse).map(toTargetKey),
  agents: { ...reference.agents, slowStreaming: reference.agents.slowStream },
  enterprise: reference.tiers.enterprise,
});

export const targetOf = ({ baseUrl, keys, agents, enterprise }: ServerFacts, clock: ClockControl): Target => ({
  name: "embedded reference server",
  baseUrl,
  keys: Object.fromEntries(keys.map((key) => [key.name, key])),
  agents,
  agentSource: "named",
  tiers: { enterprise },
  clock,
});

/** The key whose tokens are nearly used up would make every probe that is given it fail. */
const isOfUse = ({ name }: ReferenceKey): boolean => name !== "quota";

function toTargetKey(key: ReferenceKey): TargetKey {
  const isExpired = key.expiresInSeconds === 0;
  const isRestricted =
    key.scope !== "full" || key.agents !== null || key.allowedIps !== null || (key.expiresInSeconds ?? 0) > 0;
  return {
    name: key.name,
    key: key.key,
    tier: key.tier,
    isTierShown: false,
    variable: variableFor(key.name),
    expired: isExpired,
    restriction: isRestricted ? "restricted" : null,
    fresh: true,
  };
}
