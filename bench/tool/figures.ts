import { readFileSync } from "node:fs";
import { cpus, loadavg, platform, arch, totalmem } from "node:os";

import { z } from "zod";

import { measurementSchema } from "../measuring/measurement.ts";
import { isGoalMet, type BenchRow } from "./row.ts";
import { comparedValue, type MeasuredRow } from "./measure.ts";

const number = z.number();

const machineSchema = z.object({
  cores: z.int(),
  model: z.string(),
  memoryBytes: z.int(),
  system: z.string(),
  node: z.string(),
});

const rowBase = {
  name: z.string(),
  what: z.string(),
  against: z.string(),
  compared: z.enum(["wall time", "CPU time", "rate", "memory"]),
  goal: z.discriminatedUnion("of", [
    z.object({ of: z.literal("ratio"), is: z.enum(["at most", "at least"]), value: number }),
    z.object({ of: z.literal("subject"), is: z.literal("at most"), value: number }),
    z.object({ of: z.literal("nothing") }),
  ]),
  at: z.iso.datetime().describe("When it was measured."),
  /** Load average of the machine in the last minute of the measurement. If it is high, other work may distort times. */
  loadAverage: number,
};

const rowSchema = z.discriminatedUnion("kind", [
  z.object({
    kind: z.literal("measured"),
    ...rowBase,
    rounds: z.array(
      z.object({ first: z.enum(["subject", "baseline"]), subject: measurementSchema, baseline: measurementSchema }),
    ),
    subject: measurementSchema,
    baseline: measurementSchema,
    ratio: number,
    lowestRatio: number,
    highestRatio: number,
    cpuRatio: number,
    isMet: z.boolean().nullable(),
  }),
  z.object({ kind: z.literal("failed"), ...rowBase, reason: z.string() }),
]);

const figuresSchema = z.object({
  format: z.literal("agent-hosting-conformance/bench/1"),
  machine: machineSchema,
  /** The part of the full work that was measured, e.g. 0.1. Only figures of the full work (1) are published. */
  scale: number,
  rows: z.array(rowSchema),
});

export type Figures = Readonly<z.infer<typeof figuresSchema>>;
export type FigureRow = Figures["rows"][number];
export type Machine = Figures["machine"];

export const describeMachine = (): Machine => ({
  cores: cpus().length,
  model: cpus()[0]?.model.trim() ?? "unknown",
  memoryBytes: totalmem(),
  system: `${platform()} ${arch()}`,
  node: process.version,
});

export const toFigures = (rows: readonly FigureRow[], scale: number): Figures => ({
  format: "agent-hosting-conformance/bench/1",
  machine: describeMachine(),
  scale,
  rows: [...rows],
});

export function toFigureRow(measured: MeasuredRow, at: Date): FigureRow {
  const { row } = measured;
  const [loadAverage = 0] = loadavg();
  const base = { ...describeRow(row), at: at.toISOString(), loadAverage };
  if (measured.kind === "failed") return { kind: "failed", ...base, reason: measured.reason };
  const { rounds, result } = measured;
  const subject = comparedValue(row.compared, result.subject);
  const isMet = isGoalMet(row.goal, { ratio: result.ratio, subject });
  return { kind: "measured", ...base, rounds: [...rounds], ...result, isMet };
}

const describeRow = ({ name, what, against, compared, goal }: BenchRow) => ({ name, what, against, compared, goal });

export const readFigures = (file: string): Figures => figuresSchema.parse(JSON.parse(readFileSync(file, "utf8")));

/** Returns the rows that `order` names, in this order. A `fresh` row replaces an earlier row of the same name. */
export function mergeRows(
  kept: readonly FigureRow[],
  fresh: readonly FigureRow[],
  order: readonly string[],
): FigureRow[] {
  const byName = new Map([...kept, ...fresh].map((row) => [row.name, row]));
  return order.flatMap((name) => byName.get(name) ?? []);
}
