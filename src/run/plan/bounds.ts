import { isLoopback } from "../../target/base-url.ts";
import type { Target } from "../../target/target.ts";

/** How far a run may go, whichever way it was started. */
export interface RunBounds {
  /** Requests that are sent at most; `null`: 1000 where the target is not on loopback, else no bound. */
  readonly maxRequests: number | null;
  /** Agent executions that are caused at most: invokes and streams that an agent really runs; `null`: no bound. */
  readonly maxExecutions: number | null;
  /** Windows of more requests than this are not used up. */
  readonly maxWindow: number;
  /** Real waiting for windows to pass, in milliseconds, all together. */
  readonly maxWaitMs: number;
  /** Real time that the run may take, waiting included, in milliseconds; `null`: three minutes more than it may wait. */
  readonly maxTimeMs: number | null;
  /** Nothing but GET may be sent; what needs more is skipped. */
  readonly isReadOnly: boolean;
}

/** Where nobody says otherwise. */
export const defaultBounds: RunBounds = {
  maxRequests: null,
  maxExecutions: null,
  maxWindow: 5000,
  maxWaitMs: 120_000,
  maxTimeMs: null,
  isReadOnly: false,
};

/** What `maxRequests` comes to for a target: one that somebody else runs gets a budget where nobody names a number. */
export const maxRequestsFor = (maxRequests: number | null, { baseUrl }: Target): number =>
  maxRequests ?? (isLoopback(baseUrl) ? Number.POSITIVE_INFINITY : 1000);

const besidesWaitingMs = 180_000;

/** What `maxTimeMs` comes to. */
export const maxRunTimeMs = ({ maxTimeMs, maxWaitMs }: Pick<RunBounds, "maxTimeMs" | "maxWaitMs">): number =>
  maxTimeMs ?? maxWaitMs + besidesWaitingMs;
