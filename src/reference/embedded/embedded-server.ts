import type { TierLimits } from "../../spec/tiers.ts";
import { newAgentId as agentId } from "../agents.ts";
import { loopbackSources } from "../behaviour/deliveries.ts";
import type { ReferenceKey } from "../keys.ts";
import type { Patch } from "../patch.ts";
import { type Reference, startReference, virtualClock } from "../reference.ts";
import { variableFor } from "../../target/target-file.ts";
import { defaultKeyTraits, defaultTargetTraits, noKey, type Target, type TargetKey } from "../../target/target.ts";

export interface EmbeddedServer {
  readonly target: Target;
  readonly close: () => Promise<void>;
}

export async function startEmbedded(patches: readonly Patch[] = []): Promise<EmbeddedServer> {
  const reference = await startReference({ clock: virtualClock(), patches, receivers: "in-process" });
  return { target: targetOf(reference), close: () => reference.close() };
}

export function targetOf(reference: Reference): Target {
  const sources = { addresses: loopbackSources, header: null };
  const tiers: Record<string, TierLimits> = { enterprise: reference.tiers.enterprise };
  return {
    ...defaultTargetTraits,
    name: "embedded reference server",
    baseUrl: reference.baseUrl,
    keys:
      reference.auth === "none"
        ? { [noKey.name]: noKey }
        : Object.fromEntries(reference.keys.map((key) => [key.name, toTargetKey(key)])),
    auth: reference.auth,
    agents: { ...reference.agents, slowStreaming: reference.agents.slowStream },
    agentSource: "named",
    tiers,
    clock: reference.hasVirtualClock
      ? { advance: (ms) => reference.advance(ms), settleMs: 0, agentsFollow: true }
      : null,
    webhooks: { listen: "127.0.0.1:0", publicUrl: null, isReachabilityPromised: true, sources },
    triggers: {
      "deployment.created": async () => reference.deploy({ kind: "created", agentId }),
      "deployment.updated": async () => reference.deploy({ kind: "updated", agentId: reference.agents.webhooked }),
      "deployment.health_changed": async () =>
        reference.deploy({ kind: "health_changed", agentId: reference.agents.webhooked, health: "degraded" }),
      "deployment.deleted": async () => reference.deploy({ kind: "deleted", agentId }),
    },
    signing: { secret: reference.signingSecret },
    paths: reference.paths,
    isDirect: true,
  };
}

function toTargetKey({ scope, expiresInSeconds, tokensUsedBefore, ...key }: ReferenceKey): TargetKey {
  const isExpired = expiresInSeconds === 0;
  return {
    ...defaultKeyTraits,
    ...key,
    variable: variableFor(key.name),
    expired: isExpired,
    scope: scope === "full" ? null : scope,
    expiresInSeconds: isExpired ? null : expiresInSeconds,
    nearQuota: tokensUsedBefore > 0,
    fresh: true,
  };
}
