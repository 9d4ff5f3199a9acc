import { z } from "zod";

import { tierNames } from "../../../interface/tiers.ts";

const count = z.int().nonnegative();
const shown = z.int().nullable();

/** What a script writes for each request. Its writer is `k6/engine/lines.ts`. */
const sampleLineSchema = z.object({
  load: z.literal("sample"),
  flow: z.string(),
  key: z.string(),
  dueMs: z.number().nullable(),
  sentMs: z.number(),
  headMs: z.number(),
  endMs: z.number(),
  latencyMs: z.number(),
  status: z.int().nullable(),
  limit: shown,
  remaining: shown,
  reset: shown,
  resetAfter: shown,
  retryAfterSeconds: z.number().nullable(),
  date: z.int().nullable(),
  left: z.boolean(),
  tokens: count.nullable(),
  error: z.string().nullable(),
  stream: z
    .object({
      sequence: z.array(z.string()),
      chunks: count,
      indexes: z.enum(["absent", "rising", "broken"]),
      ending: z.enum(["whole", "left", "cut"]),
    })
    .nullable(),
});

const endLineSchema = z.object({
  load: z.literal("end"),
  scenario: z.string(),
  tier: z.enum(tierNames),
  limits: z.object({
    perHour: count,
    perMinute: count,
    concurrent: count,
    burst: count.nullable(),
    tokensPerMonth: count.nullable(),
  }),
  speed: z.number(),
  segment: z.string(),
  durationMs: z.number(),
  droppedIterations: count,
  iterations: count,
  errors: count,
});

const lineSchema = z.discriminatedUnion("load", [sampleLineSchema, endLineSchema]);

export type SampleLine = z.infer<typeof sampleLineSchema>;
export type EndLine = z.infer<typeof endLineSchema>;

/** A line of a script of ours; or `null`: a word of k6 itself. Throws where a line of ours is malformed. */
export function readLine(line: string): SampleLine | EndLine | null {
  return line.startsWith('{"load":') ? lineSchema.parse(JSON.parse(line)) : null;
}
