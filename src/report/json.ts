import type { z } from "zod";

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
    throw new UnreadableFile(`${file}: ${error instanceof Error ? error.message : String(error)}`);
  }
}

function read<T>(text: string, file: string, schema: z.ZodType<T>): T {
  const parsed = schema.safeParse(parseJson(text, file));
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  const where = issue === undefined || issue.path.length === 0 ? "the file" : issue.path.join(".");
  throw new UnreadableFile(`${file}: ${where}: ${issue?.message ?? "is not as it should be"}. Is it of this version?`);
}

function parseJson(text: string, file: string): unknown {
  try {
    // An editor may have put a byte order mark in front.
    return JSON.parse(text.replace(/^\uFEFF/, "")) as unknown;
  } catch (error) {
    throw new UnreadableFile(`${file} is not JSON: ${error instanceof Error ? error.message : String(error)}`);
  }
}
