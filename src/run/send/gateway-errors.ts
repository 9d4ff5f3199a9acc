import type { Answered, Exchange } from "../../evidence/exchange.ts";
import { gatewaySpells, type ResponseCounts } from "../../rules/gateway.ts";
import { isGatewayError, mayRetry } from "./retry.ts";
import { endpointOf } from "./crash-suspects.ts";

/** An exchange with a response, from the target or from a gateway. */
export type AnsweredExchange = Exchange & { readonly answer: Answered };

/** Decides whether a 502, 503 or 504 comes from the target, or from a gateway in front of the target. */
export interface GatewayErrors {
  /** Must be called for each response. The times of 502, 503 and 504 can reveal a gateway. */
  readonly observe: (exchange: AnsweredExchange) => void;
  readonly isOfGateway: (exchange: AnsweredExchange) => Promise<boolean>;
}

interface GatewayErrorsOptions {
  readonly isAway: (exchange: AnsweredExchange) => boolean;
  /** Repeats an earlier GET. Resolves to `true` if the target, not a gateway, responds. */
  readonly isAnswering: () => Promise<boolean>;
  readonly repeat: (exchange: Exchange) => Promise<Exchange>;
}

export function trackGatewayErrors({ isAway, isAnswering, repeat }: GatewayErrorsOptions): GatewayErrors {
  /** Methods and paths of requests to which the target itself responds with 502, 503 or 504. */
  const own = new Set<string>();
  const responses: ResponseCounts[] = [];
  /** Whether all responses with 502, 503 and 504 seem to come from the target, not from a gateway. */
  let isOwn = false;

  /**
   * Whether only this request fails: an earlier GET, sent again, succeeds. If possible, sends the request again, too.
   */
  const isOnlyFailure = async (exchange: AnsweredExchange): Promise<boolean> => {
    if (isAway(exchange) || !(await isAnswering())) return false;
    const { method, url } = exchange.request;
    const again = mayRetry(method, url, {}) ? (await repeat(exchange)).answer : null;
    return again === null || again.kind === "unanswered" || isGatewayError(again);
  };

  return {
    observe: ({ sentMs, answer }) => {
      const gatewayLike = Number(isGatewayError(answer));
      const { headMs } = answer;
      responses.push({ sentMs, fromMs: headMs, toMs: headMs, gatewayLike, others: 1 - gatewayLike });
    },
    isOfGateway: async (exchange) => {
      const endpoint = endpointOf(exchange.request);
      isOwn ||= gatewaySpells(responses) === null;
      if (isOwn || own.has(endpoint)) return false;
      if (!(await isOnlyFailure(exchange))) return true;
      own.add(endpoint);
      return false;
    },
  };
}
