import { z } from "zod";

import { levels } from "../interface/clauses.ts";
import { outcomes, verdicts } from "../report/report.ts";
import type { Comparison } from "./comparison.ts";
import { type RegressionKind, regressionKinds } from "./rules.ts";

const count = z.int().nonnegative();
const text = z.string();
const change = z.object({ was: text, is: text });

const sideSchema = z
  .object({
    kind: z.enum(["run", "load"]),
    target: z.object({ name: text, baseUrl: text, fingerprint: text }),
    suite: z.object({ version: text, clauses: text.describe("Hash of the clauses judged by.") }),
    started: z.iso.datetime(),
    verdict: z.enum(verdicts),
    stopped: text.nullable().describe("Why it ended early."),
    totals: z.object(
      Object.fromEntries(outcomes.map((outcome) => [outcome, count])) as Record<
        (typeof outcomes)[number],
        typeof count
      >,
    ),
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

const name = {
  check: text,
  clause: text,
  suite: text,
  level: z.enum([...levels, "load"]),
  instance: text.nullable().describe("Tier; under load, tier and engine; null: of the target as a whole."),
};

const changeSchema = z.object({ ...name, was: saidSchema, is: saidSchema }).meta({ id: "change" });
const loneSchema = z
  .object({
    ...name,
    said: saidSchema,
    why: z.enum(["check", "unselected", "unreached", "instance", "trial", "silent"]),
  })
  .describe("A finding of one side alone, and why the other lacks it.")
  .meta({ id: "lone" });

const trial = { scenario: text, tier: text.nullable(), engine: text };

const figureSchema = z.object({
  ...trial,
  name: text,
  group: z.enum(["counts", "latency", "throughput", "memory"]),
  unit: z.enum(["requests", "requests/s", "ms", "bytes"]),
  was: z.number().nullable(),
  is: z.number().nullable(),
  changeShare: z.number().nullable().describe("Share of the older figure by which it grew: 0.1 is a tenth."),
  doubt: text.nullable().describe("Why the two cannot be laid side by side."),
});

const kinds = Object.keys(regressionKinds) as [RegressionKind, ...RegressionKind[]];

/** What `conformance compare --json` writes. */
export const comparisonSchema = z
  .object({
    format: z.literal("agent-hosting-conformance/comparison/1"),
    older: sideSchema,
    newer: sideSchema,
    notes: z.array(text).describe("What a reader must know before the rest."),
    changedSuite: z
      .object({
        version: change.nullable(),
        clauses: change.nullable(),
        came: z.array(text).describe("Checks that only the newer suite has, as far as the reports show it."),
        went: z.array(text),
      })
      .nullable(),
    newlyFailing: z.array(changeSchema),
    fixed: z.array(changeSchema),
    newlySkipped: z.array(changeSchema),
    noLongerSkipped: z.array(changeSchema),
    stillFailing: z.array(changeSchema),
    changedReadings: z.array(changeSchema),
    changedObservations: z.array(
      changeSchema.extend({ immaterial: z.boolean().describe("Both texts can come of the same behaviour.") }),
    ),
    appeared: z.array(loneSchema),
    gone: z.array(loneSchema),
    unchanged: count,
    loadFigures: z.array(figureSchema),
    loneTrials: z.object({ older: z.array(z.object(trial)), newer: z.array(z.object(trial)) }),
    regressions: z.array(
      z.object({
        kind: z.enum(kinds),
        says: text,
        finding: z.object({ check: text, clause: text, instance: text.nullable() }).nullable(),
      }),
    ),
  })
  .describe("What differs between two reports of the conformance harness.") satisfies z.ZodType<Comparison>;
