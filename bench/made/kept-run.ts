import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { z } from "zod";

import { conformance, runCommand } from "../measuring/command.ts";
import { scratchFile } from "../measuring/scratch.ts";

/** A folder with the report and the evidence of a whole run on the embedded server. */
export async function keptRun(): Promise<string> {
  const folder = scratchFile("kept", "report");
  await runCommand({ args: conformance("run", "--quiet", "--out", folder), codes: [0] });
  return folder;
}

/** As much of `evidence.json` as is looked into here. */
const evidenceSchema = z.looseObject({
  exchanges: z.record(z.string(), z.looseObject({ id: z.string() })),
  probes: z.array(z.looseObject({ evidence: z.unknown() })),
});
/** What the probe brought that looks back at all of a run. */
const lookedBackSchema = z.looseObject({ exchanges: z.array(z.object({ $exchange: z.string() })) });

/**
 * Writes the evidence of a kept run with so many exchanges: those of the run, and copies of them under ids of their own, which the probe that
 * looks back at the whole run has seen, too.
 */
export function writeManyExchanges(folder: string, file: string, wanted: number): void {
  const evidence = evidenceSchema.parse(JSON.parse(readFileSync(join(folder, "evidence.json"), "utf8")));
  const own = Object.values(evidence.exchanges);
  const copies = Array.from({ length: Math.max(0, wanted - own.length) }, (_, at) => {
    const id = `x${own.length + at + 1}`;
    return { ...own[at % own.length], id };
  });
  const seen = evidence.probes.filter((probe) => looksBackAt(probe.evidence, own.length));
  if (seen.length !== 1) throw new Error(`${seen.length} probes look back at the whole run, and not one`);
  for (const probe of seen) {
    const { exchanges, ...rest } = lookedBackSchema.parse(probe.evidence);
    probe.evidence = { ...rest, exchanges: [...exchanges, ...copies.map(({ id }) => ({ $exchange: id }))] };
  }
  for (const copy of copies) evidence.exchanges[copy.id] = copy;
  writeFileSync(file, JSON.stringify(evidence));
}

function looksBackAt(brought: unknown, exchanges: number): boolean {
  const looked = lookedBackSchema.safeParse(brought);
  return looked.success && looked.data.exchanges.length >= exchanges;
}
