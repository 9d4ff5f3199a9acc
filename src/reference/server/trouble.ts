import { apiError, fieldError, type ApiError, type Operation, runsAgent } from "../api-error.ts";
import { fieldsOf } from "../json-edit.ts";

/** How a request fails. `error` answers 500. `drop` closes the connection without a response. */
const troubleKinds = ["error", "drop"] as const;
export type TroubleKind = (typeof troubleKinds)[number];

/** Trouble for the next requests that run an agent. */
export interface PlannedTrouble {
  readonly kind: TroubleKind;
  /** Number of requests that fail. */
  readonly requests: number;
  /** The only agent whose requests fail; `null` for all agents. */
  readonly agentId: string | null;
}

/** Counts the requests that are still to fail. */
export interface Trouble {
  /** Replaces what was planned before. */
  plan(planned: PlannedTrouble): void;
  /** Counts a request. Returns how it fails, or `null`. */
  take(operation: Operation, agentId: string | null): TroubleKind | null;
}

export function noTrouble(): Trouble {
  let planned: PlannedTrouble = { kind: "error", requests: 0, agentId: null };
  return {
    plan: (next) => {
      planned = next;
    },
    take: (operation, agentId) => {
      const isMeant = planned.agentId === null || planned.agentId === agentId;
      if (planned.requests === 0 || !isMeant || !runsAgent(operation)) return null;
      planned = { ...planned, requests: planned.requests - 1 };
      return planned.kind;
    },
  };
}

/** Greatest number of requests for which trouble can be planned. */
const maxRequests = 1000;

/** Reads the body of a request for trouble. Returns the error if a field is wrong. */
export function readTrouble(body: unknown): PlannedTrouble | ApiError {
  const { requests, kind = "error", agent_id: agentId = null } = fieldsOf(body);
  const known = troubleKinds.find((each) => each === kind);
  if (known === undefined) return fieldError("invalid-input", "kind", `must be ${troubleKinds.join(" or ")}`);
  if (typeof requests !== "number" || !Number.isInteger(requests) || requests < 0 || requests > maxRequests)
    return fieldError("invalid-input", "requests", `must be an integer from 0 to ${maxRequests}`);
  if (agentId !== null && typeof agentId !== "string")
    return fieldError("invalid-input", "agent_id", "must be a string");
  return { kind: known, requests, agentId };
}

/** The error of a request that fails as planned. */
export const plannedError = (): ApiError => apiError("crash", "This failure was asked for by a test control.");
