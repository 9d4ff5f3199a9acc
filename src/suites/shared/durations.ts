import { memoizeByObject } from "../../base/memoize.ts";
import { countBelow, sortedBy } from "../../base/sorted.ts";
import type { Exchange } from "../../evidence/exchange.ts";
import { type Breach, breach, holds } from "../../run/judge/finding.ts";
import type { Mismatch } from "../../rules/mismatch.ts";

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

/** Time in which a move of the target's clock that was under way at an answer's end is recorded. */
const recordedWithinMs = 50;

/** Several checks ask for it. */
const inOrder = memoizeByObject((exchanges: readonly Exchange[]) => {
  const sorted = exchanges.toSorted((one, other) => one.sentMs - other.sentMs);
  return { sorted, sentMs: sortedBy(sorted, ({ sentMs }) => sentMs) };
});

/**
 * How long requests took at most, in milliseconds of the target's clock, which the run may have moved meanwhile; infinite where
 * nothing was sent afterwards that would tell.
 */
export function maxDurationIn(exchanges: readonly Exchange[]): (exchange: Exchange) => number {
  const all = inOrder(exchanges);
  return ({ sentMs, clockMs, answer: { endMs } }) => {
    const next = all.sorted[countBelow(all.sentMs, endMs + recordedWithinMs)];
    return endMs - sentMs + (next?.clockMs ?? Infinity) - clockMs;
  };
}

/** What no clock explains: so many times what the request took, and so many seconds besides. */
const mostTimes = 50;
const mostSecondsBesides = 5;

/** Judges whether a time that a server reports of a request is in seconds: milliseconds are a thousand times longer than it took. */
export function unitMismatch(field: string, value: unknown, tookMs: number): Mismatch | null {
  if (typeof value !== "number" || value <= mostSecondsBesides + (mostTimes * tookMs) / 1000) return null;
  return {
    expected: `\`${field}\`, in seconds`,
    actual: `${value}, where the request took ${(tookMs / 1000).toFixed(3)} s`,
  };
}
