import { z } from "zod";

import { clauseIds } from "../spec/clauses.ts";
import { tierNames } from "../spec/tiers.ts";
import { type RateValue, rateValues } from "../spec/headers.ts";

const count = z.int().nonnegative();
const shown = z.int().nullable();
const instant = z.number().describe("Epoch milliseconds of the machine that sent the load.");

export const tierLimitsSchema = z.object({
  perHour: count,
  perMinute: count,
  concurrent: count,
  burst: count.nullable(),
  tokensPerMonth: count.nullable(),
});

const shapeSchema = z.discriminatedUnion("kind", [
  z.object({ kind: z.literal("at once"), requests: count }),
  z.object({ kind: z.literal("in turn"), requests: count }),
  z.object({ kind: z.literal("shared"), atOnce: count, requests: count }),
  z.object({ kind: z.literal("closed"), atOnce: count, seconds: z.number() }),
  z.object({ kind: z.literal("paced"), perSecond: z.number(), seconds: z.number() }),
  z.object({ kind: z.literal("after refusal"), rounds: count }),
]);

const flowSchema = z.object({
  name: z.string(),
  key: z.enum(["main", "second"]),
  operation: z.object({
    kind: z.enum(["invoke", "stream", "health", "usage", "list"]),
    agent: z.enum(["answering", "streaming", "slow", "slowStreaming", "failing"]),
  }),
  shape: shapeSchema,
  afterSeconds: z.number(),
  leaveAfterMs: z.number().nullable(),
});

const flawSchema = z
  .object({ clause: z.enum(clauseIds), expected: z.string(), actual: z.string() })
  .meta({ id: "loadFlaw" });

export const loadSampleSchema = z
  .object({
    flow: z.string(),
    key: z.string().describe("Role of the key; never the key itself."),
    sentMs: instant,
    headMs: instant.describe("When the head had arrived; where none came, when that was known."),
    endMs: instant.describe("When the answer had ended, or was left."),
    status: z.int().nullable().describe("null: no answer came."),
    ...(Object.fromEntries(rateValues.map((name) => [name, shown])) as Record<RateValue, typeof shown>),
    retryAfterSeconds: z.number().nullable().describe("Of the body of a 429, in either form."),
    date: z.int().nullable().describe("Unix seconds of the Date header."),
    left: z.boolean().describe("The client closed the connection before the answer's end, as its flow says."),
    tokens: count.nullable().describe("usage.total_tokens of an answer or of a stream's done."),
    flaws: z
      .array(flawSchema)
      .nullable()
      .default(null)
      .describe(
        "What its body and its Content-Type break by themselves, looked at when it came; null: there was no whole body to look at.",
      ),
  })
  .meta({ id: "loadSample" });

const slotSchema = z
  .object({
    flow: z.string(),
    key: z.string(),
    second: z.int().describe("Unix second: of the Date header where there was one, else of the end."),
    admitted: count.describe("Answers with a 2xx status."),
    refused: count.describe("Answers with 429."),
    failed: count.describe("Answers with any other status."),
    unanswered: count,
    tokens: count,
    heads: z
      .array(
        z.object({
          status: z.int(),
          answered: count,
          lacking: count.describe(
            "Those that lacked one of the four rate-limit headers, or had one that is no whole number.",
          ),
          negative: count.describe("Those of which a rate-limit header was negative."),
          aboveLimit: count.describe("Those whose remaining was above their limit."),
        }),
      )
      .default([])
      .describe("What the answers' rate-limit headers were, by status."),
    bodies: z
      .array(
        z.object({
          status: z.int(),
          looked: count,
          flaws: z.array(flawSchema.extend({ count })).describe("The first of each clause, and how many broke it."),
        }),
      )
      .default([])
      .describe("Bodies that were looked at when they came, by status."),
    firstSentMs: instant,
    lastEndMs: instant,
  })
  .meta({ id: "loadSlot" });

const histogramSchema = z
  .object({
    count,
    p50Us: count,
    p90Us: count,
    p99Us: count,
    p999Us: count,
    maxUs: count,
    encoded: z.string().describe("The whole HDR histogram of microseconds, compressed, base64."),
  })
  .meta({ id: "latencyHistogram" });

export const streamSchema = z
  .object({
    flow: z.string(),
    sentMs: instant,
    status: z.int().nullable(),
    firstEventMs: instant.nullable().describe("null: no event came."),
    endMs: instant,
    longestGapMs: z
      .number()
      .nullable()
      .describe(
        "Longest time between two events; null where there were fewer than two, or the engine cannot tell events' arrivals apart.",
      ),
    sequence: z.array(z.string()).describe("Names of the events in order; runs of chunks stand once."),
    chunks: count,
    indexes: z
      .enum(["absent", "rising", "broken"])
      .describe("Of the chunks: on none; on all, each above the one before; anything else."),
    ending: z.enum(["whole", "left", "cut"]).describe("The body ended by itself; the client left; it broke off."),
    totalTokens: count.nullable().describe("usage.total_tokens of done."),
  })
  .meta({ id: "loadStream" });

const deliveriesSchema = z.object({
  received: count.describe("Requests of type agent.completed that reached the receiver."),
  badSignatures: count,
  distinctRequests: count.describe("Different request_ids among them."),
  duplicates: count,
});

/** What an engine saw of a target under one scenario, or the evidence of several processes merged. Plain JSON; no key, no secret. */
export const loadEvidenceSchema = z
  .object({
    format: z.literal("agent-hosting-conformance/load-evidence/1"),
    scenario: z.string(),
    engine: z.enum(["k6", "autocannon"]),
    engineVersion: z.string(),
    tier: z.enum(tierNames).nullable(),
    limits: tierLimitsSchema.describe("The tier's numbers that the target is held to."),
    flows: z.array(flowSchema).describe("What was planned, in the target's time."),
    isFresh: z.boolean().describe("Nothing had been sent with the keys before."),
    startedAt: z.string().describe("ISO 8601."),
    durationMs: z.number(),
    speed: z.number().describe("How many milliseconds pass at the target in one of the load machine's."),
    segments: z
      .array(z.string())
      .describe('Parts of the load that this evidence holds, as k6 writes them; ["0:1"] is all of it.'),
    clocksApartMs: z
      .number()
      .nonnegative()
      .optional()
      .describe("How far the clocks of the machines that sent the parts may be apart; absent: it was one clock."),
    notes: z
      .array(z.string())
      .describe("How the engine did what it did, where that matters to a reader: resolution, who sent which flow."),
    requests: z.array(loadSampleSchema).describe("Every request in order of sending; empty where `summary` has them."),
    summary: z.array(slotSchema).describe("Of long runs: exact counts per flow and second of the target's time."),
    generator: z.object({
      planned: count.describe("Requests that the flows ask for; where answers decide how many, those that were sent."),
      sent: count,
      dropped: count.describe("Requests that the generator could not start."),
      late: count.describe("Requests that it started later than planned by more than 100 ms."),
      busiest: z
        .number()
        .nullable()
        .describe("Share of one core that it used in its most busy second; null where it is not known."),
    }),
    latency: z
      .object({ admitted: histogramSchema, refused: histogramSchema, other: histogramSchema })
      .describe("From sending to the answer's head: 2xx, 429, any other status."),
    streams: z.array(streamSchema),
    ledger: z
      .object({
        before: z.unknown(),
        after: z.unknown(),
        readsAfter: count.optional().describe("How often it was read after the load, as it may lag; absent: once."),
      })
      .nullable()
      .describe("Bodies of GET /usage with the main key; after the load, the last one."),
    deliveries: deliveriesSchema.nullable(),
    server: z
      .object({ rssBytes: z.array(count) })
      .nullable()
      .describe("Memory of the embedded server, at even intervals."),
    stopped: z.string().nullable().describe("Why the run ended early."),
  })
  .describe("What a load engine sent and saw under one scenario.");

export type LoadEvidence = z.infer<typeof loadEvidenceSchema>;
export type LoadSample = Readonly<z.infer<typeof loadSampleSchema>>;
export type SecondCounts = z.infer<typeof slotSchema>;
export type LatencyHistogram = z.infer<typeof histogramSchema>;
export type StreamSummary = z.infer<typeof streamSchema>;
export type DeliverySummary = z.infer<typeof deliveriesSchema>;

export const loadEvidenceFormat = "agent-hosting-conformance/load-evidence/1";
