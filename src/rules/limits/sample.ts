import { is2xx } from "../../base/http-status.ts";
import type { RateLimitInfo } from "./rate-limit-info.ts";

/**
 * A request and what the limiter showed, in the little space that thousands of requests leave: suites and load are judged by it.
 * Times in milliseconds of the client's clock.
 */
export interface RequestSample extends RateLimitInfo {
  readonly id: string;
  /** `health` is not limited, whatever its answer; `usage` (reading it) and `other` may count. */
  readonly kind: "invoke" | "stream" | "health" | "usage" | "other";
  readonly sentMs: number;
  /** When the head had come; where none came, when that was known. */
  readonly headMs: number;
  readonly endMs: number;
  /** `null`: no answer came. */
  readonly status: number | null;
}

/** An answer to a request of a run that may move the target's clock. Times as in an exchange. */
export interface Sample extends RequestSample {
  /** How far the target's clock had been moved when the request was sent, and when its answer began and ended. */
  readonly sentClockMs: number;
  readonly headClockMs: number;
  readonly endClockMs: number;
}

/** Whether the limiter let the request through. */
export const isAdmitted = ({ status }: Pick<RequestSample, "status">): boolean => is2xx(status);

export const isRefused = ({ status }: Pick<RequestSample, "status">): boolean => status === 429;

/** Whether a request asks an agent, as invoke and stream do: what every limit counts. */
export const isAgentCall = ({ kind }: Pick<RequestSample, "kind">): boolean => kind === "invoke" || kind === "stream";
