import { is2xx } from "../../base/http-status.ts";
import type { RateLimitInfo } from "./rate-limit-info.ts";

/**
 * A request and the limiter's reaction, small enough to keep for thousands of requests. Runs and load are judged by it. Times in milliseconds of
 * the client's clock.
 */
export interface RequestSample extends RateLimitInfo {
  readonly id: string;
  /** `health` is not limited, whatever its response; `usage` (reading it) and `other` may count. */
  readonly kind: "invoke" | "stream" | "health" | "usage" | "other";
  readonly sentMs: number;
  /** When the head of the response came, or when it was clear that none would. */
  readonly headMs: number;
  readonly endMs: number;
  /** `null` if no response came. */
  readonly status: number | null;
}

/** A sample from a run that may move the target's clock. Times as in an exchange. */
export interface Sample extends RequestSample {
  /** How far the target's clock had been moved when the request was sent, and when its response began and ended. */
  readonly sentClockMs: number;
  readonly headClockMs: number;
  readonly endClockMs: number;
}

/** Whether the limiter admitted the request. */
export const isAdmitted = ({ status }: Pick<RequestSample, "status">): boolean => is2xx(status);

export const isRefused = ({ status }: Pick<RequestSample, "status">): boolean => status === 429;

/** Whether a request calls an agent, as invoke and stream do. Every limit counts these. */
export const isAgentCall = ({ kind }: Pick<RequestSample, "kind">): boolean => kind === "invoke" || kind === "stream";
