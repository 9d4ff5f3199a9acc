import { z } from "zod";

import type { DeepReadonly } from "../../base/deep-readonly.ts";
import { levels } from "../../spec/clauses.ts";
import { loadResultsSchema, findingTrialSchema } from "./load-results.ts";
import type { LoadEvidence } from "../../load/load-evidence.ts";
import type { Evidence } from "../../evidence/evidence.ts";

/**
 * What became of a check.
 *
 * `pass`, `fail` (a `must` is broken), `warning` (a `should`), `note` (an `advisory`), `observed` (a gap), `skipped` (not
 * exercised, with the reason), `error` (the harness itself failed; never the target's fault).
 */
export const outcomes = ["pass", "fail", "warning", "note", "observed", "skipped", "error"] as const;
export type Outcome = (typeof outcomes)[number];

export const verdicts = ["conformant", "nonconformant", "partial", "incomplete", "unreachable"] as const;
/**
 * `partial`: nothing broken, but some must clause was not exercised; `incomplete`: the run was stopped early; `unreachable`: nothing could be
 * asked, since the target does not answer, is another API, or refuses the key.
 */
export type Verdict = (typeof verdicts)[number];

/** `load`: no clause says it, and a load scenario demands it all the same. What breaks it fails the run, and is no breach of the document. */
export const rowLevels = [...levels, "load"] as const;
export type RowLevel = (typeof rowLevels)[number];

const count = z.int().nonnegative();
const milliseconds = z.number().nonnegative().describe("Milliseconds.");

export const totalsSchema = z.object(
  Object.fromEntries(outcomes.map((outcome) => [outcome, count])) as Record<Outcome, typeof count>,
);

const cell = {
  of: z.string().describe("An endpoint, `other paths`, `stream events` or `deliveries received`."),
  kind: z.string().describe("A status, the name of an event, or the type of a delivery."),
};
const seenCounts = { looked: count, broken: count };

const seenSchema = z
  .object({
    ...seenCounts,
    cells: z.array(z.object({ ...cell, ...seenCounts })).describe("Those of which something was seen."),
    unseen: z
      .array(z.object({ ...cell, needs: z.string().describe("What it takes to see it.").exactOptional() }))
      .describe("Those that the document tells of, and of which nothing was seen."),
  })
  .describe("How much was seen of the whole set that the clause speaks of.");

const findingSchema = z
  .object({
    check: z.string(),
    /** Where the level is `load`, the name of what is demanded: `load/slow-refusals`. */
    clause: z.string(),
    suite: z.string(),
    level: z
      .enum(rowLevels)
      .describe("Of the clause; `load`: no clause says it, and a load scenario demands it all the same."),
    outcome: z.enum(outcomes),
    instance: z
      .string()
      .describe("Tier that the probe ran for, where it runs once a tier; under load, tier and engine.")
      .exactOptional(),
    load: findingTrialSchema.exactOptional(),
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
    seen: seenSchema.exactOptional(),
    evidence: z
      .array(z.string())
      .describe("Ids of exchanges and deliveries in `evidence.json`; under load, the file of load evidence.")
      .exactOptional(),
  })
  .describe("What one check said of one instance of its probe.");

/** What a POST of the run can leave on the target. */
export const createdKinds = ["webhook", "alert", "operation"] as const;

const createdSchema = z.object({
  kind: z.enum(createdKinds),
  id: z.string().nullable().describe("As the target gave it; null where its answer showed none."),
  key: z.string().nullable().describe("Name of the target's key that it was made with."),
  at: z.iso.datetime().describe("When the target answered."),
  exchange: z.string().describe("Id of the exchange in `evidence.json`; under load, the file of load evidence."),
});

const waySchema = z
  .object({
    proxy: z
      .object({
        url: z.string().describe("Without a user and a password."),
        asksWho: z.boolean().describe("Whether it was told a user and a password."),
      })
      .exactOptional(),
    ca: z.string().describe("File with authorities that were trusted besides the machine's.").exactOptional(),
    cert: z.string().describe("File with the certificate that was shown.").exactOptional(),
    key: z.string().describe("File with its key.").exactOptional(),
  })
  .describe("How the target was reached, where that was not straight; files as they were named.");

const untestableSchema = z.object({ clause: z.string(), level: z.enum(levels), reason: z.string() });

/** `report.json`. */
export const reportSchema = z
  .object({
    format: z.literal("agent-hosting-conformance/report/1"),
    suite: z.object({ version: z.string(), clauses: z.string().describe("Hash of the clauses judged by.") }),
    target: z.object({
      name: z.string(),
      baseUrl: z.string(),
      /** Of base URL, `Server` header and agent version. */
      fingerprint: z.string().describe("Hash of what identifies the deployment."),
      tiers: z.record(z.string(), z.string()).describe("Tiers of the keys in use, by key name."),
      roles: z
        .record(z.string(), z.string())
        .describe("Which agent played which role, and what it was asked so that it did.")
        .exactOptional(),
      way: waySchema.exactOptional(),
    }),
    started: z.iso.datetime(),
    finished: z.iso.datetime(),
    durationMs: milliseconds,
    requests: count,
    executions: count
      .describe(
        "How often agents were run: invokes and streams that were let in, failures among them, and what batches held.",
      )
      .exactOptional(),
    lost: count
      .describe("Requests whose connection ended before the answer was whole, and which were sent again.")
      .exactOptional(),
    waitedMs: milliseconds,
    verdict: z.enum(verdicts),
    stopped: z
      .string()
      .describe("Why the run was stopped early, or why nothing could be asked of the target.")
      .exactOptional(),
    totals: totalsSchema,
    findings: z.array(findingSchema),
    created: z
      .array(createdSchema)
      // Versions that made nothing on a target said nothing of it.
      .default([])
      .describe("What the run left on the target: the interface has no operation that deletes."),
    unselected: z.array(z.string()).describe("Must clauses that have checks, and that `--only` or `--skip` left out."),
    untestable: z.array(untestableSchema).describe("Clauses that no request can show, and why."),
    load: loadResultsSchema.exactOptional(),
  })
  .describe("What a run of the conformance harness found.");

export type Report = DeepReadonly<z.infer<typeof reportSchema>>;

/** How a target was reached. */
export type ReportedConnection = DeepReadonly<z.infer<typeof waySchema>>;

/** One row of a report: what one check said of one instance of its probe. */
export type ReportFinding = DeepReadonly<z.infer<typeof findingSchema>>;
export type Totals = DeepReadonly<z.infer<typeof totalsSchema>>;

/** A clause that no request can show, and why. */
export type UntestableRow = DeepReadonly<z.infer<typeof untestableSchema>>;

/** Something that the run made on the target, and that stays there: the interface has no operation that deletes. */
export type CreatedResource = DeepReadonly<z.infer<typeof createdSchema>>;

/**
 * A report and what stands beside it, as a renderer gets it: redacted, and without the secrets that the harness gave to webhooks. Texts of
 * the target are in it as they came: whoever writes them down escapes them for the format that it writes.
 */
export interface ReportDocument {
  readonly report: Report;
  /** `null` where it is not there: of a load report, or of a report that was moved without it. */
  readonly evidence: Evidence | null;
  /** Load evidence by the name that `report.load.runs[].evidence` gives it; empty of a report without load. */
  readonly load: ReadonlyMap<string, LoadEvidence>;
}
