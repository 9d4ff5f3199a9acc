import { readFileSync } from "node:fs";

import { z } from "zod";

import { judgeSavedLoad } from "../../src/app/load/judge-saved-load.ts";
import { measureTime, type Measurement } from "../measuring/measurement.ts";

const inputSchema = z.object({ side: z.enum(["judge", "parse"]), file: z.string() });

/** Measures how long judging a k6 log takes. The baseline only parses each line with `JSON.parse`. */
export async function run(input: unknown): Promise<Measurement> {
  const { side, file } = inputSchema.parse(input);
  const took = await measureTime(side === "judge" ? () => judgeLog(file) : () => parseLines(file));
  return { ...took, bytes: process.resourceUsage().maxRSS * 1024 };
}

function judgeLog(file: string): void {
  const { report } = judgeSavedLoad([file], 0);
  if (report.findings.length === 0) throw new Error("the judge said nothing");
}

function parseLines(file: string): void {
  let fields = 0;
  for (const line of readFileSync(file, "utf8").split("\n"))
    if (line !== "") fields += Object.keys(JSON.parse(line) as object).length;
  if (fields === 0) throw new Error("there were no lines");
}
