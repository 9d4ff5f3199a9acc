import type { Decision, History, AdmissionOptions, Span } from "./history.ts";
import { countBelow, countUpTo, sortedBy } from "../../base/sorted.ts";

/** The most slots that were certainly held at one instant, and by whom. */
export function mostHeld(decisions: readonly Decision[]): { readonly count: number; readonly atMs: number } {
  const holds = decisions.flatMap((decision) => (decision.held === null ? [] : [decision.held]));
  const starts = sortedBy(holds, (hold) => hold.fromMs);
  const ends = sortedBy(holds, (hold) => hold.toMs);
  let ended = 0;
  let most = { count: 0, atMs: 0 };
  starts.forEach((startMs, index) => {
    while ((ends[ended] ?? Infinity) <= startMs) ended += 1;
    if (index + 1 - ended > most.count) most = { count: index + 1 - ended, atMs: startMs };
  });
  return most;
}

/** Tells whether the concurrency limit may have refused a request. */
export type SlotsExplain = (refusal: Decision) => boolean;

const blockSize = 256;

/**
 * A refusal is explained by concurrency when at some instant of its flight all slots may have been held by others.
 * `mayHold` names the refusals that may have held a slot while another limit was asked.
 */
export function slotsExplain(
  history: History,
  concurrent: number,
  options: AdmissionOptions,
  mayHold: ReadonlySet<Decision>,
): SlotsExplain {
  if (history.before === "anything") return () => true;
  const release = options.slotReleaseMs ?? 50;
  const holders = history.decisions.filter((decision) => decision.outcome !== "refused" || mayHold.has(decision));
  const before = (history.lingeringUntilMs ?? []).map((ms): Span => ({ fromMs: -Infinity, toMs: ms }));
  const taken = [...before, ...holders.map((one): Span => ({ fromMs: one.inFlight.fromMs, toMs: releasedMs(one) }))];
  const starts = sortedBy(taken, ({ fromMs }) => fromMs);
  const ends = sortedBy(taken, ({ toMs }) => toMs + release);
  let ended = 0;
  const heldAt = starts.map((startMs, index) => {
    while ((ends[ended] ?? Infinity) < startMs) ended += 1;
    return index + 1 - ended;
  });
  const blocks = blockMaxima(heldAt);
  return (refusal) => {
    const first = countUpTo(starts, refusal.inFlight.fromMs);
    const end = countUpTo(starts, refusal.inFlight.toMs);
    const heldAtSending = first - countBelow(ends, refusal.inFlight.fromMs);
    const others = Math.max(heldAtSending, mostBetween(heldAt, blocks, first, end)) - (mayHold.has(refusal) ? 1 : 0);
    return others >= concurrent;
  };
}

const releasedMs = ({ inFlight, mayHoldUntilMs }: Decision) => Math.max(inFlight.toMs, mayHoldUntilMs);

function blockMaxima(values: Float64Array): Float64Array {
  const blocks = new Float64Array(Math.ceil(values.length / blockSize));
  values.forEach((value, index) => {
    const block = Math.floor(index / blockSize);
    blocks[block] = Math.max(blocks[block] ?? 0, value);
  });
  return blocks;
}

function mostBetween(values: Float64Array, blocks: Float64Array, from: number, end: number): number {
  let most = 0;
  for (let index = from; index < end;) {
    const wholeBlock = index % blockSize === 0 && index + blockSize <= end;
    most = Math.max(most, wholeBlock ? (blocks[index / blockSize] ?? 0) : (values[index] ?? 0));
    index += wholeBlock ? blockSize : 1;
  }
  return most;
}
