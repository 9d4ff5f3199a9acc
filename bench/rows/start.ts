import { conformance, runCommand } from "../measuring/command.ts";
import type { Measurement } from "../measuring/measurement.ts";
import { perOne } from "../measuring/timed.ts";
import { atMost } from "../tool/goal.ts";
import { nothingToClose, type Row, type Side } from "../tool/row.ts";

/** Number of starts that one measurement sums up, because a single start is short. */
const startsPerMeasurement = 3;

const starts =
  (args: readonly string[]): Side =>
  async () => {
    const tooks: Measurement[] = [];
    for (let start = 0; start < startsPerMeasurement; start += 1) tooks.push(await runCommand({ args, codes: [0] }));
    const sum = (name: "wallMs" | "cpuMs"): number => tooks.reduce((all, took) => all + took[name], 0);
    return perOne({ wallMs: sum("wallMs"), cpuMs: sum("cpuMs"), bytes: tooks[0]?.bytes ?? null }, startsPerMeasurement);
  };

const commands = {
  version: ["--version"],
  help: ["--help"],
  explain: ["explain", "INV-10"],
  list: ["list"],
} as const satisfies Record<string, readonly string[]>;

/** Rows that measure how long the command takes to start. */
export const startRows: readonly Row[] = Object.entries(commands).map(([name, args]) => ({
  name: `start-${name}`,
  what: `\`conformance ${args.join(" ")}\`, start to exit`,
  against: "`node -e 0`",
  compared: "wall time",
  goal: atMost(3),
  mostRounds: null,
  open: async () => ({ subject: starts(conformance(...args)), baseline: starts(["-e", "0"]), close: nothingToClose }),
}));
