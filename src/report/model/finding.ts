import { z } from "zod";

import type { DeepReadonly } from "../../base/json.ts";
import { levels } from "../../spec/clauses.ts";
import { findingTrialSchema } from "./load-results.ts";

/**
 * The outcome of a check.
 *
 * - `pass`: the clause holds.
 * - `fail`, `warning`, `note`: a clause of the level `must`, `should` or `advisory` is broken.
 * - `observed`: the document leaves the behaviour open, so it was recorded and not judged.
 * - `skipped`: not exercised, with a reason.
 * - `error`: the harness itself failed, which is never the target's fault.
 */
export const outcomes = ["pass", "fail", "warning", "note", "observed", "skipped", "error"] as const;
export type Outcome = (typeof outcomes)[number];

/** Levels that a finding can have. `load`: a load scenario demands the checked rule, but no clause does. */
export const rowLevels = [...levels, "load"] as const;
export type RowLevel = (typeof rowLevels)[number];

const count = z.int().nonnegative();

const cell = {
  of: z.string().describe("An endpoint, `other paths`, `stream events` or `deliveries received`."),
  kind: z.string().describe("A status, the name of an event, or the type of a delivery."),
};
const coverageCountFields = { looked: count, broken: count };

const coverageSchema = z
  .object({
    ...coverageCountFields,
    cells: z.array(z.object({ ...cell, ...coverageCountFields })).describe("Cells with at least one observation."),
    unseen: z
      .array(z.object({ ...cell, needs: z.string().describe("What it takes to observe the cell.").exactOptional() }))
      .describe("Cells that the document mentions and the run did not observe."),
  })
  .describe(
    "How much of the input space of the clause was checked. A cell of it is an endpoint with a status, an event, or a delivery with a type.",
  );

export const findingSchema = z
  .object({
    check: z.string(),
    /** Id of the checked clause. A rule of a load scenario has a name instead, such as `load/slow-refusals`. */
    clause: z.string(),
    suite: z.string(),
    level: z
      .enum(rowLevels)
      .describe("Level of the clause; `load`: a load scenario demands it although no clause does."),
    since: z.string().describe("Requirement set in which the check first counts; absent: 1.0.").exactOptional(),
    outcome: z.enum(outcomes),
    instance: z
      .string()
      .describe("Tier of a probe that runs once for each tier; under load, tier and engine.")
      .exactOptional(),
    load: findingTrialSchema.exactOptional(),
    reading: z.string().describe("The admissible reading that the target follows.").exactOptional(),
    where: z
      .object({ file: z.string(), line: count, column: count })
      .describe("The place in a configuration file; line and column begin at 1.")
      .exactOptional(),
    expected: z.string().exactOptional(),
    actual: z.string().exactOptional(),
    reason: z
      .string()
      .describe("What was observed, why the check was skipped, or how the harness failed.")
      .exactOptional(),
    needs: z.string().describe("What would enable a skipped check.").exactOptional(),
    exempt: z
      .literal(true)
      .describe("The clause does not concern the target, as its target file says. The verdict ignores it.")
      .exactOptional(),
    excessPercent: z
      .number()
      .positive()
      .describe("By how much a rate limit is exceeded at most, in percent of the published number.")
      .exactOptional(),
    witness: z
      .array(z.string())
      .describe("The smallest part of a load that proves a breach, a line each.")
      .exactOptional(),
    unseenPairs: count
      .describe("Pairs of properties within reach that no request had. The clause does not count as exercised.")
      .exactOptional(),
    seen: coverageSchema.exactOptional(),
    evidence: z
      .array(z.string())
      .describe("Ids of exchanges and deliveries in `evidence.json`; under load, the file of load evidence.")
      .exactOptional(),
  })
  .describe("The result of one check for one instance of its probe.");

/** The result of a check in a report. A check whose probe runs once for each tier has one finding for each tier. */
export type ReportFinding = DeepReadonly<z.infer<typeof findingSchema>>;

type WithOutcome = Pick<ReportFinding, "outcome">;

export const isBroken = ({ outcome }: WithOutcome): boolean =>
  outcome === "fail" || outcome === "warning" || outcome === "note";

export const isBrokenOrError = (finding: WithOutcome): boolean => isBroken(finding) || finding.outcome === "error";

export const isExercised = ({ outcome }: WithOutcome): boolean => outcome !== "skipped" && outcome !== "error";
