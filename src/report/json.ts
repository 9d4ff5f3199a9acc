import type { z } from "zod";

import { parseAs, parseJson } from "../base/parsing.ts";
import { messageOf } from "../base/errors.ts";
import { type Evidence } from "../evidence/evidence.ts";
import { packEvidence, unpackEvidence } from "../evidence/packing.ts";
import { evidenceSchema } from "../evidence/evidence.ts";
import { withRowLoads } from "./load-name.ts";
import { reportSchema } from "./report.ts";
import type { Report } from "./report.ts";

/** `report.json`: two spaces a level, and a line feed at the end. */
export const reportText = (report: Report): string => `${JSON.stringify(report, null, 2)}\n`;

/** `evidence.json`: an exchange, a delivery or a probe a line, because it is long and read by machines, or by a person with a search. */
export function evidenceText(evidence: Evidence): string {
  const { format, exchanges, deliveries, probes } = packEvidence(evidence);
  return [
    `{ "format": ${JSON.stringify(format)},`,
    `"exchanges": ${recordLines(exchanges)},`,
    `"deliveries": ${recordLines(deliveries)},`,
    `"probes": [\n${probes.map((each) => JSON.stringify(each)).join(",\n")}\n] }\n`,
  ].join("\n");
}

function recordLines(record: Readonly<Record<string, unknown>>): string {
  const lines = Object.entries(record).map(([id, each]) => `${JSON.stringify(id)}: ${JSON.stringify(each)}`);
  return `{\n${lines.join(",\n")}\n}`;
}

/** A kept file that is not what it should be; the message names the file and the place in it. */
export class UnreadableFile extends Error {
  override readonly name = "UnreadableFile";
}

/** @throws {UnreadableFile} */
export const readReport = (text: string, file: string): Report => withRowLoads(read(text, file, reportSchema));

/** @throws {UnreadableFile} */
export function readEvidence(text: string, file: string): Evidence {
  const packed = read(text, file, evidenceSchema);
  try {
    return unpackEvidence(packed);
  } catch (error) {
    throw new UnreadableFile(`${file}: ${messageOf(error)}`);
  }
}

function read<T>(text: string, file: string, schema: z.ZodType<T>): T {
  const json = parseJson(text);
  if (json.kind === "problem") throw new UnreadableFile(`${file} is not JSON: ${json.problem}`);
  const parsed = parseAs(json.value, schema);
  if (parsed.kind === "value") return parsed.value;
  throw new UnreadableFile(`${file}: ${parsed.problem}. Is it of this version?`);
}
