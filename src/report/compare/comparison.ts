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
    suite: z.object({ version: text, clauses: text.describe("Hash of the clauses judged by.") }),
    started: z.iso.datetime(),
    verdict: z.enum(verdicts),
    stopped: text.nullable().describe("Why it ended early."),
    totals: totalsSchema,
  })
  .meta({ id: "side" });

const saidSchema = z
  .object({
    outcome: z.enum(outcomes),
    reading: text.exactOptional(),
    expected: text.exactOptional(),
    actual: text.exactOptional(),
    reason: text.exactOptional(),
    needs: text.exactOptional(),
    evidence: z.array(text).describe("Ids in the `evidence.json` of that side.").exactOptional(),
  })
  .describe("What one side said.")
  .meta({ id: "said" });

const nameSchema = z.object({
  check: text,
  clause: text,
  suite: text,
  level: z.enum(rowLevels),
  instance: text.nullable().describe("Tier; under load, tier and engine; null: of the target as a whole."),
});

const findingChangeSchema = nameSchema.extend({ was: saidSchema, is: saidSchema }).meta({ id: "change" });

const observationSchema = findingChangeSchema.extend({
  /** They differ in times and dates, or in how much the evidence left open. */
  immaterial: z.boolean().describe("Both texts can come of the same behaviour."),
});

const absences = ["check", "unselected", "unreached", "instance", "trial", "silent"] as const;
const loneSchema = nameSchema
  .extend({ said: saidSchema, why: z.enum(absences) })
  .describe("A finding of one side alone, and why the other lacks it.")
  .meta({ id: "lone" });

const suiteSchema = z.object({
  /** `null`: the same. */
  version: changeSchema.nullable(),
  /** `null`: the same. */
  clauses: changeSchema.nullable(),
  came: z.array(text).describe("Checks that only the newer suite has, as far as the reports show it."),
  went: z.array(text),
});

const trialSchema = z.object({ scenario: text, tier: text.nullable(), engine: text });

const figureSchema = trialSchema.extend({
  name: text,
  group: z.enum(["counts", "latency", "throughput", "memory"]),
  unit: z.enum(["requests", "requests/s", "ms", "bytes"]),
  /** `null` where that side has none: nothing was refused, no stream was opened. */
  was: z.number().nullable(),
  is: z.number().nullable(),
  /** Negative where it fell; `null` where there is none to tell. */
  changeShare: z.number().nullable().describe("Share of the older figure by which it grew: 0.1 is a tenth."),
  /** `null` where they can. */
  doubt: text.nullable().describe("Why the two cannot be laid side by side."),
});

const regressionSchema = z.object({
  kind: z.enum(Object.keys(regressionKinds) as [RegressionKind, ...RegressionKind[]]),
  /** One sentence, without a line feed; texts of the target in it are harmless. */
  says: text,
  /** `null` where it is a figure of load, or the verdict. */
  finding: z.object({ check: text, clause: text, instance: text.nullable() }).nullable(),
});

/** What `conformance compare --json` writes. */
export const comparisonSchema = z
  .object({
    format: z.literal("agent-hosting-conformance/comparison/1"),
    older: sideSchema,
    newer: sideSchema,
    notes: z.array(text).describe("What a reader must know before the rest."),
    /** `null`: both were judged by the same version and the same clauses. */
    changedSuite: suiteSchema.nullable(),
    /** Now broken (or the harness failed at it), and less so before, or not judged. */
    newlyFailing: z.array(findingChangeSchema),
    /** Passes or is observed now, and was broken, or the harness had failed at it. */
    fixed: z.array(findingChangeSchema),
    /** Not exercised now, and judged before. */
    newlySkipped: z.array(findingChangeSchema),
    /** Passes or is observed now, and was not exercised before. */
    noLongerSkipped: z.array(findingChangeSchema),
    /** Broken then and now, and not worse. */
    stillFailing: z.array(findingChangeSchema),
    /** Passes both times, by another admissible reading. */
    changedReadings: z.array(findingChangeSchema),
    changedObservations: z.array(observationSchema),
    /** Only in the newer report. */
    appeared: z.array(loneSchema),
    /** Only in the older report. */
    gone: z.array(loneSchema),
    /** Findings that stand in none of these lists; every other stands in exactly one. */
    unchanged: count,
    /** Figures of load that both sides have, whether they changed or not. */
    loadFigures: z.array(figureSchema),
    /** Load that one side alone sent. */
    loneTrials: z.object({ older: z.array(trialSchema), newer: z.array(trialSchema) }),
    regressions: z.array(regressionSchema),
  })
  .describe("What differs between two reports of the conformance harness.");

/** What differs between two reports of the same kind. Plain JSON. */
export type Comparison = DeepReadonly<z.infer<typeof comparisonSchema>>;

/** Who was judged, by what, when, and with what result. */
export type Side = DeepReadonly<z.infer<typeof sideSchema>>;

/** What one side said of a finding. */
export type FindingResult = DeepReadonly<z.infer<typeof saidSchema>>;

/** Which finding it is: the same (check, instance) in two reports is the same finding. */
export type FindingIdentity = DeepReadonly<z.infer<typeof nameSchema>>;

/** A finding that both sides have. Its level is the newer side's. */
export type FindingChange = DeepReadonly<z.infer<typeof findingChangeSchema>>;
export type ObservationChange = DeepReadonly<z.infer<typeof observationSchema>>;

/**
 * Why a finding stands in one report alone.
 *
 * `check`: the other suite has no such check; `unselected`: the other run's selection left its clause out; `unreached`: the other run was
 * stopped early; `instance`: the check ran there, for other tiers; `trial`: that load was not sent there; `silent`: the same suite said nothing
 * of it there.
 */
export type UnpairedReason = (typeof absences)[number];

/** A finding that one side alone has. */
export type UnpairedFinding = DeepReadonly<z.infer<typeof loneSchema>>;

/** What counts as a regression, and did happen. */
export type Regression = DeepReadonly<z.infer<typeof regressionSchema>>;

/** From one value to another. */
export type Change = DeepReadonly<z.infer<typeof changeSchema>>;

/** What became of the suite itself between the two reports. */
export type SuiteChange = DeepReadonly<z.infer<typeof suiteSchema>>;

/** What became of the findings of both sides. */
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

/** Some load that can be compared with another: one scenario on one tier by one engine. */
export type Trial = DeepReadonly<z.infer<typeof trialSchema>>;

/** One figure of the same load, then and now. */
export type LoadMetric = DeepReadonly<z.infer<typeof figureSchema>>;
export type MetricGroup = LoadMetric["group"];
export type MetricUnit = LoadMetric["unit"];

/** From nothing to complain of to a breach. What was not judged is in no order with these. */
export const severities: Readonly<Record<Outcome, number | null>> = {
  pass: 0,
  observed: 0,
  note: 1,
  warning: 2,
  fail: 3,
  skipped: null,
  error: null,
};
