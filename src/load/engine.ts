import type { Network } from "../base/network/network.ts";
import type { TierLimits, TierName } from "../spec/tiers.ts";
import type { LoadEvidence } from "../evidence/load-evidence.ts";
import type { EngineName, Flow, KeyRole, Operation, Scenario } from "./scenarios.ts";

export interface EngineOptions {
  readonly baseUrl: string;
  readonly keys: Readonly<Record<KeyRole, string | null>>;
  readonly tier: TierName | null;
  readonly limits: TierLimits;
  /** Whether the keys were never used before, so that no limit is partly used up. */
  readonly isFresh: boolean;
  readonly agents: Readonly<Record<Operation["agent"], string | null>>;
  readonly roleRequests: Readonly<Partial<Record<Operation["agent"], RoleRequest>>>;
  /** Speed of the target's clock, as a multiple of this machine's clock. Above 1 for the embedded server only. */
  readonly speed: number;
  readonly segments: number;
  /** When this aborts, the engine stops and returns its evidence so far, with the reason in the field `stopped`. */
  readonly signal: AbortSignal;
  readonly onProgress: (progress: LoadProgress) => void;
  readonly network: Network;
  readonly dashboardFile: string | null;
  readonly userAgent: string;
}

export interface RoleRequest {
  /** Extra fields of the request body that make the agent play its role, e.g. a field that makes it fail. */
  readonly body: Readonly<Record<string, unknown>>;
  /** Path below the base URL, with `{agent_id}` and `{endpoint}` to fill in; `null` for the documented path. */
  readonly path: string | null;
}

export interface LoadProgress {
  readonly elapsedMs: number;
  readonly expectedMs: number;
  readonly sent: number;
  readonly admitted: number;
  readonly refused: number;
  /** Requests that got neither 2xx nor 429. Leaves out requests that the client cancelled before any response. */
  readonly failed: number;
}

/** A function that sends the load of a scenario. Throws {@link EngineProblem} if the load cannot be sent. */
export type Engine = (scenario: Scenario, options: EngineOptions) => Promise<LoadEvidence>;

/** Thrown if an engine cannot send a load. The message says what the user can do. */
export class EngineProblem extends Error {
  override name = "EngineProblem";
}

export function unsupportedReason(engine: EngineName, flows: readonly Flow[]): string | null {
  const paced = flows.find(({ shape }) => shape.kind === "paced");
  if (engine === "k6" || paced === undefined) return null;
  return `autocannon cannot keep the constant rate of the flow "${paced.name}": use the engine k6.`;
}
