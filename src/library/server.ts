import { patchesByName } from "../reference/embedded/patches-by-name.ts";
import { type TierName, tierNames } from "../spec/tiers.ts";
import {
  type KeyTraits,
  type Reference,
  type ReferenceKey,
  type RequestLine,
  realClock,
  startReference,
  virtualClock,
} from "../reference/reference.ts";
import type { DeploymentChange } from "../reference/server/deployments.ts";
import type { Target } from "../target/target.ts";
import { targetOf } from "../reference/embedded/embedded-server.ts";
import { UsageProblem } from "./errors.ts";

/** How the reference server is started; everything has a default. */
export interface ServerOptions {
  /** Default `127.0.0.1`. */
  readonly host?: string;
  /** Default 0: any free port. */
  readonly port?: number;
  /** `virtual`: time stands still until {@link ReferenceServer.advance} moves it. Default `machine`. */
  readonly clock?: "machine" | "virtual";
  /** Names of things that it breaks on purpose, applied in order; {@link faults} lists them. */
  readonly faults?: readonly string[];
  /** Names of other legal behaviours; {@link variants} lists them. */
  readonly variants?: readonly string[];
  /** Hears of every request once its answer has ended. */
  readonly onRequest?: (line: RequestLine) => void;
}

type AgentIds = Reference["agents"];

/** A running reference server. */
export interface ReferenceServer extends AsyncDisposable {
  /** Ends in `/v1`, without a slash after it. */
  readonly baseUrl: string;
  /** The standard key of a tier: valid and without restriction. */
  readonly keys: Readonly<Record<TierName, string>>;
  /** Every key that the server knows, expired and restricted ones too, with what each is good for. */
  readonly allKeys: readonly ReferenceKey[];
  /** Ids of agents by what they do: `answering`, `failing`, `slow`, … */
  readonly agents: AgentIds;
  /** The secret of request signatures. */
  readonly signingSecret: string;
  /** The server's time, in Unix milliseconds. */
  now(): number;
  /**
   * Moves a virtual clock by so many milliseconds, ten years at most; resolves when every timer that fell due has run. Rejects on the machine's
   * clock, and with a {@link UsageProblem} where time would not move on.
   */
  advance(ms: number): Promise<void>;
  /** Issues a key that nobody has used, such as one with a fresh allowance. */
  issueKey(tier: TierName, traits?: Partial<KeyTraits>): ReferenceKey;
  /** Changes a deployment, and tells webhooks of it. */
  deploy(change: DeploymentChange): void;
  /** Ends everything at once, open streams too. */
  stop(): Promise<void>;
}

const running = new WeakMap<ReferenceServer, Reference>();

/**
 * Starts the reference server on loopback, as `conformance serve` does.
 *
 * @throws {UsageProblem} where there is no fault or variant of a name. Rejects with Node's own error where the port is taken.
 */
export async function startServer(options: ServerOptions = {}): Promise<ReferenceServer> {
  const { faults = [], variants = [], host, port, onRequest } = options;
  const clock = options.clock === "virtual" ? virtualClock() : realClock();
  const reference = await startReference({
    clock,
    patches: patchesByName(faults, variants),
    ...(host !== undefined && { host }),
    ...(port !== undefined && { port }),
    ...(onRequest !== undefined && { onRequest }),
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
    advance: async (ms) => reference.advance(readMove(ms)),
    issueKey: (tier, traits) => reference.issueKey(tier, traits),
    deploy: (change) => reference.deploy(change),
    stop: () => reference.close(),
    [Symbol.asyncDispose]: () => reference.close(),
  };
  running.set(server, reference);
  return server;
}

/** Further than any window, and no instant is left that cannot be written. */
const longestMoveMs = 10 * 365.25 * 86_400_000;

function readMove(ms: unknown): number {
  if (typeof ms === "number" && ms >= 0 && ms <= longestMoveMs) return Math.round(ms);
  throw new UsageProblem(`The clock cannot be moved by ${String(ms)}. Give milliseconds, from 0 to ${longestMoveMs}.`);
}

/** The server as a target, if it is one that {@link startServer} has started. */
export function targetOfServer(server: object): Target | null {
  const reference = running.get(server as ReferenceServer);
  return reference === undefined ? null : targetOf(reference);
}

/** The server names the standard key of each tier by it. */
function keysByTier(keys: readonly ReferenceKey[]): Readonly<Record<TierName, string>> {
  const textOf = (name: TierName): string => keys.find((key) => key.name === name)?.key ?? "";
  return Object.fromEntries(tierNames.map((tier) => [tier, textOf(tier)])) as Record<TierName, string>;
}
