import type { Exchange } from "../../evidence/exchange.ts";
import { type Breach, breach, holds } from "../../run/finding.ts";

/** A server may round to whole seconds. */
const roundingSeconds = 1;

/**
 * Judges a time that a server reports of a request, in seconds, by how long the request took: real time, and the time that
 * the target's clock was moved meanwhile.
 */
export function judgeDuration(
  what: string,
  seconds: number,
  exchange: Exchange,
  clockAfterMs: number,
): { readonly kind: "holds" } | Breach {
  if (seconds < 0) return breach(`${what} is not negative`, `${seconds} s`, exchange);
  const tookSeconds = (exchange.answer.endMs - exchange.sentMs + (clockAfterMs - exchange.clockMs)) / 1000;
  if (seconds <= tookSeconds + roundingSeconds) return holds();
  return breach(
    `${what}, in seconds, is not longer than the request took (${tookSeconds.toFixed(3)} s)`,
    `${seconds}`,
    exchange,
  );
}
