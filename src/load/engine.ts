import type { Network } from "../base/network/network.ts";
import type { TierLimits, TierName } from "../spec/tiers.ts";
import type { LoadEvidence } from "../evidence/load-evidence.ts";
import type { EngineName, Flow, KeyRole, Operation, Scenario } from "./scenarios.ts";

/** The target of a run, and how an engine sends a scenario to it. */
export interface EngineOptions {
  /** The base URL. Ends in `/v1`, without a slash after it. */
  readonly baseUrl: string;
  /** The API keys by role; `second` is `null` if the target has no second key. */
  readonly keys: Readonly<Record<KeyRole, string | null>>;
  /** The tier of both keys; `null` if unknown. */
  readonly tier: TierName | null;
  readonly limits: TierLimits;
  /** Whether the keys were never used before, so that no limit is partly used up. */
  readonly isFresh: boolean;
  /** Ids of the target's agents by role; `null` for a role that no agent has. */
  readonly agents: Readonly<Record<Operation["agent"], string | null>>;
  /** Request fields that make an agent play each role; none for an agent that always plays it. */
  readonly roleRequests: Readonly<Partial<Record<Operation["agent"], RoleRequest>>>;
  /** Speed of the target's clock, as a multiple of this machine's. Above 1 for the embedded server only. */
  readonly speed: number;
  /** Number of processes that share the load. */
  readonly segments: number;
  /** Stops the engine. It then returns the evidence so far, with the reason as `stopped`. */
  readonly signal: AbortSignal;
  readonly onProgress: (progress: LoadProgress) => void;
  readonly network: Network;
  /** File for k6's own HTML report; `null` for none. */
  readonly dashboardFile: string | null;
  /** The `User-Agent` of every request. */
  readonly userAgent: string;
}

/** The parts of a request that make an agent play a role, such as failing. */
export interface RoleRequest {
  /** Body fields that make an agent play a role, such as failing. They override the request's own. */
  readonly body: Readonly<Record<string, unknown>>;
  /** Path below the base URL, with `{agent_id}` and `{endpoint}` to fill in; `null` for the documented path. */
  readonly path: string | null;
}

/** Progress of a load. Counts are from its start. */
export interface LoadProgress {
  readonly elapsedMs: number;
  /** Approximate duration of the whole load. */
  readonly expectedMs: number;
  readonly sent: number;
  readonly admitted: number;
  readonly refused: number;
  /** Requests whose response was neither 2xx nor 429, and requests without a response. */
  readonly failed: number;
}

/** Sends the flows of a scenario and returns the responses. Throws {@link EngineProblem} if it cannot. */
export type Engine = (scenario: Scenario, options: EngineOptions) => Promise<LoadEvidence>;

/** An error that keeps an engine from sending a load. Its message says what the user can do. */
export class EngineProblem extends Error {
  override name = "EngineProblem";
}

/** Returns why an engine cannot send these flows; `null` if it can. */
export function unsupportedReason(engine: EngineName, flows: readonly Flow[]): string | null {
  const paced = flows.find(({ shape }) => shape.kind === "paced");
  if (engine === "k6" || paced === undefined) return null;
  return `autocannon cannot keep the constant rate of the flow "${paced.name}": use the engine k6.`;
}
