import type { TierName } from "../spec/tiers.ts";
import type { AgentFile } from "./agent-file.ts";
import { agentsByRole } from "./agents.ts";
import type { Behaviour } from "./behaviour/behaviour.ts";
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
import { applyPatches, type Patch } from "./patch.ts";
import { createApp, type RequestLine } from "./server/app.ts";
import {
  deploy,
  hostAgentFile,
  removeHostedAgent,
  type DeploymentChange,
  type HostingReason,
} from "./server/deployments.ts";
import type { TlsFiles } from "./server/http.ts";
import { serverState } from "./server/state.ts";
import { addressGuard, listensOnLoopback } from "./webhooks/address-guard.ts";
import { diskStore } from "./webhooks/disk-store.ts";
import type { ReceiverLocation } from "./webhooks/dispatcher.ts";
import { outbox } from "./webhooks/outbox.ts";
import { latestInstantMs, memoryStore } from "./webhooks/store.ts";

export type { RequestLine } from "./server/app.ts";
export type { Patch } from "./patch.ts";
export type { KeyTraits, ReferenceKey } from "./keys.ts";
export type { TierTable } from "./keys.ts";
export { maxAgentFileBytes as mostAgentFileBytes, readAgentFile, type AgentFile } from "./agent-file.ts";
export { agentIdFromName as generatedId } from "./server/deployments.ts";
export { systemClock as realClock, virtualClock, type Clock } from "./clock.ts";

/** Options of a reference server. Every option has a default. */
export interface ReferenceOptions {
  /** The address to listen on. Default: `127.0.0.1`. */
  readonly host?: string;
  /** The port to listen on. Default: 0, which means any free port. */
  readonly port?: number;
  /** The server's source of time. Default: the machine's clock. */
  readonly clock?: Clock;
  /** Faults and variants, applied in order. */
  readonly patches?: readonly Patch[];
  readonly keys?: readonly ReferenceKey[];
  readonly tiers?: TierTable;
  /** Whether requests need a key; with `none`, all requests without a valid key share one account. */
  readonly auth?: "keys" | "none";
  /** Token that callers must send to move the clock or change a deployment. Default: none. */
  readonly controlToken?: string | null;
  /** Host names, other than loopback, under which the test control is on. Default: none. */
  readonly controlHosts?: readonly string[];
  /** IP addresses and CIDRs of proxies whose forwarding headers are trusted. Default: none. */
  readonly trustedProxies?: readonly string[];
  /** Certificate chain and key for HTTPS, both PEM. Default: the server speaks HTTP. */
  readonly tls?: TlsFiles | null;
  /** Folder that keeps webhooks, alerts and deliveries across restarts; created if missing. Default: none. */
  readonly dataFolder?: string | null;
  /** Non-public addresses and CIDRs that get deliveries. A server on loopback always allows loopback. */
  readonly allowDeliveriesTo?: readonly string[];
  /** Location of the receivers; a virtual clock waits longer for those elsewhere. Default: `anywhere`. */
  readonly receivers?: ReceiverLocation;
  /** Called for each request after its response has ended. */
  readonly onRequest?: (line: RequestLine) => void;
}

/** Paths of the endpoints for which the document shows no path. Source: Endpoints 10 to 12. */
const undocumentedPaths = {
  /** Path of a batch, relative to the base URL. */
  batch: "/agents/{agent_id}/batch",
  /** Path for starting an operation, relative to the base URL. The request has the body of an invoke. */
  operation: "/agents/{agent_id}/operations",
  /** Path of an entrypoint, relative to the server's origin. */
  execute: "/api/v1/agents/{agent_id}/execute/answer",
} as const;

/** A running reference server, and the functions that control it. */
export interface Reference {
  /** The base URL, which ends in `/v1` without a slash after it. */
  readonly baseUrl: string;
  readonly keys: readonly ReferenceKey[];
  readonly agents: typeof agentsByRole;
  readonly tiers: TierTable;
  /** The secret for the signatures of requests. */
  readonly signingSecret: string;
  /** Moves the virtual clock and runs all due timers; rejects if the server has the machine's clock. */
  advance(ms: number): Promise<void>;
  /** Issues a new key of a tier, with the given restrictions. */
  issueKey(tier: TierName, traits?: Partial<KeyTraits>): ReferenceKey;
  /** A random id of the current start of the server. A new id tells a run that the server has restarted. */
  readonly startId: string;
  /** When the server started, in Unix milliseconds of its clock. */
  readonly startedMs: number;
  /** Whether requests need a key. */
  readonly auth: "keys" | "none";
  /** Whether the clock is virtual: it moves only when it is advanced. */
  readonly hasVirtualClock: boolean;
  /** Paths of the endpoints for which the document shows no path. `{agent_id}` stands for an agent. */
  readonly paths: typeof undocumentedPaths;
  /** Whether an agent with this id is in service. */
  hasAgent(id: string): boolean;
  /** Returns why the server does not deliver to a URL, or `null`; does not resolve host names. */
  addressRefusal(url: string): string | null;
  /** Puts the agent of a configuration file into service, in place of an earlier agent with this id. */
  hostAgent(file: AgentFile, id: string, reason: HostingReason): void;
  /** Takes an agent out of service. */
  removeAgent(id: string): void;
  /** Changes a deployment, as `POST /control/deployments` does. Does nothing if the agent does not exist. */
  deploy(change: DeploymentChange): void;
  /** Ends the server at once, with all open streams. */
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

/** Starts a server; rejects if the address, the data folder or another option cannot be used. */
export async function startReference(options: ReferenceOptions = {}): Promise<Reference> {
  const { host = "127.0.0.1", port = 0, clock = systemClock(), patches = [], tiers = referenceTiers } = options;
  const { dataFolder = null, allowDeliveriesTo = [], receivers = "anywhere" } = options;
  const guard = addressGuard({ allowsLoopback: listensOnLoopback(host), allowed: allowDeliveriesTo });
  const store = dataFolder === null ? memoryStore() : diskStore(dataFolder);
  // If the folder has stored state, sets a virtual clock to the latest time in that state.
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
    paths: undocumentedPaths,
    hasAgent: (id) => state.agents.has(id),
    addressRefusal: (url) => deliveries.addressRefusal(url),
    hostAgent: (file, id, reason) => hostAgentFile(state, file, id, reason),
    removeAgent: (id) => removeHostedAgent(state, id),
    issueKey: (tier, traits = {}) => ring.issue(tier, traits, clock.now()),
    deploy: (change) => void deploy(state, change),
    close,
  };
}
