import { patchesByName } from "../reference/catalogue.ts";
import { type TierName, tierNames } from "../spec/tiers.ts";
import {
  type KeyTraits,
  type Reference,
  type ReferenceKey,
  type RequestLine,
  systemClock,
  startReference,
  virtualClock,
} from "../reference/reference.ts";
import type { DeploymentChange } from "../reference/server/deployments.ts";
import type { Target } from "../target/target.ts";
import { targetOf } from "../reference/embedded/embedded-server.ts";
import { withoutUndefined } from "../base/json.ts";
import { line, UsageError } from "../base/line.ts";

/** Options of the reference server. Every option has a default. */
export interface ServerOptions {
  /** Address to listen on. Default: `127.0.0.1`. */
  readonly host?: string;
  /** Port to listen on. Default: 0, which takes any free port. */
  readonly port?: number;
  /** The server's clock. Only {@link ReferenceServer.advance} advances a `virtual` clock. Default: `machine`. */
  readonly clock?: "machine" | "virtual";
  /** Names of {@link faults} to apply, in this order. A fault makes the server break clauses on purpose. */
  readonly faults?: readonly string[];
  /** Names of {@link variants} to apply: legal behaviours that differ from the default. */
  readonly variants?: readonly string[];
  /** Called when a response has ended: it was sent, or its connection closed before (`left`). */
  readonly onRequest?: (line: RequestLine) => void;
}

/** A running reference server. With `await using`, the server stops at the end of the block. */
export interface ReferenceServer extends AsyncDisposable {
  /** Base URL of the server, which ends in `/v1`. */
  readonly baseUrl: string;
  /** One API key of each tier, without restrictions. */
  readonly keys: Readonly<Record<TierName, string>>;
  /** All API keys of the server with their traits, including expired and restricted keys. */
  readonly allKeys: readonly ReferenceKey[];
  /** Ids of agents by role: `answering`, `failing`, `slow`, … */
  readonly agents: Reference["agents"];
  /** The secret with which clients sign requests. */
  readonly signingSecret: string;
  /** The server's time, in Unix milliseconds. */
  now(): number;
  /** Advances a virtual clock by at most ten years; rejects for other clocks. Resolves when all due timers have run. */
  advance(ms: number): Promise<void>;
  /** Creates a new API key. Without `traits`, the key never expires and has no restrictions. */
  issueKey(tier: TierName, traits?: Partial<KeyTraits>): ReferenceKey;
  /** Creates, updates or deletes a deployment, or changes its health, which causes webhook deliveries. */
  deploy(change: DeploymentChange): void;
  /** Stops the server at once, including open streams. */
  stop(): Promise<void>;
}

const referencesOfServers = new WeakMap<ReferenceServer, Reference>();

/**
 * Starts the reference server, as `conformance serve` does, by default on loopback.
 * @throws {UsageProblem} if a fault or variant is unknown
 */
export async function startServer(options: ServerOptions = {}): Promise<ReferenceServer> {
  const { faults = [], variants = [], host, port, onRequest } = options;
  const clock = options.clock === "virtual" ? virtualClock() : systemClock();
  const reference = await startReference({
    clock,
    patches: patchesByName(faults, variants),
    ...withoutUndefined({ host, port, onRequest }),
  });
  const server: ReferenceServer = {
    baseUrl: reference.baseUrl,
    keys: keysByTier(reference.keys),
    get allKeys() {
      return reference.keys;
    },
    agents: reference.agents,
    signingSecret: reference.signingSecret,
    now: () => clock.now(),
    advance: async (ms) => reference.advance(validateAdvanceMs(ms)),
    issueKey: (tier, traits) => reference.issueKey(tier, traits),
    deploy: (change) => reference.deploy(change),
    stop: () => reference.close(),
    [Symbol.asyncDispose]: () => reference.close(),
  };
  referencesOfServers.set(server, reference);
  return server;
}

/** Maximum advance of a virtual clock: ten years, which is longer than every rate-limit window. */
const maxAdvanceMs = 10 * 365.25 * 86_400_000;

function validateAdvanceMs(ms: unknown): number {
  if (typeof ms === "number" && ms >= 0 && ms <= maxAdvanceMs) return Math.round(ms);
  throw new UsageError(
    line`The clock cannot be advanced by ${String(ms)}. Give milliseconds, from 0 to ${maxAdvanceMs}.`,
  );
}

export function targetOfServer(server: object): Target | null {
  const reference = referencesOfServers.get(server as ReferenceServer);
  return reference === undefined ? null : targetOf(reference);
}

function keysByTier(keys: readonly ReferenceKey[]): Readonly<Record<TierName, string>> {
  const textOf = (name: TierName): string => keys.find((key) => key.name === name)?.key ?? "";
  return Object.fromEntries(tierNames.map((tier) => [tier, textOf(tier)])) as Record<TierName, string>;
}
