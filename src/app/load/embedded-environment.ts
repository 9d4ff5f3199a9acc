import { type Network, plainNetwork } from "../../base/network/network.ts";

import type { TierLimits, TierName } from "../../spec/tiers.ts";
import type { LoadEnvironment, TrialSetup } from "../../load/run-trials.ts";
import type { LoadTrial } from "../../load/trials.ts";
import {
  type PatchName,
  type ReferenceProcess,
  startReferenceProcess,
} from "../../reference/embedded/process/server-process.ts";
import type { Scenario } from "../../load/scenarios.ts";
import { loadStorage, type Receiver, startReceiver } from "../../receiver/receiver.ts";
import { referenceTiers } from "../../reference/keys.ts";

export type ClosableEnvironment = LoadEnvironment & { readonly close: () => Promise<void> };

const deliveryTimeoutMs = 15_000;

export const embeddedLimits = ({ enterpriseLimits }: Scenario, tier: TierName): TierLimits =>
  tier === "enterprise" && enterpriseLimits !== null ? enterpriseLimits : referenceTiers[tier];

export function openEmbeddedEnvironment(patches: readonly PatchName[]): ClosableEnvironment {
  let shared: Promise<ReferenceProcess> | null = null;
  let receiver: Promise<Receiver> | null = null;
  const served = (own: TierLimits | null): Promise<ReferenceProcess> =>
    own === null
      ? (shared ??= startReferenceProcess({ patches }))
      : startReferenceProcess({ patches, tiers: { enterprise: own } });

  const setUp = async ({ scenario, tier }: LoadTrial): Promise<TrialSetup> => {
    const own = tier === "enterprise" ? scenario.enterpriseLimits : null;
    const server = await served(own);
    const limits = server.tiers[tier];
    const speed = scenario.speed(limits);
    await server.setSpeed(speed);
    const fresh = { main: (await server.issueKey(tier)).key, second: (await server.issueKey(tier)).key };
    const needsReceiver = scenario.needs.includes("receiver");
    return {
      target: {
        baseUrl: server.baseUrl,
        keys: fresh,
        tier,
        limits,
        isFresh: true,
        agents: embeddedAgents(server),
        roleRequests: {},
        speed,
        network: plainNetwork,
      },
      instrumentation: {
        receiver: needsReceiver ? await (receiver ??= startLoadReceiver("127.0.0.1:0", null)) : null,
        rssBytes: server.rssBytes,
        deliveryTimeoutMs,
      },
      disturbance: async () => ({}),
      tearDown: async () => {
        if (own !== null) await server.close();
      },
    };
  };

  return {
    target: null,
    skipReason: () => null,
    cooldownMs: () => 0,
    setUp,
    close: async () => {
      await (await shared)?.close();
      await (await receiver)?.close();
    },
  };
}

const embeddedAgents = ({ agents }: ReferenceProcess): TrialSetup["target"]["agents"] => ({
  answering: agents.answering,
  streaming: agents.streaming,
  slow: agents.slow,
  slowStreaming: agents.slowStream,
  failing: agents.failing,
});

export const startLoadReceiver = (
  listen: string,
  publicUrl: string | null,
  network: Network = plainNetwork,
): Promise<Receiver> =>
  startReceiver({
    listen,
    publicUrl,
    network,
    time: { now: () => performance.now(), clockOffsetMs: () => 0, maxClockOffsetMs: () => 0 },
    storage: loadStorage,
  });
