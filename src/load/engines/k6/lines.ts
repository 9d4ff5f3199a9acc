import { z } from "zod";

import { tierNames } from "../../../spec/tiers.ts";
import { loadSampleSchema, streamSchema, tierLimitsSchema } from "../../load-evidence.ts";

const count = z.int().nonnegative();

/** One request and its answer, as a script writes it (`k6/lib/lines.ts`). Times are epoch ms of its machine, widened to what is sure. */
const sampleLineSchema = loadSampleSchema.extend({
  load: z.literal("sample"),
  /** When a paced flow wanted it sent. */
  dueMs: z.number().nullable(),
  /** k6's own measure, from the first byte sent to the first one received; fractions of a ms. */
  latencyMs: z.number(),
  /** Why there was no answer. */
  error: z.string().nullable(),
  /** What a stream was made of. Plain k6 reads a stream as a whole: when each event came, it does not know. */
  stream: streamSchema.pick({ sequence: true, chunks: true, indexes: true, ending: true }).nullable(),
});

/** The last line of a process. With it, the lines of a process can be judged wherever they were brought. */
const endLineSchema = z.object({
  load: z.literal("end"),
  scenario: z.string(),
  tier: z.enum(tierNames),
  limits: tierLimitsSchema,
  speed: z.number(),
  /** As given by `--execution-segment`; `0:1` for a process that is alone. */
  segment: z.string(),
  durationMs: z.number(),
  droppedIterations: count,
  iterations: count,
  /** Iterations that ended with an exception of the script. */
  errors: count,
});

const lineSchema = z.discriminatedUnion("load", [sampleLineSchema, endLineSchema]);

export type SampleLine = Readonly<z.infer<typeof sampleLineSchema>>;
export type EndLine = Readonly<z.infer<typeof endLineSchema>>;

/** What each line of a script of ours begins with. */
export const lineBeginning = '{"load":';

/** A line of a script of ours; or `null`: a word of k6 itself. Throws where a line of ours is malformed. */
export function readLine(line: string): SampleLine | EndLine | null {
  if (!line.startsWith(lineBeginning)) return null;
  const json: unknown = JSON.parse(line);
  return isWholeAnswer(json) ? json : lineSchema.parse(json);
}

const isText = (value: unknown): boolean => typeof value === "string";
const isNumber = (value: unknown): boolean => typeof value === "number";
const isCount = (value: unknown): boolean => Number.isSafeInteger(value) && (value as number) >= 0;
const orNull =
  (is: (value: unknown) => boolean) =>
  (value: unknown): boolean =>
    value === null || is(value);

/** As the schema has it, but for a line that tells of a stream, or of what is wrong with a body. */
const wholeAnswer: Readonly<Record<keyof SampleLine, (value: unknown) => boolean>> = {
  load: (value) => value === "sample",
  flow: isText,
  key: isText,
  dueMs: orNull(isNumber),
  sentMs: isNumber,
  headMs: isNumber,
  endMs: isNumber,
  latencyMs: isNumber,
  status: orNull(Number.isSafeInteger),
  limit: orNull(Number.isSafeInteger),
  remaining: orNull(Number.isSafeInteger),
  reset: orNull(Number.isSafeInteger),
  resetAfter: orNull(Number.isSafeInteger),
  retryAfterSeconds: orNull(isNumber),
  date: orNull(Number.isSafeInteger),
  left: (value) => typeof value === "boolean",
  tokens: orNull(isCount),
  error: orNull(isText),
  flaws: (value) => value === null || (Array.isArray(value) && value.length === 0),
  stream: (value) => value === null,
};
const fieldsOfAnswer = Object.entries(wholeAnswer);

/** Nearly all lines of a log tell of a whole answer, and a log has millions: the schema takes four times as long as `JSON.parse`. */
function isWholeAnswer(json: unknown): json is SampleLine {
  if (typeof json !== "object" || json === null) return false;
  const fields = json as Readonly<Record<string, unknown>>;
  return fieldsOfAnswer.every(([name, is]) => is(fields[name]));
}
