import { apiError, fieldError, type ApiError } from "../api-error.ts";
import { type Endpoint, runsAgent } from "../endpoint.ts";
import { fieldsOf } from "../json-edit.ts";

const troubleKinds = ["error", "drop", "limit", "delay"] as const;

/** Planned failure or delay of the next requests that run an agent. */
export interface PlannedTrouble {
  readonly kind: (typeof troubleKinds)[number];
  /** For `limit`, the `retry_after` of the error. For `delay`, the wait in real time. */
  readonly seconds: number;
  readonly requests: number;
  readonly agentId: string | null;
}

export interface Trouble {
  plan(planned: PlannedTrouble): void;
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

const maxTroubledRequests = 1000;
const maxSeconds = 300;

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

interface ShownWindow {
  readonly limit: number;
  readonly resetAtMs: number;
}

export function plannedError({ kind, seconds }: PlannedTrouble, { limit, resetAtMs }: ShownWindow): ApiError {
  const message = "This failure was asked for by a test control.";
  if (kind !== "limit") return apiError("crash", message);
  const detail = { kind: "limit", limit, remaining: 0, resetAtMs, retryAfterSeconds: seconds } as const;
  return apiError("concurrency-limit", message, detail);
}
