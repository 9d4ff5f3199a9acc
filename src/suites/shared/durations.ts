import { memoizeByObject } from "../../base/memoize.ts";
import { encodedSegment } from "../../base/path-segment.ts";
import { countBelow, sortedBy } from "../../base/sorted.ts";
import type { Exchange } from "../../evidence/exchange.ts";
import { type Breach, breach, holds } from "../../run/judge/finding.ts";
import type { Mismatch } from "../../rules/mismatch.ts";
import { agentInPath, type AllExchanges, byEndpoint } from "./all-exchanges.ts";

/** Tolerance for servers that round to whole seconds. */
const roundingSeconds = 1;

/**
 * Judges that a reported duration is not longer than the request took on the target's clock. That time is the real time
 * plus the run's advances of the clock meanwhile.
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

/** An advance of the clock that began before the end of a response is recorded at most this much later. */
const recordedWithinMs = 50;

/** The exchanges in the order of sending. Cached, because several checks need them. */
const inOrder = memoizeByObject((exchanges: readonly Exchange[]) => {
  const sorted = exchanges.toSorted((one, other) => one.sentMs - other.sentMs);
  return { sorted, sentMs: sortedBy(sorted, ({ sentMs }) => sentMs) };
});

type RecordedExchanges = Pick<AllExchanges, "exchanges" | "endClockMs">;

/**
 * The longest time in milliseconds that each request may have taken on the target's clock, which the run may have
 * advanced meanwhile. A later request, or the end of the run, shows how far the clock was advanced. Infinite without either.
 */
export function maxDurationIn({ exchanges, endClockMs = Infinity }: RecordedExchanges): (exchange: Exchange) => number {
  const all = inOrder(exchanges);
  return ({ sentMs, clockMs, answer: { endMs } }) => {
    const next = all.sorted[countBelow(all.sentMs, endMs + recordedWithinMs)];
    return endMs - sentMs + (next?.clockMs ?? endClockMs) - clockMs;
  };
}

/** Tolerances beyond any error of a clock: a multiple of the request's duration, plus some seconds. */
const maxFactor = 50;
const maxExtraSeconds = 5;

/** Returns a mismatch if a duration is far longer than the request took, so that it must be in milliseconds, not in seconds. */
export function unitMismatch(field: string, value: unknown, tookMs: number): Mismatch | null {
  if (typeof value !== "number" || value <= maxExtraSeconds + (maxFactor * tookMs) / 1000) return null;
  return {
    expected: `\`${field}\`, in seconds`,
    actual: `${value}, although the request took ${(tookMs / 1000).toFixed(3)} s`,
  };
}

/** The same for streams, whose duration the harness measures more exactly. */
const maxStreamFactor = 10;
const maxStreamExtraSeconds = 2;
const maxDoneFactor = 100;

/**
 * Returns a mismatch if a delivery says that a stream took far longer than its `done` says, or than it did. A delivery that agrees with `done` is
 * none: both may tell of an earlier execution, whose chunks were sent again.
 */
export function streamTimeMismatch(
  seconds: number,
  { done, tookMs }: { readonly done: unknown; readonly tookMs: number },
): Mismatch | null {
  const tookSeconds = tookMs / 1000;
  if (typeof done === "number" && done > 0)
    return seconds <= maxDoneFactor * done || seconds <= tookSeconds + roundingSeconds
      ? null
      : { expected: `\`data.execution_time\` about ${done}, as in \`done\``, actual: `${seconds}` };
  if (seconds <= maxStreamExtraSeconds + maxStreamFactor * tookSeconds) return null;
  return {
    expected: "`data.execution_time`, in seconds",
    actual: `${seconds}, although the stream took ${tookSeconds.toFixed(3)} s`,
  };
}

/**
 * The longest time in milliseconds that an execution of an agent may have taken on the target's clock. The bound is the
 * longest request to the agent that was sent before `untilMs`. Infinite without such a request, or if a batch may have
 * started the execution.
 *
 * @param untilMs milliseconds since the start of the run
 */
export function maxExecutionMs(all: AllExchanges, agent: unknown, untilMs: number): number {
  if (typeof agent !== "string") return Infinity;
  const isEarlier = ({ sentMs }: Pick<Exchange, "sentMs">): boolean => sentMs <= untilMs;
  if (byEndpoint(all).get("batch")?.some(isEarlier) === true) return Infinity;
  const calls = (agentCalls(all).get(encodedSegment(agent)) ?? []).filter(isEarlier);
  return calls.length === 0 ? Infinity : Math.max(...calls.map(({ tookMs }) => tookMs));
}

/** Invokes and streams by their agent, with the longest time that each may have taken. */
const agentCalls = memoizeByObject((all: AllExchanges) => {
  const tookMs = maxDurationIn(all);
  const calls = (["invoke", "stream"] as const).flatMap((endpoint) => byEndpoint(all).get(endpoint) ?? []);
  return Map.groupBy(
    calls.map((each) => ({ agent: agentInPath(each), sentMs: each.sentMs, tookMs: tookMs(each) })),
    ({ agent }) => agent,
  );
});
