import { z } from "zod";

import type { DeepReadonly } from "../../base/deep-readonly.ts";

const count = z.int().nonnegative();
const ms = z.number().nonnegative();
const why = z.string().nullable();

const percentilesSchema = z.object({ count, p50: ms, p90: ms, p99: ms, p999: ms, max: ms }).describe("Milliseconds.");
const spreadSchema = z.object({ count, median: ms, p99: ms, max: ms }).describe("Milliseconds.");

/** What load a row of a report speaks of. */
export const findingTrialSchema = z
  .object({ scenario: z.string(), tier: z.string(), engine: z.string() })
  .describe("Under load: the scenario, the tier and the engine that the row speaks of.");

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
      /** Those that the client left are not among them. */
      unanswered: count,
      left: count.describe("The client closed the connection, as its flow says."),
    }),
    /** Pauses included. */
    perSecond: z.object({ sent: z.number(), admitted: z.number() }).describe("Over the whole duration."),
    /** Of admitted and refused requests apart; `null` where there were none. */
    latencyMs: z
      .object({ admitted: percentilesSchema.nullable(), refused: percentilesSchema.nullable() })
      .describe("From sending to the answer's head."),
    /** `null` where no stream was opened; `longestGapMs` is `null` where the engine cannot tell. */
    streams: z
      .object({ count, firstEventMs: spreadSchema.nullable(), longestGapMs: spreadSchema.nullable() })
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
    /** `null` of any other server. */
    serverRssBytes: z
      .object({ first: count, last: count, most: count })
      .describe("Memory of the embedded server.")
      .nullable(),
    notes: z.array(z.string()),
    stopped: why.describe("Why it ended early."),
  })
  .describe("One scenario on one tier by one engine.");

/** The `load` part of `report.json`. */
export const loadResultsSchema = z
  .object({ runs: z.array(runSchema) })
  .describe("What load was sent; in reports of `conformance load` only.");

export type FindingTrial = DeepReadonly<z.infer<typeof findingTrialSchema>>;
export type Percentiles = DeepReadonly<z.infer<typeof percentilesSchema>>;
export type Spread = DeepReadonly<z.infer<typeof spreadSchema>>;

/** One scenario on one tier by one engine: what was sent, and what it is good for. */
export type LoadRun = DeepReadonly<z.infer<typeof runSchema>>;

/** The part of a report that tells of load. */
export type LoadResults = DeepReadonly<z.infer<typeof loadResultsSchema>>;
