import type { EngineName, Flow, KeyRole, Operation, Scenario } from "./scenarios.ts";
import type { Network } from "../base/network/network.ts";
import type { TierLimits, TierName } from "../spec/tiers.ts";
import type { LoadEvidence } from "./load-evidence.ts";

/** What an engine is given to run a scenario on a target. */
export interface EngineOptions {
  /** Ends in `/v1`, without a slash after it. */
  readonly baseUrl: string;
  /** Texts of the keys; `second` is `null` where there is none. */
  readonly keys: Readonly<Record<KeyRole, string | null>>;
  /** `null` where nobody said. */
  readonly tier: TierName | null;
  readonly limits: TierLimits;
  /** Whether nothing was sent with the keys before. */
  readonly isFresh: boolean;
  /** Ids of the target's agents, by role; `null` where it has none of the kind. */
  readonly agents: Readonly<Record<Operation["agent"], string | null>>;
  /** What those are asked that play a role by the request. */
  readonly roleRequests: Readonly<Partial<Record<Operation["agent"], RoleRequest>>>;
  /** How many milliseconds pass at the target in one of ours. */
  readonly speed: number;
  /** Processes that share the load. */
  readonly segments: number;
  /** Stops the engine; it then gives the evidence so far, with `stopped`. */
  readonly signal: AbortSignal;
  readonly onProgress: (progress: LoadProgress) => void;
  /** How the target is reached. */
  readonly network: Network;
  /** File for k6's own page; `null` for none. */
  readonly dashboardFile: string | null;
}

/** What an agent is asked so that it plays its role. */
export interface RoleRequest {
  /** Fields of the body that go before ours. */
  readonly body: Readonly<Record<string, unknown>>;
  /** Below the base URL, with `{agent_id}` and `{endpoint}`; `null`: the published one. */
  readonly path: string | null;
}

/** What is known while the load runs. Counts are from the start. */
export interface LoadProgress {
  readonly elapsedMs: number;
  /** About how long the whole run takes. */
  readonly expectedMs: number;
  readonly sent: number;
  readonly admitted: number;
  readonly limited: number;
  /** Any other answer, or none. */
  readonly failed: number;
}

/**
 * Sends a scenario's flows and tells what came of them. `ledger`, `deliveries` and `server` of its evidence are `null`: who
 * surrounds the run fills them in.
 *
 * @throws {EngineProblem} where the engine cannot run, or cannot send one of the flows
 */
export type Engine = (scenario: Scenario, parts: EngineOptions) => Promise<LoadEvidence>;

/** The engine cannot do what it was asked to; the message says what to do instead. */
export class EngineProblem extends Error {
  override name = "EngineProblem";
}

/** Why an engine cannot send these flows, in one sentence; `null` where it can. */
export function unsupportedReason(engine: EngineName, flows: readonly Flow[]): string | null {
  const paced = flows.find(({ shape }) => shape.kind === "paced");
  if (engine === "k6" || paced === undefined) return null;
  return `autocannon cannot keep a pace, which the flow "${paced.name}" asks for: use the engine k6.`;
}
