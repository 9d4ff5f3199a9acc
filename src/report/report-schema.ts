import { z } from "zod";

import { levels } from "../interface/clauses.ts";
import { loadPartSchema } from "./load-schema.ts";
import { createdKinds, outcomes, type Report, verdicts } from "./report.ts";

const count = z.int().nonnegative();
const milliseconds = z.number().nonnegative().describe("Milliseconds.");
const level = z.enum(levels);

const findingSchema = z
  .object({
    check: z.string(),
    clause: z.string(),
    suite: z.string(),
    level: z
      .enum([...levels, "load"])
      .describe("Of the clause; `load`: no clause says it, and a load scenario demands it all the same."),
    outcome: z.enum(outcomes),
    instance: z
      .string()
      .describe("Tier that the probe ran for, where it runs once a tier; under load, tier and engine.")
      .exactOptional(),
    reading: z.string().describe("The admissible reading that the target follows.").exactOptional(),
    expected: z.string().exactOptional(),
    actual: z.string().exactOptional(),
    reason: z
      .string()
      .describe("What was observed, why the check was skipped, or how the harness failed.")
      .exactOptional(),
    needs: z.string().describe("What would enable a skipped check.").exactOptional(),
    witness: z
      .array(z.string())
      .describe("The smallest part of a load that proves a breach, a line each.")
      .exactOptional(),
    evidence: z
      .array(z.string())
      .describe("Ids of exchanges and deliveries in `evidence.json`; under load, the file of load evidence.")
      .exactOptional(),
  })
  .describe("What one check said of one instance of its probe.");

const createdSchema = z.object({
  kind: z.enum(createdKinds),
  id: z.string().nullable().describe("As the target gave it; null where its answer showed none."),
  key: z.string().nullable().describe("Name of the target's key that it was made with."),
  at: z.iso.datetime().describe("When the target answered."),
  exchange: z.string().describe("Id of the exchange in `evidence.json`; under load, the file of load evidence."),
});

/** `report.json`. */
export const reportSchema = z
  .object({
    format: z.literal("agent-hosting-conformance/report/1"),
    suite: z.object({ version: z.string(), clauses: z.string().describe("Hash of the clauses judged by.") }),
    target: z.object({
      name: z.string(),
      baseUrl: z.string(),
      fingerprint: z.string().describe("Hash of what identifies the deployment."),
      tiers: z.record(z.string(), z.string()).describe("Tiers of the keys in use, by key name."),
    }),
    started: z.iso.datetime(),
    finished: z.iso.datetime(),
    durationMs: milliseconds,
    requests: count,
    waitedMs: milliseconds,
    verdict: z.enum(verdicts),
    stopped: z.string().describe("Why the run was stopped early.").exactOptional(),
    totals: z.object(
      Object.fromEntries(outcomes.map((outcome) => [outcome, count])) as Record<
        (typeof outcomes)[number],
        typeof count
      >,
    ),
    findings: z.array(findingSchema),
    created: z
      .array(createdSchema)
      // Versions that made nothing on a target said nothing of it.
      .default([])
      .describe("What the run left on the target: the interface has no operation that deletes."),
    unselected: z.array(z.string()).describe("Must clauses that have checks, and that `--only` or `--skip` left out."),
    untestable: z
      .array(z.object({ clause: z.string(), level, reason: z.string() }))
      .describe("Clauses that no request can show, and why."),
    load: loadPartSchema.exactOptional(),
  })
  .describe("What a run of the conformance harness found.") satisfies z.ZodType<Report>;
