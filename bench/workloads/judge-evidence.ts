import { readFileSync } from "node:fs";
import { join } from "node:path";

import { z } from "zod";

import { rejudgeRun } from "../../src/app/rejudge.ts";
import { cliMessages } from "../../src/cli/messages.ts";
import { readEvidence, readReport } from "../../src/report/model/report-file.ts";
import { measureTime, type Measurement } from "../measuring/measurement.ts";

const inputSchema = z.object({ side: z.enum(["judge", "parse"]), folder: z.string(), file: z.string() });

/** Measures how long judging saved evidence takes. The baseline only parses the file with `JSON.parse`. */
export async function run(input: unknown): Promise<Measurement> {
  const { side, folder, file } = inputSchema.parse(input);
  const path = join(folder, "report.json");
  const report = readReport(readFileSync(path, "utf8"), path);
  if (side === "parse") return measureTime(() => JSON.parse(readFileSync(file, "utf8")) as unknown);
  return measureTime(() => rejudgeRun(report, readEvidence(readFileSync(file, "utf8"), file), cliMessages));
}
