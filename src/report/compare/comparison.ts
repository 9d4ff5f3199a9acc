import { z } from "zod";

import type { DeepReadonly } from "../../base/deep-readonly.ts";
import { type Outcome, rowLevels, outcomes, totalsSchema, verdicts } from "../model/report.ts";
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

const nameSchema = z.object({
  check: text,
  clause: text,
  suite: text,
  level: z.enum(rowLevels),
  instance: text.nullable().describe("Tier; under load, tier and engine; null: of the target as a whole."),
});

const findingChangeSchema = nameSchema.extend({ was: resultSchema, is: resultSchema }).meta({ id: "change" });

const observationSchema = findingChangeSchema.extend({
  /** Whether the two texts differ only in times and dates, or in the shapes of windows that the evidence allows. */
  immaterial: z.boolean().describe("Whether the same behaviour can cause both texts."),
});

const unpairedReasons = ["check", "requirements", "unselected", "unreached", "instance", "trial", "silent"] as const;
const unpairedSchema = nameSchema
  .extend({ said: resultSchema, why: z.enum(unpairedReasons) })
  .describe("A finding that only one side has, and why.")
  .meta({ id: "lone" });

const suiteSchema = z.object({
  /** `null` if both sides have the same value. */
  version: changeSchema.nullable(),
  /** `null` if both sides have the same value. */
  clauses: changeSchema.nullable(),
  /** `null` if both sides have the same value. */
  requirements: changeSchema.nullable(),
  came: z.array(text).describe("Checks that only the newer suite has, as far as the reports show."),
  went: z.array(text),
});

const trialSchema = z.object({ scenario: text, tier: text.nullable(), engine: text });

const metricSchema = trialSchema.extend({
  name: text,
  group: z.enum(["counts", "latency", "throughput", "memory"]),
  unit: z.enum(["requests", "requests/s", "ms", "bytes"]),
  /** `null` if that side has no value: nothing was refused, or no stream was opened. */
  was: z.number().nullable(),
  is: z.number().nullable(),
  /** Negative for a decrease; `null` if there is no share. */
  changeShare: z.number().nullable().describe("Growth as a share of the older value: 0.1 is a tenth."),
  /** `null` if the values can be compared. */
  doubt: text.nullable().describe("Why the two values cannot be compared."),
});

const regressionSchema = z.object({
  kind: z.enum(Object.keys(regressionKinds) as [RegressionKind, ...RegressionKind[]]),
  /** One sentence on one line; control characters in texts of the target are escaped. */
  says: text,
  /** `null` for a load metric and for the verdict. */
  finding: z.object({ check: text, clause: text, instance: text.nullable() }).nullable(),
});

/** The output of `conformance compare --json`. */
export const comparisonSchema = z
  .object({
    format: z.literal("agent-hosting-conformance/comparison/1"),
    older: sideSchema,
    newer: sideSchema,
    notes: z.array(text).describe("Notes to read first."),
    /** `null` if both were judged by the same version and the same clauses. */
    changedSuite: suiteSchema.nullable(),
    /** Broken in the newer report (or the harness failed), and less severe or not judged in the older. */
    newlyFailing: z.array(findingChangeSchema),
    /** Passes or is observed in the newer report. In the older, broken, or the harness failed. */
    fixed: z.array(findingChangeSchema),
    /** Judged in the older report, and not exercised in the newer. */
    newlySkipped: z.array(findingChangeSchema),
    /** Not exercised in the older report. Passes or is observed in the newer. */
    noLongerSkipped: z.array(findingChangeSchema),
    /** Broken in both reports, and not worse in the newer. */
    stillFailing: z.array(findingChangeSchema),
    /** Passes in both reports, by different admissible readings. */
    changedReadings: z.array(findingChangeSchema),
    changedObservations: z.array(observationSchema),
    /** Only in the newer report. */
    appeared: z.array(unpairedSchema),
    /** Only in the older report. */
    gone: z.array(unpairedSchema),
    /** Number of findings that are in none of these lists. Every other finding is in exactly one list. */
    unchanged: count,
    /** Load metrics that both sides have, changed or not. */
    loadFigures: z.array(metricSchema),
    /** Load that only one side sent. */
    loneTrials: z.object({ older: z.array(trialSchema), newer: z.array(trialSchema) }),
    regressions: z.array(regressionSchema),
  })
  .describe("The differences between two reports of the conformance harness.");

/** The differences between two reports of the same kind. Plain JSON. */
export type Comparison = DeepReadonly<z.infer<typeof comparisonSchema>>;

/** One of the two reports: its target, suite, start and verdict. */
export type Side = DeepReadonly<z.infer<typeof sideSchema>>;

/** The result of a finding on one side. */
export type FindingResult = DeepReadonly<z.infer<typeof resultSchema>>;

/** Identifies a finding: the same check and instance in two reports are the same finding. */
export type FindingIdentity = DeepReadonly<z.infer<typeof nameSchema>>;

/** A finding that both sides have. The level is that of the newer side. */
export type FindingChange = DeepReadonly<z.infer<typeof findingChangeSchema>>;
export type ObservationChange = DeepReadonly<z.infer<typeof observationSchema>>;

/**
 * The reason why only one report has a finding.
 *
 * - `check`: the other suite has no such check.
 * - `requirements`: the other report was judged by an earlier requirement set, which does not have the check.
 * - `unselected`: the selection of the other run left the clause out.
 * - `unreached`: the other run was stopped early.
 * - `instance`: the other run had the check, but for other tiers.
 * - `trial`: the other run did not send that load.
 * - `silent`: none of these reasons applies; the other report just has no such finding.
 */
export type UnpairedReason = (typeof unpairedReasons)[number];

/** A finding that only one side has. */
export type UnpairedFinding = DeepReadonly<z.infer<typeof unpairedSchema>>;

/** A change that counts as a regression. */
export type Regression = DeepReadonly<z.infer<typeof regressionSchema>>;

/** An old and a new value. */
export type Change = DeepReadonly<z.infer<typeof changeSchema>>;

/** Changes of the suite itself between the two reports. */
export type SuiteChange = DeepReadonly<z.infer<typeof suiteSchema>>;

/** The findings of both sides, sorted by how they changed. */
export type FindingChanges = Pick<
  Comparison,
  | "newlyFailing"
  | "fixed"
  | "newlySkipped"
  | "noLongerSkipped"
  | "stillFailing"
  | "changedReadings"
  | "changedObservations"
  | "appeared"
  | "gone"
  | "unchanged"
>;

/** Identifies a load trial by scenario, tier and engine. */
export type Trial = DeepReadonly<z.infer<typeof trialSchema>>;

/** A metric of a load that both sides sent, with its two values. */
export type LoadMetric = DeepReadonly<z.infer<typeof metricSchema>>;
export type MetricGroup = LoadMetric["group"];
export type MetricUnit = LoadMetric["unit"];

/** Severity of an outcome; `null` for findings that were not judged. */
export const severities: Readonly<Record<Outcome, number | null>> = {
  pass: 0,
  observed: 0,
  note: 1,
  warning: 2,
  fail: 3,
  skipped: null,
  error: null,
};
