import type { TierName } from "../spec/tiers.ts";
import type { AgentFile } from "./agent-file.ts";
import { agentsByRole } from "./agents.ts";
import { applyPatches, type Behaviour, type Patch } from "./patch.ts";
import { isVirtualClock, systemClock, type Clock } from "./clock.ts";
import {
  keyRing,
  referenceKeys,
  signingSecret,
  type KeyTraits,
  type ReferenceKey,
  referenceTiers,
  type TierTable,
} from "./keys.ts";
import { createApp, type RequestLine } from "./server/app.ts";
import {
  deploy,
  hostAgentFile,
  removeHostedAgent,
  type DeploymentChange,
  type HostingReason,
} from "./server/deployments.ts";
import type { TlsCertificate } from "./server/http.ts";
import { serverState } from "./server/state.ts";
import { addressGuard, isLoopbackHost } from "./webhooks/address-guard.ts";
import { diskStore } from "./webhooks/disk-store.ts";
import type { ReceiverLocation } from "./webhooks/dispatcher.ts";
import { outbox } from "./webhooks/outbox.ts";
import { latestInstantMs, memoryStore } from "./webhooks/store.ts";

export type { RequestLine } from "./server/app.ts";
export type { Patch } from "./patch.ts";
export type { KeyTraits, ReferenceKey, TierTable } from "./keys.ts";
export { maxAgentFileBytes, readAgentFile, type AgentFile } from "./agent-file.ts";
export { agentIdFromName } from "./server/deployments.ts";
export { systemClock, virtualClock, type Clock } from "./clock.ts";

export interface ReferenceOptions {
  readonly host?: string;
  readonly port?: number;
  readonly clock?: Clock;
  readonly patches?: readonly Patch[];
  readonly keys?: readonly ReferenceKey[];
  readonly tiers?: TierTable;
  /** With `none`, requests need no key. All requests without a valid key then share one account. */
  readonly auth?: "keys" | "none";
  /** Token for the control endpoints. Default: none. Then `/control` needs no token, and `/test-control` is off. */
  readonly controlToken?: string | null;
  /** Host names under which `/test-control` works, in addition to loopback names. Default: none. */
  readonly controlHosts?: readonly string[];
  readonly trustedProxies?: readonly string[];
  readonly tls?: TlsCertificate | null;
  /** Folder that keeps webhooks, alerts and deliveries across restarts; created if missing. Default: none. */
  readonly dataFolder?: string | null;
  /**
   * Private addresses, and addresses of this machine, to which the server may send deliveries. Loopback addresses need
   * no entry if the server listens on loopback.
   */
  readonly allowDeliveriesTo?: readonly string[];
  /**
   * The place where the webhook receivers run. A virtual clock waits longer for responses of receivers `anywhere` than
   * for receivers `in-process`. Default: `anywhere`.
   */
  readonly receivers?: ReceiverLocation;
  readonly onRequest?: (line: RequestLine) => void;
}

/** Paths that this server chooses, because the document (Endpoints 10 to 12) shows none for these endpoints. */
const chosenPaths = {
  batch: "/agents/{agent_id}/batch",
  operation: "/agents/{agent_id}/operations",
  /** Path that executes an agent. It is relative to the server's origin; the other paths are relative to `/v1`. */
  execute: "/api/v1/agents/{agent_id}/execute/answer",
} as const;

export interface Reference {
  readonly baseUrl: string;
  readonly keys: readonly ReferenceKey[];
  readonly agents: typeof agentsByRole;
  readonly tiers: TierTable;
  readonly signingSecret: string;
  advance(ms: number): Promise<void>;
  issueKey(tier: TierName, traits?: Partial<KeyTraits>): ReferenceKey;
  /** Random id of this start of the server. A run of the harness notices a restart by the changed id. */
  readonly startId: string;
  readonly startedMs: number;
  readonly auth: "keys" | "none";
  readonly hasVirtualClock: boolean;
  readonly paths: typeof chosenPaths;
  hasAgent(id: string): boolean;
  /** Returns why the server does not deliver to a URL; `null` if it does. Does not resolve host names. */
  addressRefusal(url: string): string | null;
  hostAgent(file: AgentFile, id: string, reason: HostingReason): void;
  removeAgent(id: string): void;
  deploy(change: DeploymentChange): void;
  close(): Promise<void>;
}

/** Treats every request without a valid key as a request with the key of the largest tier. */
const withoutKeys = (base: Behaviour): Behaviour => ({
  ...base,
  identify: (credentials, ring, nowMs, endpoint) => {
    const found = base.identify(credentials, ring, nowMs, endpoint);
    const shared = ring.keys.find(({ tier, scope }) => tier === "enterprise" && scope === "full");
    return found.kind === "known" || shared === undefined ? found : { kind: "known", key: shared };
  },
});

export async function startReference(options: ReferenceOptions = {}): Promise<Reference> {
  const { host = "127.0.0.1", port = 0, clock = systemClock(), patches = [], tiers = referenceTiers } = options;
  const { dataFolder = null, allowDeliveriesTo = [], receivers = "anywhere" } = options;
  const guard = addressGuard({ allowsLoopback: isLoopbackHost(host), allowed: allowDeliveriesTo });
  const store = dataFolder === null ? memoryStore() : diskStore(dataFolder);
  // Advances a virtual clock to the latest time in the stored state, so that time does not go backwards after a
  // restart.
  if (dataFolder !== null && isVirtualClock(clock))
    await clock.advance(Math.max(0, latestInstantMs(store.load()) - clock.now()));
  const { auth = "keys" } = options;
  const patched = applyPatches(patches);
  const behaviour = auth === "none" ? withoutKeys(patched) : patched;
  const initialKeys = options.keys ?? referenceKeys;
  const ring = keyRing(initialKeys, (text) => behaviour.keyText(text), clock.now());
  const { controlToken = null, trustedProxies = [], tls = null } = options;
  const controlHosts = (options.controlHosts ?? []).map((name) => name.toLowerCase());
  const deliveries = outbox({ clock, behaviour, store, guard, receivers });
  const control = { controlToken, controlHosts };
  const parts = { clock, behaviour, ring, tiers, ...control, trustedProxies, outbox: deliveries, records: store };
  const state = serverState(parts);
  const app = await createApp(state, options.onRequest ?? null, tls);
  const close = async () => {
    await app.close();
    await deliveries.close();
  };
  const listening = await app.listen({ host, port }).catch(async (error: unknown) => {
    await close();
    throw error;
  });
  const origin = tls === null ? listening : listening.replace(/^http:/, "https:");
  return {
    baseUrl: `${origin}/v1`,
    get keys() {
      return ring.keys;
    },
    agents: agentsByRole,
    tiers,
    signingSecret,
    advance: async (ms) => {
      if (!isVirtualClock(clock))
        throw new Error("This server runs on the machine's clock: start it on a virtual one.");
      await clock.advance(ms, () => deliveries.whenIdle());
    },
    startId: state.startId,
    startedMs: state.startedMs,
    hasVirtualClock: isVirtualClock(clock),
    auth,
    paths: chosenPaths,
    hasAgent: (id) => state.agents.has(id),
    addressRefusal: (url) => deliveries.addressRefusal(url),
    hostAgent: (file, id, reason) => hostAgentFile(state, file, id, reason),
    removeAgent: (id) => removeHostedAgent(state, id),
    issueKey: (tier, traits = {}) => ring.issue(tier, traits, clock.now()),
    deploy: (change) => void deploy(state, change),
    close,
  };
}
