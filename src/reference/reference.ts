import type { TierName } from "../interface/tiers.ts";
import { agentsByRole } from "./agents.ts";
import { isVirtual, realClock, type Clock } from "./clock.ts";
import { keyRing, referenceKeys, signingSecret, type KeyTraits, type ReferenceKey } from "./keys.ts";
import { patched, type Patch } from "./patch.ts";
import { referenceApp, type RequestLine } from "./server/app.ts";
import { serverState } from "./server/state.ts";
import { referenceTiers, type TierTable } from "./tiers.ts";

export type { RequestLine } from "./server/app.ts";
export type { Patch } from "./patch.ts";
export type { KeyTraits, ReferenceKey } from "./keys.ts";
export type { TierTable } from "./tiers.ts";
export { realClock, virtualClock, type Clock } from "./clock.ts";

/** How a server is started; everything has a default. */
export interface ReferenceOptions {
  /** Default `127.0.0.1`. */
  readonly host?: string;
  /** Default 0: any free port. */
  readonly port?: number;
  /** Default: the machine's clock. */
  readonly clock?: Clock;
  /** Faults and variants, applied in order. */
  readonly patches?: readonly Patch[];
  readonly keys?: readonly ReferenceKey[];
  readonly tiers?: TierTable;
  /** Hears of every request once its answer has ended. */
  readonly onRequest?: (line: RequestLine) => void;
}

/** A running reference server. */
export interface Reference {
  /** Ends in `/v1`, without a slash after it. */
  readonly baseUrl: string;
  readonly keys: readonly ReferenceKey[];
  readonly agents: typeof agentsByRole;
  readonly tiers: TierTable;
  /** The secret of request signatures. */
  readonly signingSecret: string;
  /** Moves a virtual clock; resolves when every timer that fell due has run. Rejects on the machine's clock. */
  advance(ms: number): Promise<void>;
  /** Issues a key that nobody has used. */
  freshKey(tier: TierName, traits?: Partial<KeyTraits>): ReferenceKey;
  /** Ends everything at once, open streams too. */
  close(): Promise<void>;
}

/** Starts a server. Rejects with Node's own error where the address cannot be taken (`EADDRINUSE`). */
export async function startReference(options: ReferenceOptions = {}): Promise<Reference> {
  const { host = "127.0.0.1", port = 0, clock = realClock(), patches = [], tiers = referenceTiers } = options;
  const behaviour = patched(patches);
  const given = options.keys ?? referenceKeys;
  const ring = keyRing(given, (text) => behaviour.keyText(text), clock.now());
  const state = serverState(clock, behaviour, ring, tiers);
  const app = await referenceApp(state, options.onRequest ?? null);
  const origin = await app.listen({ host, port });
  return {
    baseUrl: `${origin}/v1`,
    get keys() {
      return ring.keys;
    },
    agents: agentsByRole,
    tiers,
    signingSecret,
    advance: async (ms) => {
      if (!isVirtual(clock)) throw new Error("This server runs on the machine's clock: start it on a virtual one.");
      await clock.advance(ms);
    },
    freshKey: (tier, traits = {}) => ring.issue(tier, traits, clock.now()),
    close: () => app.close(),
  };
}
