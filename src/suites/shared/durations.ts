import { memoizeByObject } from "../../base/memoize.ts";
import { encodedSegment } from "../../base/http.ts";
import { countBelow, sortedValues } from "../../base/lists.ts";
import type { Exchange } from "../../evidence/exchange.ts";
import { type Breach, breach, holds } from "../../run/judge/finding.ts";
import type { Mismatch } from "../../rules/bodies/errors.ts";
import { agentInPath, type AllExchanges, exchangesOf } from "./all-exchanges.ts";

/** Tolerance for a reported duration, because a server may round to whole seconds. */
const roundingSeconds = 1;

/** An exchange. `clockAfterMs` says how far the run had advanced the test clock when the exchange ended. */
export interface TimedExchange {
  readonly exchange: Exchange;
  readonly clockAfterMs: number;
}

/** Returns an upper bound of the time that an exchange took, in ms of the target's clock. */
export const tookMsOf = ({ exchange: { answer, sentMs, clockMs }, clockAfterMs }: TimedExchange): number =>
  answer.endMs - sentMs + clockAfterMs - clockMs;

export function judgeDuration(
  what: string,
  seconds: number,
  timed: TimedExchange,
): { readonly kind: "holds" } | Breach {
  const { exchange } = timed;
  if (seconds < 0) return breach(`${what} is not negative`, `${seconds} s`, exchange);
  const tookSeconds = tookMsOf(timed) / 1000;
  if (seconds <= tookSeconds + roundingSeconds) return holds();
  return breach(
    `${what}, in seconds, is not longer than the request took (${tookSeconds.toFixed(3)} s)`,
    `${seconds}`,
    exchange,
  );
}

/** Requests sent this long after an advance of the test clock surely include this advance in their `clockMs`. */
const recordedWithinMs = 50;

const sortBySending = memoizeByObject((exchanges: readonly Exchange[]) => {
  const sorted = exchanges.toSorted((one, other) => one.sentMs - other.sentMs);
  return { sorted, sentMs: sortedValues(sorted, ({ sentMs }) => sentMs) };
});

type RecordedExchanges = Pick<AllExchanges, "exchanges" | "endClockMs">;

/** Returns a function that gives an upper bound of an exchange's duration, in ms of the target's clock. */
export function maxDurationMsBy({
  exchanges,
  endClockMs = Infinity,
}: RecordedExchanges): (exchange: Exchange) => number {
  const all = sortBySending(exchanges);
  return ({ sentMs, clockMs, answer: { endMs } }) => {
    const next = all.sorted[countBelow(all.sentMs, endMs + recordedWithinMs)];
    return endMs - sentMs + (next?.clockMs ?? endClockMs) - clockMs;
  };
}

/** A reported duration above `maxFactor` times the measured duration, plus `maxExtraSeconds`, is not in seconds. */
const maxFactor = 50;
const maxExtraSeconds = 5;

export function durationUnitMismatch(field: string, value: unknown, tookMs: number): Mismatch | null {
  if (typeof value !== "number" || value <= maxExtraSeconds + (maxFactor * tookMs) / 1000) return null;
  return {
    expected: `\`${field}\`, in seconds`,
    actual: `${value}, although the request took ${(tookMs / 1000).toFixed(3)} s`,
  };
}

/** A stream's reported duration may be at most this multiple of the measured duration, plus `maxStreamExtraSeconds`. */
const maxStreamFactor = 10;
const maxStreamExtraSeconds = 2;

export const maxStreamSeconds = (tookMs: number): number => maxStreamExtraSeconds + (maxStreamFactor * tookMs) / 1000;

/** Maximum ratio of a delivery's `execution_time` to that of `done`, unless the stream really took that long. */
const maxDoneFactor = 100;

export function streamTimeMismatch(
  seconds: number,
  { done, tookMs }: { readonly done: unknown; readonly tookMs: number },
): Mismatch | null {
  const tookSeconds = tookMs / 1000;
  if (typeof done === "number" && done > 0)
    return seconds <= maxDoneFactor * done || seconds <= tookSeconds + roundingSeconds
      ? null
      : { expected: `\`data.execution_time\` about ${done}, as in \`done\``, actual: `${seconds}` };
  if (seconds <= maxStreamSeconds(tookMs)) return null;
  return {
    expected: "`data.execution_time`, in seconds",
    actual: `${seconds}, although the stream took ${tookSeconds.toFixed(3)} s`,
  };
}

/**
 * Returns an upper bound for an execution of the agent: its longest invoke or stream sent by `untilMs`. `Infinity` if
 * there is none, or if a batch was sent, because a batch may run this agent, too.
 */
export function maxExecutionMs(all: AllExchanges, agent: unknown, untilMs: number): number {
  if (typeof agent !== "string") return Infinity;
  const isEarlier = ({ sentMs }: Pick<Exchange, "sentMs">): boolean => sentMs <= untilMs;
  if (exchangesOf(all, "batch").some(isEarlier)) return Infinity;
  const calls = (agentCalls(all).get(encodedSegment(agent)) ?? []).filter(isEarlier);
  return calls.length === 0 ? Infinity : Math.max(...calls.map(({ tookMs }) => tookMs));
}

const agentCalls = memoizeByObject((all: AllExchanges) => {
  const tookMs = maxDurationMsBy(all);
  const calls = (["invoke", "stream"] as const).flatMap((endpoint) => exchangesOf(all, endpoint));
  return Map.groupBy(
    calls.map((each) => ({ agent: agentInPath(each), sentMs: each.sentMs, tookMs: tookMs(each) })),
    ({ agent }) => agent,
  );
});
