import { conformanceArgs, runCommand } from "../measuring/command.ts";
import type { Measurement } from "../measuring/measurement.ts";
import { divideTimes } from "../measuring/measure-time.ts";
import { maxRatio } from "../tool/goal.ts";
import { nothingToClose, type BenchRow, type MeasureSide } from "../tool/row.ts";

/** Number of starts in one measurement, because a single start is too short to measure. */
const startsPerMeasurement = 3;

const measureStarts =
  (args: readonly string[]): MeasureSide =>
  async () => {
    const tooks: Measurement[] = [];
    for (let start = 0; start < startsPerMeasurement; start += 1) tooks.push(await runCommand({ args, codes: [0] }));
    const sum = (name: "wallMs" | "cpuMs"): number => tooks.reduce((all, took) => all + took[name], 0);
    return divideTimes(
      { wallMs: sum("wallMs"), cpuMs: sum("cpuMs"), bytes: tooks[0]?.bytes ?? null },
      startsPerMeasurement,
    );
  };

const commands = {
  version: ["--version"],
  help: ["--help"],
  explain: ["explain", "INV-10"],
  list: ["list"],
} as const satisfies Record<string, readonly string[]>;

/** Rows that measure how long the command takes to start. */
export const startRows: readonly BenchRow[] = Object.entries(commands).map(([name, args]) => ({
  name: `start-${name}`,
  what: `\`conformance ${args.join(" ")}\`, start to exit`,
  against: "`node -e 0`",
  compared: "wall time",
  goal: maxRatio(3),
  maxRounds: null,
  open: async () => ({
    subject: measureStarts(conformanceArgs(...args)),
    baseline: measureStarts(["-e", "0"]),
    close: nothingToClose,
  }),
}));
