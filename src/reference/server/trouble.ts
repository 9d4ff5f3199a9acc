import { apiError, fieldError, type ApiError } from "../api-error.ts";
import { type Endpoint, runsAgent } from "../endpoint.ts";
import { fieldsOf } from "../json-edit.ts";

/** How a request fails. `error` answers 500. `drop` closes the connection without a response. */
const troubleKinds = ["error", "drop"] as const;
export type TroubleKind = (typeof troubleKinds)[number];

/** A plan to let the next requests that run an agent fail. */
export interface PlannedTrouble {
  readonly kind: TroubleKind;
  /** Number of requests that fail. */
  readonly requests: number;
  /** The only agent whose requests fail; `null` for all agents. */
  readonly agentId: string | null;
}

/** Decides which requests fail as planned. */
export interface Trouble {
  /** Replaces the plan. */
  plan(planned: PlannedTrouble): void;
  /** Counts a request against the plan. Returns how the request fails; `null` if it does not. */
  take(endpoint: Endpoint, agentId: string | null): TroubleKind | null;
}

export function createTrouble(): Trouble {
  let planned: PlannedTrouble = { kind: "error", requests: 0, agentId: null };
  return {
    plan: (next) => {
      planned = next;
    },
    take: (endpoint, agentId) => {
      const isMeant = planned.agentId === null || planned.agentId === agentId;
      if (planned.requests === 0 || !isMeant || !runsAgent(endpoint)) return null;
      planned = { ...planned, requests: planned.requests - 1 };
      return planned.kind;
    },
  };
}

/** Greatest number of requests for which trouble can be planned. */
const maxTroubledRequests = 1000;

/** Reads the body of a request for trouble. Returns the error if a field is wrong. */
export function readTrouble(body: unknown): PlannedTrouble | ApiError {
  const { requests, kind = "error", agent_id: agentId = null } = fieldsOf(body);
  const known = troubleKinds.find((each) => each === kind);
  if (known === undefined) return fieldError("invalid-input", "kind", `must be ${troubleKinds.join(" or ")}`);
  if (typeof requests !== "number" || !Number.isInteger(requests) || requests < 0 || requests > maxTroubledRequests)
    return fieldError("invalid-input", "requests", `must be an integer from 0 to ${maxTroubledRequests}`);
  if (agentId !== null && typeof agentId !== "string")
    return fieldError("invalid-input", "agent_id", "must be a string");
  return { kind: known, requests, agentId };
}

export const plannedError = (): ApiError => apiError("crash", "This failure was asked for by a test control.");
