import { plainNetwork } from "../../base/network/network.ts";
import { performance } from "node:perf_hooks";

import type { TierLimits, TierName } from "../../interface/tiers.ts";
import type { Ground, Stage } from "../../load/conduct.ts";
import type { LoadTrial } from "../../load/conduct-trials.ts";
import { type PatchName, type ServedReference, startServed } from "../../embedded/process/served.ts";
import type { Scenario } from "../../../scenarios/scenario.ts";
import { ofLoad, type Receiver, startReceiver } from "../../receiver/receiver.ts";
import { referenceTiers } from "../../reference/keys.ts";

export interface EmbeddedGround extends Ground {
  readonly close: () => Promise<void>;
}

/** Real time in which deliveries that are still missing may come. */
const deliveriesWithinMs = 15_000;

/** What the tier's numbers are under a scenario on the embedded server. */
export const embeddedLimits = ({ enterprise }: Scenario, tier: TierName): TierLimits =>
  tier === "enterprise" && enterprise !== null ? enterprise : referenceTiers[tier];

/** The embedded server in a process of its own, with fresh keys for every trial. It starts with the first trial. */
export function openEmbeddedGround(patches: readonly PatchName[]): EmbeddedGround {
  let shared: Promise<ServedReference> | null = null;
  let receiver: Promise<Receiver> | null = null;
  const served = (own: TierLimits | null): Promise<ServedReference> =>
    own === null ? (shared ??= startServed({ patches })) : startServed({ patches, tiers: { enterprise: own } });

  const open = async ({ scenario, tier }: LoadTrial): Promise<Stage> => {
    const own = tier === "enterprise" ? scenario.enterprise : null;
    const server = await served(own);
    const limits = server.tiers[tier];
    const speed = scenario.speed(limits);
    await server.setSpeed(speed);
    const fresh = { main: (await server.freshKey(tier)).key, second: (await server.freshKey(tier)).key };
    const needsReceiver = scenario.needs.includes("receiver");
    return {
      parts: {
        baseUrl: server.baseUrl,
        keys: fresh,
        tier,
        limits,
        isFresh: true,
        agents: agentsOf(server),
        players: {},
        speed,
        network: plainNetwork,
      },
      surroundings: {
        receiver: needsReceiver ? await (receiver ??= listenHere()) : null,
        rssBytes: server.rssBytes,
        deliveriesWithinMs,
      },
      end: async () => {
        if (own !== null) await server.close();
      },
    };
  };

  return {
    lack: () => null,
    restMs: () => 0,
    open,
    close: async () => {
      await (await shared)?.close();
      await (await receiver)?.close();
    },
  };
}

const agentsOf = ({ agents }: ServedReference): Stage["parts"]["agents"] => ({
  answering: agents.answering,
  streaming: agents.streaming,
  slow: agents.slow,
  slowStreaming: agents.slowStream,
  failing: agents.failing,
});

const listenHere = (): Promise<Receiver> =>
  startReceiver({
    listen: "127.0.0.1:0",
    publicUrl: null,
    time: { now: () => performance.now(), clockMs: () => 0, clockAtMostMs: () => 0 },
    most: ofLoad,
  });
