import { z } from "zod";

import { clauseIds } from "../spec/clauses.ts";
import { tierNames } from "../spec/tiers.ts";
import { rateHeaderOf, type RateHeaderKey, rateHeaderKeys, type TypeOfRateValue } from "../spec/headers.ts";

const count = z.int().nonnegative();
/** Returns the schema of a rate-limit header's value. The default is `null`, because older files lack some headers. */
const rateValueSchema = (name: RateHeaderKey) => acceptedValue(rateHeaderOf(name).value).nullable().default(null);

function acceptedValue(value: ReturnType<typeof rateHeaderOf>["value"]): z.ZodType<string | number> {
  if (typeof value !== "string") return z.enum(value);
  return value === "requests" ? z.int() : z.number();
}

type RateValueSchemas = {
  readonly [N in RateHeaderKey]: z.ZodDefault<z.ZodNullable<z.ZodType<TypeOfRateValue<N>>>>;
};
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

const malformedHeaderSchema = z
  .object({ name: z.enum(rateHeaderKeys), actual: z.string() })
  .meta({ id: "loadMalformedHeader" });

export const loadSampleSchema = z
  .object({
    flow: z.string(),
    key: z.string().describe("Role of the key; never the key itself."),
    sentMs: instant,
    headMs: instant.describe("When the head had arrived; without a response, when that was known."),
    endMs: instant.describe("When the response had ended, or the client disconnected."),
    status: z.int().nullable().describe("null: no response."),
    ...(Object.fromEntries(rateHeaderKeys.map((name) => [name, rateValueSchema(name)])) as unknown as RateValueSchemas),
    retryAfterSeconds: z.number().nullable().describe("From the body of a 429, in either error form."),
    date: z.int().nullable().describe("Unix seconds of the Date header."),
    left: z.boolean().describe("The client disconnected before the end of the response, as its flow says."),
    tokens: count.nullable().describe("usage.total_tokens of a response, or of a stream's done event."),
    flaws: z
      .array(flawSchema)
      .nullable()
      .default(null)
      .describe("Violations in the body and its Content-Type; null: there was no complete body to check."),
    malformed: z
      .array(malformedHeaderSchema)
      .optional()
      .describe("Rate-limit headers that were sent malformed (HDR-9); absent: none."),
  })
  .meta({ id: "loadSample" });

const secondCountsSchema = z
  .object({
    flow: z.string(),
    key: z.string(),
    second: z.int().describe("Unix second: of the Date header, or of the end if there is none."),
    admitted: count.describe("Responses with a 2xx status."),
    refused: count.describe("Responses with 429."),
    failed: count.describe("Responses with any other status."),
    unanswered: count,
    tokens: count,
    heads: z
      .array(
        z.object({
          status: z.int(),
          answered: count,
          lacking: count.describe("Responses without one of the rate-limit headers."),
          malformed: count
            .default(0)
            .describe("Responses with a malformed rate-limit header, but none that is negative."),
          negative: count.describe("Responses with a negative rate-limit header."),
          aboveLimit: count.describe("Responses whose remaining was above their limit."),
        }),
      )
      .default([])
      .describe("Counts of the rate-limit headers, by status."),
    bodies: z
      .array(
        z.object({
          status: z.int(),
          looked: count,
          flaws: z
            .array(flawSchema.extend({ count }))
            .describe("The first violation of each clause, and the number of violations."),
        }),
      )
      .default([])
      .describe("Bodies that were checked on arrival, by status."),
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
    firstEventMs: instant.nullable().describe("null: there was no event."),
    endMs: instant,
    longestGapMs: z
      .number()
      .nullable()
      .describe(
        "Longest time between two events; null if there were fewer than two, or the engine does not know when each arrived.",
      ),
    sequence: z.array(z.string()).describe("Names of the events in order; consecutive chunks are listed once."),
    chunks: count,
    indexes: z
      .enum(["absent", "rising", "broken"])
      .describe(
        "Indexes of the chunks. absent: on none; rising: on all, each above the previous one; broken: anything else.",
      ),
    ending: z
      .enum(["whole", "left", "cut"])
      .describe("whole: the body ended by itself; left: the client disconnected; cut: the connection broke."),
    totalTokens: count.nullable().describe("usage.total_tokens of the done event."),
  })
  .meta({ id: "loadStream" });

const deliveriesSchema = z.object({
  received: count.describe("Deliveries of type agent.completed that reached the receiver."),
  badSignatures: count,
  distinctRequests: count.describe("Distinct request_ids of the deliveries."),
  duplicates: count,
});

export const loadEvidenceSchema = z
  .object({
    format: z.literal("agent-hosting-conformance/load-evidence/1"),
    scenario: z.string(),
    engine: z.enum(["k6", "autocannon"]),
    engineVersion: z.string(),
    tier: z.enum(tierNames).nullable(),
    limits: tierLimitsSchema.describe("The tier's limits that the target must keep."),
    flows: z.array(flowSchema).describe("The planned traffic, in the target's time."),
    isFresh: z.boolean().describe("Nothing had been sent with the keys before."),
    startedAt: z.string().describe("ISO 8601."),
    durationMs: z.number(),
    speed: z.number().describe("How many times as fast as the load machine's the target's clock runs."),
    segments: z
      .array(z.string())
      .describe('Parts of the load in this evidence, in the notation of k6; ["0:1"] is the whole load.'),
    clocksApartMs: z
      .number()
      .nonnegative()
      .optional()
      .describe("Maximum difference between the clocks of the machines that sent the parts; absent: a single clock."),
    notes: z.array(z.string()).describe("How the engine measured and sent, as far as a reader needs it."),
    requests: z
      .array(loadSampleSchema)
      .describe("Every request in order of sending; empty if `summary` has counts instead."),
    summary: z
      .array(secondCountsSchema)
      .describe("For long runs: exact counts per flow and second of the target's time."),
    generator: z.object({
      planned: count.describe("Requests that the flows plan; if responses decide their number, those that were sent."),
      sent: count,
      dropped: count.describe("Requests that the generator could not start."),
      late: count.describe("Requests that started more than 100 ms late."),
      busiest: z
        .number()
        .nullable()
        .describe("Highest share of one core that the generator used in any second; null: unknown."),
    }),
    latency: z
      .object({ admitted: histogramSchema, refused: histogramSchema, other: histogramSchema })
      .describe("From sending to the response head: 2xx, 429, any other status."),
    streams: z.array(streamSchema),
    sentBefore: count
      .optional()
      .describe("Requests that the harness sent with the main key just before the load; absent in older files."),
    ledger: z
      .object({
        before: z.unknown(),
        after: z.unknown(),
        readsAfter: count
          .optional()
          .describe("How often the report was read after the load, as it may lag; absent: once."),
      })
      .nullable()
      .describe("Bodies of GET /usage with the main key; `after` is the last one read."),
    deliveries: deliveriesSchema.nullable(),
    server: z
      .object({ rssBytes: z.array(count) })
      .nullable()
      .describe("Memory of the embedded server, at regular intervals."),
    stopped: z.string().nullable().describe("Why the run ended early."),
    clockLagMs: z
      .number()
      .nonnegative()
      .optional()
      .describe(
        "How far a test clock that stands still by itself lagged behind at most while it was moved along with real time; absent: not at all.",
      ),
    disturbance: z
      .string()
      .optional()
      .describe(
        "What else used the keys or stopped the clock during the load, so that it proves nothing; absent: nothing did.",
      ),
    outage: z
      .object({
        aliveMs: instant.describe("When the target was last known to be there."),
        failedMs: instant.describe("When a connection first failed."),
        backMs: instant.nullable().describe("When the target was there again; null: it stayed away."),
      })
      .optional()
      .describe("When the target first accepted no connection; absent: it always did."),
    keyRefused: z
      .object({ key: z.string(), fromMs: instant.describe("When the first refusal arrived.") })
      .optional()
      .describe("A key that the target refused for good after it had accepted it; absent: there is none."),
  })
  .describe("Requests and responses of one scenario.");

export type LoadEvidence = z.infer<typeof loadEvidenceSchema>;
export type LoadSample = Readonly<z.infer<typeof loadSampleSchema>>;
export type SecondCounts = z.infer<typeof secondCountsSchema>;
export type LatencyHistogram = z.infer<typeof histogramSchema>;
export type StreamSummary = z.infer<typeof streamSchema>;
export type DeliverySummary = z.infer<typeof deliveriesSchema>;

export const loadEvidenceFormat = "agent-hosting-conformance/load-evidence/1";
