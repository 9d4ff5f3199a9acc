import type { Exchange, Header, StreamEvent } from "../../evidence/exchange.ts";
import type { KeyState } from "../../spec/dimensions.ts";
import type { RunBounds } from "../plan/bounds.ts";
import {
  ExecutionBudgetExhausted,
  need,
  readOnlySkip,
  RequestBudgetExhausted,
  SkipError,
  TargetUnavailable,
} from "../skip-reason.ts";
import type { RunClock } from "../time/run-clock.ts";
import { queriesIn, type Recorder } from "./recorder.ts";
import { isLostWithTarget, isUnreachable, type RetryOptions } from "./retry.ts";
import { createTimeoutPolicy, type TimeoutPolicy } from "./timeout-policy.ts";

export interface SendOptions extends RetryOptions {
  readonly json?: unknown;
  /** The body as text, instead of `json`. */
  readonly text?: string;
  /** Encoding of the body. Absent: UTF-8, as JSON requires. */
  readonly encoding?: "latin1";
  readonly accept?: string;
  readonly contentType?: string;
  /** Additional headers. A function is called right before sending, so that e.g. a signed timestamp is current. */
  readonly headers?: readonly Header[] | (() => readonly Header[]);
  /** A value of the `Authorization` header that replaces the client's key. `null` omits the header. */
  readonly authorization?: string | null;
  /** Whether the path is relative to the origin instead of the base URL. */
  readonly fromOrigin?: boolean;
  /** Minimum deadline for the response head, in milliseconds. Shorter deadlines are raised to this value. */
  readonly minHeadMs?: number;
  /** The limit that the probe has used up on this key, e.g. `minute used up`. The exchange records this value. */
  readonly keyState?: KeyState;
  /** The harness closes the stream once this function returns true for the events so far. */
  readonly closeWhen?: (events: readonly StreamEvent[]) => boolean;
}

export interface ClientRequest {
  readonly method: string;
  readonly path: string;
  readonly options: SendOptions;
}

export const usesClientKey = ({ options }: ClientRequest): boolean => options.authorization === undefined;

/** Refuses all further requests of a run, e.g. once `maxRequests` is used up or the target no longer responds. */
export interface SendGuard {
  /**
   * Counts a request, or throws if the run must not send the request. Returns how many agent executions the request can
   * start. Without a limit on executions, returns 0, because the guard does not count executions then.
   */
  readonly admit: (call: ClientRequest) => number;
  readonly observe: (call: ClientRequest, exchange: Exchange) => void;
  readonly timeouts: TimeoutPolicy;
}

function possibleExecutions(call: ClientRequest): number {
  if (!usesClientKey(call) || call.method !== "POST") return 0;
  return queriesIn(call.options.text ?? JSON.stringify(call.options.json) ?? "");
}

/** The run stops after this many requests in a row without a connection. */
const maxUnreachable = 5;

interface GuardContext extends Pick<RunBounds, "maxExecutions" | "readOnly"> {
  readonly maxRequests: number;
  readonly recorder: Recorder;
  readonly signal: AbortSignal;
  readonly time: RunClock;
}

export function openGuard({ maxRequests, maxExecutions, readOnly, recorder, signal, time }: GuardContext): SendGuard {
  const timeouts = createTimeoutPolicy(time.now);
  let [sent, unreachable, executing] = [0, 0, 0];
  // Counting executions requires parsing each body. Without `maxExecutions`, the guard saves this time.
  const executionsOf = maxExecutions === null ? () => 0 : possibleExecutions;
  return {
    timeouts,
    admit: (call) => {
      signal.throwIfAborted();
      if (readOnly && call.method !== "GET") throw new SkipError(readOnlySkip.reason, readOnlySkip.needs);
      if (unreachable >= maxUnreachable) throw new TargetUnavailable("the target no longer accepts connections");
      const reasonToStop = timeouts.reasonToStop();
      if (reasonToStop !== null) throw new TargetUnavailable(reasonToStop);
      if (sent >= maxRequests)
        throw new RequestBudgetExhausted({ why: "requests used up", most: maxRequests }, need("maxRequests"));
      const executions = executionsOf(call);
      if (executions > 0 && maxExecutions !== null && recorder.executions() + executing + executions > maxExecutions)
        throw new ExecutionBudgetExhausted({ why: "executions used up", most: maxExecutions }, need("maxExecutions"));
      executing += executions;
      sent += 1;
      return executions;
    },
    observe: (call, exchange) => {
      executing -= executionsOf(call);
      if (isLostWithTarget(exchange)) return;
      unreachable = isUnreachable(exchange) ? unreachable + 1 : 0;
      // If the probe set its own deadlines, a timeout says nothing about the target.
      if (call.options.deadlines === undefined) timeouts.observe(exchange);
    },
  };
}
