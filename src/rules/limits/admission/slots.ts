import type { AdmissionOptions, CountedSpan, Decision, History } from "./history.ts";
import { countUpTo } from "../../../base/lists.ts";
import { requestsBefore, requestsInFirstEntries, tallyOf, requestsUpTo } from "./timeline.ts";

/** Returns the highest number of concurrency slots certainly in use, and the time of this maximum. */
export function maxHeldSlots(decisions: readonly Decision[]): { readonly count: number; readonly atMs: number } {
  const holds = decisions.flatMap(({ held, count }): CountedSpan[] => (held === null ? [] : [{ ...held, count }]));
  const starts = tallyOf(holds, (hold) => hold.fromMs);
  const ends = tallyOf(holds, (hold) => hold.toMs);
  let ended = 0;
  let max = { count: 0, atMs: 0 };
  starts.values.forEach((startMs, index) => {
    while ((ends.values[ended] ?? Infinity) <= startMs) ended += 1;
    const count = requestsInFirstEntries(starts, index + 1) - requestsInFirstEntries(ends, ended);
    if (count > max.count) max = { count, atMs: startMs };
  });
  return max;
}

type SlotTest = (refusal: Decision) => boolean;

/** Values per block of `blockMaxima`. With the maximum of each block, `maxBetween` need not read every value. */
const blockSize = 256;

/** Returns a function that tells whether occupied concurrency slots can explain a refusal. */
export function createSlotTest(
  history: History,
  concurrent: number,
  options: AdmissionOptions,
  mayHold: ReadonlySet<Decision>,
): SlotTest {
  if (history.priorUse === "anything") return () => true;
  const release = options.slotReleaseMs ?? 50;
  const holders = history.decisions.filter((decision) => decision.outcome !== "refused" || mayHold.has(decision));
  const before = (history.lingeringUntilMs ?? []).map((ms) => ({ fromMs: -Infinity, toMs: ms, count: 1 }));
  const taken = [...before, ...holders.map(slotOf)];
  const starts = tallyOf(taken, ({ fromMs }) => fromMs);
  const ends = tallyOf(taken, ({ toMs }) => toMs + release);
  let ended = 0;
  const heldAt = starts.values.map((startMs, index) => {
    while ((ends.values[ended] ?? Infinity) < startMs) ended += 1;
    return requestsInFirstEntries(starts, index + 1) - requestsInFirstEntries(ends, ended);
  });
  const blocks = blockMaxima(heldAt);
  return (refusal) => {
    const { fromMs, toMs } = refusal.inFlight;
    const first = countUpTo(starts.values, fromMs);
    const end = countUpTo(starts.values, toMs);
    const heldAtSending = requestsUpTo(starts, fromMs) - requestsBefore(ends, fromMs);
    const others = Math.max(heldAtSending, maxBetween(heldAt, blocks, first, end)) - (mayHold.has(refusal) ? 1 : 0);
    return others >= concurrent;
  };
}

const slotOf = ({ inFlight, mayHoldUntilMs, count }: Decision): CountedSpan => ({
  fromMs: inFlight.fromMs,
  toMs: Math.max(inFlight.toMs, mayHoldUntilMs),
  count,
});

function blockMaxima(values: Float64Array): Float64Array {
  const blocks = new Float64Array(Math.ceil(values.length / blockSize));
  values.forEach((value, index) => {
    const block = Math.floor(index / blockSize);
    blocks[block] = Math.max(blocks[block] ?? 0, value);
  });
  return blocks;
}

function maxBetween(values: Float64Array, blocks: Float64Array, from: number, end: number): number {
  let max = 0;
  for (let index = from; index < end;) {
    const wholeBlock = index % blockSize === 0 && index + blockSize <= end;
    max = Math.max(max, wholeBlock ? (blocks[index / blockSize] ?? 0) : (values[index] ?? 0));
    index += wholeBlock ? blockSize : 1;
  }
  return max;
}
