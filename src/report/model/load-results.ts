import { z } from "zod";

import type { DeepReadonly } from "../../base/json.ts";

const count = z.int().nonnegative();
const msSchema = z.number().nonnegative();
const reasonSchema = z.string().nullable();

const percentilesSchema = z
  .object({ count, p50: msSchema, p90: msSchema, p99: msSchema, p999: msSchema, max: msSchema })
  .describe("Milliseconds.");
const spreadSchema = z.object({ count, median: msSchema, p99: msSchema, max: msSchema }).describe("Milliseconds.");

export const findingTrialSchema = z
  .object({ scenario: z.string(), tier: z.string(), engine: z.string() })
  .describe("Under load: the scenario, tier and engine of the finding.");

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
    durationMs: msSchema,
    speed: z.number().describe("Speed of the target's clock relative to that of the load machine."),
    isFresh: z.boolean().describe("Whether the keys had not been used before."),
    requests: z.object({
      planned: count,
      sent: count,
      admitted: count.describe("Responses with a 2xx status."),
      refused: count.describe("Responses with 429."),
      failed: count.describe("Responses with any other status."),
      /** Number of requests without a response. Excludes requests whose connection the client closed on purpose. */
      unanswered: count,
      left: count.describe("Requests whose connection the client closed on purpose."),
    }),
    perSecond: z.object({ sent: z.number(), admitted: z.number() }).describe("Over the whole duration."),
    /** `admitted` is `null` if no request was admitted; `refused` is `null` if none was refused. */
    latencyMs: z
      .object({ admitted: percentilesSchema.nullable(), refused: percentilesSchema.nullable() })
      .describe("From sending to the head of the response."),
    /** Count and times of streams; `null` if there were none, or the engine does not measure them. */
    streams: z
      .object({ count, firstEventMs: spreadSchema.nullable(), longestGapMs: spreadSchema.nullable() })
      .describe("Time to the first event of each stream, and longest time between two events.")
      .nullable(),
    generator: z.object({
      dropped: count.describe("Requests that the generator could not start."),
      late: count.describe("Requests that the generator started more than 100 ms late."),
      busiest: z.number().nullable().describe("Share of one core in the busiest second."),
    }),
    validity: z
      .object({ invalid: reasonSchema, counts: reasonSchema, pace: reasonSchema })
      .describe("Why the run, its exact counts, or its times prove nothing; null if they are valid."),
    windows: z.string().nullable().describe("Shapes of windows that explain every admitted and refused request."),
    serverRssBytes: z
      .object({ first: count, last: count, most: count })
      .describe("Memory of the embedded server.")
      .nullable(),
    notes: z.array(z.string()),
    stopped: reasonSchema.describe("Why the run ended early."),
  })
  .describe("One scenario on one tier by one engine.");

export const loadResultsSchema = z
  .object({ runs: z.array(runSchema) })
  .describe("The load runs; only in reports of `conformance load`.");

export type FindingTrial = DeepReadonly<z.infer<typeof findingTrialSchema>>;
export type Percentiles = DeepReadonly<z.infer<typeof percentilesSchema>>;
export type Spread = DeepReadonly<z.infer<typeof spreadSchema>>;

/** The results of a load trial: one scenario, sent to one tier by one engine. */
export type LoadRun = DeepReadonly<z.infer<typeof runSchema>>;

/** The field `load` of a report: its load runs. */
export type LoadResults = DeepReadonly<z.infer<typeof loadResultsSchema>>;

/** The fields that identify a load trial. Load runs with the same three values send the same load. */
export type TrialId = Pick<LoadRun, "scenario" | "tier" | "engine">;

const tierText = ({ tier }: Pick<TrialId, "tier">): string => tier ?? "no tier";

/** Formats a load trial as `burst, pro, k6`. */
export const formatTrial = (load: TrialId): string => [load.scenario, tierText(load), load.engine].join(", ");

/** Formats a scenario with the tiers and engines that it ran with: `burst (free, k6; pro, k6)`. */
export const formatScenarioTrials = (scenario: string, instances: readonly string[]): string =>
  `${scenario} (${instances.join("; ")})`;

/** Formats tier and engine, which are the instance of a load finding: `pro, k6`. */
export const formatTierAndEngine = (load: Pick<TrialId, "tier" | "engine">): string =>
  `${tierText(load)}, ${load.engine}`;

export const loadSuitePrefix = "Load: ";

/** Returns the field `suite` of a load finding, such as `Load: burst`. */
export const trialSuite = ({ scenario }: Pick<TrialId, "scenario">): string => `${loadSuitePrefix}${scenario}`;

export function describeInvalidTrials({ load }: { readonly load?: LoadResults }): string | null {
  const [first, ...others] = (load?.runs ?? []).filter(
    ({ validity, stopped }) => validity.invalid !== null && stopped !== "interrupted",
  );
  if (first === undefined) return null;
  const more = others.length === 0 ? "" : `, and ${others.length} more`;
  return `Invalid, and no verdict on the target: ${formatScenarioTrials(first.scenario, [formatTierAndEngine(first)])}: ${first.validity.invalid}${more}.`;
}
