import { z } from "zod";

import type { LoadPart } from "./load-part.ts";

const count = z.int().nonnegative();
const ms = z.number().nonnegative();
const why = z.string().nullable();

const percentilesSchema = z
  .object({ count, p50: ms, p90: ms, p99: ms, p999: ms, max: ms })
  .describe("Milliseconds.")
  .nullable();
const spreadSchema = z.object({ count, median: ms, p99: ms, max: ms }).describe("Milliseconds.").nullable();

const runSchema = z
  .object({
    scenario: z.string(),
    title: z.string(),
    tier: z.string().nullable(),
    engine: z.string(),
    engineVersion: z.string(),
    segments: z.array(z.string()).describe('Parts of the load; ["0:1"] is all of it by one process.'),
    evidence: z.string().describe("File of the load evidence, beside `report.json`."),
    started: z.string().describe("ISO 8601."),
    durationMs: ms,
    speed: z.number().describe("How many milliseconds passed at the target in one of the load machine's."),
    isFresh: z.boolean().describe("Nothing had been sent with the keys before."),
    requests: z.object({
      planned: count,
      sent: count,
      admitted: count.describe("Answers with a 2xx status."),
      refused: count.describe("Answers with 429."),
      failed: count.describe("Answers with any other status."),
      unanswered: count,
      left: count.describe("The client closed the connection, as its flow says."),
    }),
    perSecond: z.object({ sent: z.number(), admitted: z.number() }).describe("Over the whole duration."),
    latencyMs: z
      .object({ admitted: percentilesSchema, refused: percentilesSchema })
      .describe("From sending to the answer's head."),
    streams: z
      .object({ count, firstEventMs: spreadSchema, longestGapMs: spreadSchema })
      .describe("Of each stream: time to its first event, longest time between two.")
      .nullable(),
    generator: z.object({
      dropped: count.describe("Requests that it could not start."),
      late: count.describe("Requests that it started more than 100 ms late."),
      busiest: z.number().nullable().describe("Share of one core in its most busy second."),
    }),
    validity: z
      .object({ invalid: why, counts: why, pace: why })
      .describe("Why the run proves nothing, not its exact counts, or not its times; null where it does."),
    windows: z.string().nullable().describe("Shapes of windows that explain all that was admitted and refused."),
    serverRssBytes: z
      .object({ first: count, last: count, most: count })
      .describe("Memory of the embedded server.")
      .nullable(),
    notes: z.array(z.string()),
    stopped: why.describe("Why it ended early."),
  })
  .describe("One scenario on one tier by one engine.");

/** The `load` part of `report.json`. */
export const loadPartSchema = z
  .object({ runs: z.array(runSchema) })
  .describe("What load was sent; in reports of `conformance load` only.") satisfies z.ZodType<LoadPart>;
