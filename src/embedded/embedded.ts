import type { TierLimits } from "../interface/tiers.ts";
import type { ReferenceKey } from "../reference/keys.ts";
import type { Patch } from "../reference/patch.ts";
import { type Reference, startReference, virtualClock } from "../reference/reference.ts";
import { variableFor } from "../target/file.ts";
import type { Target, TargetKey } from "../target/target.ts";

/** The embedded reference server, on a virtual clock, and how a run sees it: as a target like any other. */
export interface Embedded {
  readonly target: Target;
  readonly close: () => Promise<void>;
}

/** Starts the reference server on a free loopback port, with faults and variants applied. */
export async function startEmbedded(patches: readonly Patch[] = []): Promise<Embedded> {
  const reference = await startReference({ clock: virtualClock(), patches });
  return { target: targetOf(reference), close: () => reference.close() };
}

function targetOf(reference: Reference): Target {
  const tiers: Record<string, TierLimits> = { enterprise: reference.tiers.enterprise };
  return {
    name: "embedded reference server",
    baseUrl: reference.baseUrl,
    keys: Object.fromEntries(reference.keys.filter(isOfUse).map((key) => [key.name, toTargetKey(key)])),
    agents: { ...reference.agents, slowStreaming: reference.agents.slowStream },
    agentSource: "named",
    tiers,
    clock: { advance: (ms) => reference.advance(ms) },
  };
}

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
