import { rmSync, writeFileSync } from "node:fs";

import { conformance, runCommand } from "../measuring/command.ts";
import { scratchFile } from "../measuring/scratch.ts";
import { type BenchServer, startServer } from "../measuring/server.ts";
import { atMost } from "../tool/goal.ts";
import { maxLongRounds, nothingToClose, type Row, type Side } from "../tool/row.ts";

const fullTargets = 50;

/** Writes a vendors file in which each of the servers is a target with one key. */
function vendorsFile({ urls, key }: BenchServer): string {
  const file = scratchFile("vendors", "json");
  const vendors = urls.map((baseUrl, at) => ({
    name: `vendor ${at + 1}`,
    target: { baseUrl, keys: { team: { key, tier: "team", fresh: true } } },
  }));
  writeFileSync(file, JSON.stringify({ vendors }));
  return file;
}

/** Starts new servers for each measurement, because a run uses up part of the limits of its servers. */
const judging =
  (targets: number): Side =>
  async () => {
    const served = await startServer("many-references", { servers: targets });
    const out = scratchFile("vendors", "report");
    try {
      const file = vendorsFile(served);
      const args = conformance("vendors", file, "--quiet", "--max-wait", "0s", "--out", out);
      return await runCommand({ args, codes: [0, 1, 3] });
    } finally {
      rmSync(out, { recursive: true, force: true });
      await served.close();
    }
  };

export const vendorsRow: Row = {
  name: "vendors",
  what: `\`vendors\` with ${fullTargets} targets of one key each on loopback`,
  against: "one of them",
  compared: "wall time",
  goal: atMost(5),
  mostRounds: maxLongRounds,
  open: async (size) => ({
    subject: judging(size.of(fullTargets)),
    baseline: judging(1),
    close: nothingToClose,
  }),
};
