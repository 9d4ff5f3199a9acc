import { runInProcess } from "../measuring/run-workload.ts";
import { itself, noGoal } from "../tool/goal.ts";
import { nothingToClose, type Row, type Side } from "../tool/row.ts";

const counts = [1, 1000, 1_000_000] as const;
const fullDecisions = 2_000_000;
/** Maximum memory that the limiter may need for a key, in bytes. */
const maxBytes = 200;

const side =
  (name: "limiter" | "map", of: "time" | "memory", keys: number, decisions: number): Side =>
  () =>
    runInProcess("limiter", { side: name, of, keys, decisions });

const english = (count: number): string => `${count.toLocaleString("en")} key${count === 1 ? "" : "s"}`;

/** Rows for the time of a decision. It counts as independent of the number of keys if it grows no faster than that of a Map look-up. */
const costs = counts.map((count): Row => ({
  name: `limiter-cost-${count}`,
  what: `limiter: a million decisions among ${english(count)}`,
  against: "a million `Map` look-ups",
  compared: "CPU time",
  goal: noGoal,
  mostRounds: null,
  open: async (size) => {
    const [keys, decisions] = [size.of(count), size.of(fullDecisions)];
    return {
      subject: side("limiter", "time", keys, decisions),
      baseline: side("map", "time", keys, decisions),
      close: nothingToClose,
    };
  },
}));

const memory = counts.slice(1).map((count): Row => ({
  name: `limiter-memory-${count}`,
  what: `limiter: memory of a key among ${english(count)}`,
  against: "a `Map` from name to number",
  compared: "memory",
  goal: itself(maxBytes),
  mostRounds: null,
  open: async (size) => ({
    subject: side("limiter", "memory", size.of(count), 0),
    baseline: side("map", "memory", size.of(count), 0),
    close: nothingToClose,
  }),
}));

export const limiterRows: readonly Row[] = [...costs, ...memory];
