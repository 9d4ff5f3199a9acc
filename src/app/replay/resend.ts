import type { Network } from "../../base/network/network.ts";
import type { Exchange } from "../../evidence/exchange.ts";
import { openTransport, type OutgoingRequest } from "../../wire/transport.ts";

/** All requests together take no longer, whatever the target does. */
const mostMs = 5 * 60_000;

/** What came of requests that were sent again, in their order; those after the last were not sent. */
export interface ResentRequests {
  readonly exchanges: readonly Exchange[];
  /** Why it ended before all had come to the target; `null` where all have. */
  readonly stopped: string | null;
}

/** Sends requests one after another. One that finds nobody there is the last, and so is one that is cut short. */
export async function resendAll(
  requests: readonly OutgoingRequest[],
  network: Network,
  interrupted: AbortSignal,
): Promise<ResentRequests> {
  const transport = openTransport({ now: () => performance.now(), clockOffsetMs: () => 0, network });
  const signal = AbortSignal.any([interrupted, AbortSignal.timeout(mostMs)]);
  const exchanges: Exchange[] = [];
  try {
    for (const request of requests) {
      if (signal.aborted) break;
      const underway = transport.open(request);
      signal.addEventListener("abort", underway.close);
      const exchange = await underway.finished;
      signal.removeEventListener("abort", underway.close);
      if (signal.aborted) break;
      exchanges.push(exchange);
      if (isUnreachable(exchange)) break;
    }
  } finally {
    await transport.close();
  }
  const isWhole = exchanges.length === requests.length && !exchanges.some(isUnreachable);
  return { exchanges, stopped: isWhole ? null : whyStopped(exchanges, interrupted) };
}

export const isUnreachable = ({ answer }: Exchange): boolean =>
  answer.kind === "unanswered" && answer.reason === "unreachable";

function whyStopped(exchanges: readonly Exchange[], interrupted: AbortSignal): string {
  if (interrupted.aborted) return "interrupted";
  return exchanges.some(isUnreachable) ? "the target was not reached" : `${mostMs / 60_000} min were over`;
}
