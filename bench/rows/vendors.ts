import { rmSync, writeFileSync } from "node:fs";

import { conformanceArgs, runCommand } from "../measuring/command.ts";
import { scratchFile } from "../measuring/scratch.ts";
import { type BenchServer, startServer } from "../measuring/server.ts";
import { maxRatio, maxLongRounds, nothingToClose, type BenchRow, type MeasureSide } from "../tool/row.ts";

const fullTargets = 50;

function vendorsFile({ urls, key }: BenchServer): string {
  const file = scratchFile("vendors", "json");
  const vendors = urls.map((baseUrl, at) => ({
    name: `vendor ${at + 1}`,
    target: { baseUrl, keys: { team: { key, tier: "team", fresh: true } } },
  }));
  writeFileSync(file, JSON.stringify({ vendors }));
  return file;
}

const measureVendors =
  (targets: number): MeasureSide =>
  async () => {
    const served = await startServer("many-references", { servers: targets });
    const out = scratchFile("vendors", "report");
    try {
      const file = vendorsFile(served);
      const args = conformanceArgs("vendors", file, "--quiet", "--max-wait", "0s", "--out", out);
      return await runCommand({ args, codes: [0, 1, 3] });
    } finally {
      rmSync(out, { recursive: true, force: true });
      await served.close();
    }
  };

export const vendorsRow: BenchRow = {
  name: "vendors",
  what: `\`vendors\` with ${fullTargets} targets of one key each on loopback`,
  against: "one of them",
  compared: "wall time",
  goal: maxRatio(5),
  maxRounds: maxLongRounds,
  open: async (size) => ({
    subject: measureVendors(size.of(fullTargets)),
    baseline: measureVendors(1),
    close: nothingToClose,
  }),
};
