import { z } from "zod";

import { type RateHeaderKey, rateHeaderKeys } from "../../../spec/headers.ts";
import { tierNames } from "../../../spec/tiers.ts";
import { isRateValue } from "../../../rules/limits/rate-limit-info.ts";
import { loadSampleSchema, streamSchema, tierLimitsSchema } from "../../../evidence/load-evidence.ts";

const count = z.int().nonnegative();

/** One request and its response. k6's clock has whole ms: scripts round `sentMs` down, and `headMs` and `endMs` up. */
const sampleLineSchema = loadSampleSchema.extend({
  load: z.literal("sample"),
  /** Planned time of sending by the flow's constant rate, in Unix ms; `null` if the flow has no constant rate. */
  dueMs: z.number().nullable(),
  /** Latency that k6 measured, from the first byte sent to the first byte received. */
  latencyMs: z.number(),
  error: z.string().nullable(),
  /** The events of a stream, without times: k6 reads a stream as a whole. */
  stream: streamSchema.pick({ sequence: true, chunks: true, indexes: true, ending: true }).nullable(),
});

/** The last line that a k6 script writes. It names the scenario, tier and limits for judging the sample lines. */
const endLineSchema = z.object({
  load: z.literal("end"),
  scenario: z.string(),
  tier: z.enum(tierNames),
  limits: tierLimitsSchema,
  speed: z.number(),
  /** The segment of the load that this k6 process sent (`--execution-segment`). `0:1` is the whole load. */
  segment: z.string(),
  durationMs: z.number(),
  droppedIterations: count,
  iterations: count,
  errors: count,
});

const lineSchema = z.discriminatedUnion("load", [sampleLineSchema, endLineSchema]);

export type SampleLine = Readonly<z.infer<typeof sampleLineSchema>>;
export type EndLine = Readonly<z.infer<typeof endLineSchema>>;

export const lineBeginning = '{"load":';

/** Parses a line of k6's output. Returns `null` if no script of this package wrote the line. */
export function readLine(line: string): SampleLine | EndLine | null {
  if (!line.startsWith(lineBeginning)) return null;
  const json: unknown = JSON.parse(line);
  return isPlainSample(json) ? json : lineSchema.parse(json);
}

const isText = (value: unknown): boolean => typeof value === "string";
const isNumber = (value: unknown): boolean => typeof value === "number";
const isCount = (value: unknown): boolean => Number.isSafeInteger(value) && (value as number) >= 0;
const orNullTest =
  (is: (value: unknown) => boolean) =>
  (value: unknown): boolean =>
    value === null || is(value);

/** One test per field of a typical sample line: no stream, no flaws. These tests are faster than the schema. */
const plainSample: Readonly<Record<keyof SampleLine, (value: unknown) => boolean>> = {
  load: (value) => value === "sample",
  flow: isText,
  key: isText,
  dueMs: orNullTest(isNumber),
  sentMs: isNumber,
  headMs: isNumber,
  endMs: isNumber,
  latencyMs: isNumber,
  status: orNullTest(Number.isSafeInteger),
  ...(Object.fromEntries(
    rateHeaderKeys.map((name) => [name, orNullTest((value) => isRateValue(name, value))]),
  ) as Record<RateHeaderKey, (value: unknown) => boolean>),
  malformed: (value) => value === undefined,
  retryAfterSeconds: orNullTest(isNumber),
  date: orNullTest(Number.isSafeInteger),
  left: (value) => typeof value === "boolean",
  tokens: orNullTest(isCount),
  error: orNullTest(isText),
  flaws: (value) => value === null || (Array.isArray(value) && value.length === 0),
  stream: (value) => value === null,
};
const plainFields = Object.entries(plainSample);

/** Whether a parsed line is a typical sample. Avoids the schema, which takes four times as long as `JSON.parse`. */
function isPlainSample(json: unknown): json is SampleLine {
  if (typeof json !== "object" || json === null) return false;
  const fields = json as Readonly<Record<string, unknown>>;
  return plainFields.every(([name, is]) => is(fields[name]));
}
