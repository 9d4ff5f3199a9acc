import { z } from "zod";
import type { DeepReadonly } from "../../base/json.ts";
import { coverageSharesSchema } from "../model/profiles.ts";
import { type Outcome, rowLevels, outcomes } from "../model/finding.ts";
import { totalsSchema, verdicts } from "../model/report.ts";
import { agentStreamingSchema } from "../model/streaming.ts";
import { type RegressionKind, regressionKinds } from "./regression-rules.ts";

const count = z.int().nonnegative();
const text = z.string();
const changeSchema = z.object({ was: text, is: text });

const sideSchema = z
  .object({
    kind: z.enum(["run", "load"]),
    target: z.object({ name: text, baseUrl: text, fingerprint: text }),
    suite: z.object({
      version: text,
      clauses: text.describe("Hash of the clauses judged by."),
      requirements: text.describe("The requirement set that was judged by."),
    }),
    started: z.iso.datetime(),
    verdict: z.enum(verdicts),
    stopped: text.nullable().describe("Why it ended early."),
    totals: totalsSchema,
    coverage: coverageSharesSchema,
  })
  .meta({ id: "side" });

const resultSchema = z
  .object({
    outcome: z.enum(outcomes),
    reading: text.exactOptional(),
    expected: text.exactOptional(),
    actual: text.exactOptional(),
    reason: text.exactOptional(),
    needs: text.exactOptional(),
    evidence: z.array(text).describe("Ids in the `evidence.json` of that side.").exactOptional(),
  })
  .describe("The result on one side.")
  .meta({ id: "said" });

const findingIdentitySchema = z.object({
  check: text,
  clause: text,
  suite: text,
  level: z.enum(rowLevels),
  instance: text.nullable().describe("Tier; under load, tier and engine; null: of the target as a whole."),
});

const findingChangeSchema = findingIdentitySchema
  .extend({ was: resultSchema, is: resultSchema })
  .meta({ id: "change" });

const observationSchema = findingChangeSchema.extend({
  immaterial: z.boolean().describe("Whether the same behaviour can cause both texts."),
});

const unpairedReasons = [
  /** The suite of the report has no such check. */
  "check",
  /** The requirement set of the report is too old for the check. */
  "requirements",
  /** `--only` or `--skip` excluded the clause. */
  "unselected",
  /** The run ended early. */
  "unreached",
  /** The run had the check, but for other tiers. */
  "instance",
  /** The load run lacks this combination of scenario, tier and engine. */
  "trial",
  /** The finding only repeats a check that both reports have: `INV-3/in requests of 1.1` repeats `INV-3`. */
  "repeated",
  /** No reason is known. */
  "silent",
] as const;
const unpairedSchema = findingIdentitySchema
  .extend({ said: resultSchema, why: z.enum(unpairedReasons) })
  .describe("A finding that only one side has, and why.")
  .meta({ id: "lone" });

const suiteSchema = z.object({
  /** Each of `version`, `clauses` and `requirements` is `null` if it is equal in both reports. */
  version: changeSchema.nullable(),
  clauses: changeSchema.nullable(),
  requirements: changeSchema.nullable(),
  came: z.array(text).describe("Checks that only the newer suite has, as far as the reports show."),
  went: z.array(text),
});

const trialSchema = z.object({ scenario: text, tier: text.nullable(), engine: text });

const metricSchema = trialSchema.extend({
  name: text,
  group: z.enum(["counts", "latency", "throughput", "memory"]),
  unit: z.enum(["requests", "requests/s", "ms", "bytes"]),
  was: z.number().nullable(),
  is: z.number().nullable(),
  changeShare: z.number().nullable().describe("Growth as a share of the older value: 0.1 is a tenth."),
  doubt: text.nullable().describe("Why the two values cannot be compared."),
});

const regressionSchema = z.object({
  kind: z.enum(Object.keys(regressionKinds) as [RegressionKind, ...RegressionKind[]]),
  /** The regression in one sentence, on one line. Control characters in texts of the target are escaped. */
  says: text,
  /** The finding that became worse; `null` if the regression is in a load metric or in the verdict. */
  finding: z.object({ check: text, clause: text, instance: text.nullable() }).nullable(),
});

const streamingChangeSchema = z.object({
  agent: text,
  was: agentStreamingSchema.nullable().describe("null: the older report has no stream of this agent."),
  is: agentStreamingSchema.nullable(),
});

const findingChangesSchema = z.object({
  /**
   * Findings that became a note, warning or fail, or a worse one of these three. A change to or from `error`
   * counts, too, unless the new outcome is pass, observed or skipped.
   */
  newlyFailing: z.array(findingChangeSchema),
  /** Findings that changed from note, warning, fail or error to pass or observed. */
  fixed: z.array(findingChangeSchema),
  newlySkipped: z.array(findingChangeSchema),
  noLongerSkipped: z.array(findingChangeSchema),
  stillFailing: z.array(findingChangeSchema),
  changedReadings: z.array(findingChangeSchema),
  changedObservations: z.array(observationSchema),
  appeared: z.array(unpairedSchema),
  gone: z.array(unpairedSchema),
  /** Number of unchanged findings. Every other finding is in exactly one list from `newlyFailing` to `gone`. */
  unchanged: count,
});

/** Schema of the output of `conformance compare --json`. */
export const comparisonSchema = z
  .object({
    format: z.literal("agent-hosting-conformance/comparison/1"),
    older: sideSchema,
    newer: sideSchema,
    notes: z.array(text).describe("Notes to read first."),
    /** Differences between the test suites of the two reports. `null`: version, clauses and requirements are equal. */
    changedSuite: suiteSchema.nullable(),
    ...findingChangesSchema.shape,
    loadFigures: z.array(metricSchema),
    loneTrials: z.object({ older: z.array(trialSchema), newer: z.array(trialSchema) }),
    streaming: z
      .array(streamingChangeSchema)
      .describe("Streaming quality by agent in both reports. Figures, which are never a regression."),
    regressions: z.array(regressionSchema),
  })
  .describe("The differences between two reports of the conformance harness.");

/** All differences between two reports, as plain JSON. */
export type Comparison = DeepReadonly<z.infer<typeof comparisonSchema>>;

/** A summary of one of the two compared reports: target, suite, start, verdict and totals. */
export type ComparedSide = DeepReadonly<z.infer<typeof sideSchema>>;

/** The result that a finding has in one of the reports. */
export type FindingResult = DeepReadonly<z.infer<typeof resultSchema>>;

/** The fields that identify a finding. Two findings match if `check` and `instance` (e.g. a tier) are equal. */
export type FindingIdentity = DeepReadonly<z.infer<typeof findingIdentitySchema>>;

/** A finding in both reports, with its two results. Its level comes from the newer report. */
export type FindingChange = DeepReadonly<z.infer<typeof findingChangeSchema>>;
export type ObservationChange = DeepReadonly<z.infer<typeof observationSchema>>;

/** Why one of two compared reports lacks a finding that the other has. */
export type UnpairedReason = (typeof unpairedReasons)[number];

/** A finding that only one of the two reports has. */
export type UnpairedFinding = DeepReadonly<z.infer<typeof unpairedSchema>>;

/** A change between two reports that counts as a regression by the chosen rules. */
export type Regression = DeepReadonly<z.infer<typeof regressionSchema>>;

/** An agent's streaming quality in the older and in the newer report. */
export type StreamingChange = DeepReadonly<z.infer<typeof streamingChangeSchema>>;

/** The old and the new value of a property. */
export type Change = DeepReadonly<z.infer<typeof changeSchema>>;

/** Properties of the suite that differ between the two reports. */
export type SuiteChange = DeepReadonly<z.infer<typeof suiteSchema>>;

/** The findings of both reports, grouped by how they changed. */
export type FindingChanges = DeepReadonly<z.infer<typeof findingChangesSchema>>;

/** Identifies a load trial by scenario, tier and engine. */
export type Trial = DeepReadonly<z.infer<typeof trialSchema>>;

/** A metric of a load trial that both reports contain, with its old and new value. */
export type LoadMetric = DeepReadonly<z.infer<typeof metricSchema>>;
export type MetricGroup = LoadMetric["group"];
export type MetricUnit = LoadMetric["unit"];

/** Severity of each outcome, where higher is worse; `null` if the outcome says nothing about the target. */
export const severityByOutcome: Readonly<Record<Outcome, number | null>> = {
  pass: 0,
  observed: 0,
  note: 1,
  warning: 2,
  fail: 3,
  skipped: null,
  error: null,
};
