import { apiError, fieldError, type ApiError } from "../api-error.ts";
import { type Endpoint, runsAgent } from "../endpoint.ts";
import { fieldsOf } from "../json-edit.ts";

/** Kinds of planned failure: status 500, a closed connection, status 429, or a wait before handling. */
const troubleKinds = ["error", "drop", "limit", "delay"] as const;

/** A plan that makes the next requests that run an agent fail or wait. */
export interface PlannedTrouble {
  readonly kind: (typeof troubleKinds)[number];
  /** For `limit`, the `retry_after` of the error. For `delay`, the wait in real time. */
  readonly seconds: number;
  /** How many requests fail or wait before the plan ends. */
  readonly requests: number;
  /** The only agent whose requests fail or wait; `null` for all agents. */
  readonly agentId: string | null;
}

/** Decides which requests fail or wait, according to a plan. */
export interface Trouble {
  /** Replaces the current plan. */
  plan(planned: PlannedTrouble): void;
  /** Counts a request against the plan; returns the failure or wait planned for the request, or `null`. */
  take(endpoint: Endpoint, agentId: string | null): PlannedTrouble | null;
}

export function createTrouble(): Trouble {
  let planned: PlannedTrouble = { kind: "error", seconds: 1, requests: 0, agentId: null };
  return {
    plan: (next) => {
      planned = next;
    },
    take: (endpoint, agentId) => {
      const isMeant = planned.agentId === null || planned.agentId === agentId;
      if (planned.requests === 0 || !isMeant || !runsAgent(endpoint)) return null;
      planned = { ...planned, requests: planned.requests - 1 };
      return planned;
    },
  };
}

/** Maximum number of requests that a plan can make fail or wait. */
const maxTroubledRequests = 1000;
/** Maximum number of seconds, for `retry_after` and for delays. */
const maxSeconds = 300;

/** Reads the body of a request that plans failures or delays. Returns an error if a field is wrong. */
export function readTrouble(body: unknown): PlannedTrouble | ApiError {
  const { requests, kind = "error", seconds = 1, agent_id: agentId = null } = fieldsOf(body);
  const known = troubleKinds.find((each) => each === kind);
  if (known === undefined) return fieldError("invalid-input", "kind", `must be ${troubleKinds.join(", ")}`);
  if (typeof requests !== "number" || !Number.isInteger(requests) || requests < 0 || requests > maxTroubledRequests)
    return fieldError("invalid-input", "requests", `must be an integer from 0 to ${maxTroubledRequests}`);
  if (typeof seconds !== "number" || !(seconds >= 0 && seconds <= maxSeconds))
    return fieldError("invalid-input", "seconds", `must be a number from 0 to ${maxSeconds}`);
  if (agentId !== null && typeof agentId !== "string")
    return fieldError("invalid-input", "agent_id", "must be a string");
  return { kind: known, seconds, requests, agentId };
}

/** A rate-limit window as the headers of a planned 429 show it. */
interface ShownWindow {
  readonly limit: number;
  readonly resetAtMs: number;
}

/** Makes the error of a planned failure; for `limit`, a 429 whose headers show the given window. */
export function plannedError({ kind, seconds }: PlannedTrouble, { limit, resetAtMs }: ShownWindow): ApiError {
  const message = "This failure was asked for by a test control.";
  if (kind !== "limit") return apiError("crash", message);
  const detail = { kind: "limit", limit, remaining: 0, resetAtMs, retryAfterSeconds: seconds } as const;
  return apiError("concurrency-limit", message, detail);
}
