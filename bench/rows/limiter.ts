import { runWorkload } from "../measuring/run-workload.ts";
import { maxSubject, noGoal } from "../tool/goal.ts";
import { nothingToClose, type BenchRow, type MeasureSide } from "../tool/row.ts";

const keyCounts = [1, 1000, 1_000_000] as const;
const fullDecisions = 2_000_000;
/** Maximum memory that the limiter may need for a key, in bytes. */
const maxBytesPerKey = 200;

const measureLimiter =
  (name: "limiter" | "map", of: "time" | "memory", keys: number, decisions: number): MeasureSide =>
  () =>
    runWorkload("limiter", { side: name, of, keys, decisions });

const formatKeys = (count: number): string => `${count.toLocaleString("en")} key${count === 1 ? "" : "s"}`;

/**
 * Rows for the time of a decision. The time counts as independent of the number of keys if it grows no faster than that
 * of a Map look-up.
 */
const costRows = keyCounts.map((count): BenchRow => ({
  name: `limiter-cost-${count}`,
  what: `limiter: a million decisions among ${formatKeys(count)}`,
  against: "a million `Map` look-ups",
  compared: "CPU time",
  goal: noGoal,
  maxRounds: null,
  open: async (size) => {
    const [keys, decisions] = [size.of(count), size.of(fullDecisions)];
    return {
      subject: measureLimiter("limiter", "time", keys, decisions),
      baseline: measureLimiter("map", "time", keys, decisions),
      close: nothingToClose,
    };
  },
}));

const memoryRows = keyCounts.slice(1).map((count): BenchRow => ({
  name: `limiter-memory-${count}`,
  what: `limiter: memory of a key among ${formatKeys(count)}`,
  against: "a `Map` from name to number",
  compared: "memory",
  goal: maxSubject(maxBytesPerKey),
  maxRounds: null,
  open: async (size) => ({
    subject: measureLimiter("limiter", "memory", size.of(count), 0),
    baseline: measureLimiter("map", "memory", size.of(count), 0),
    close: nothingToClose,
  }),
}));

export const limiterRows: readonly BenchRow[] = [...costRows, ...memoryRows];
