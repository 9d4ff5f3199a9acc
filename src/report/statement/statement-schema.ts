import { z } from "zod";
import { parties } from "../../spec/clause.ts";

import { profileNames } from "../../spec/profiles.ts";
import { rowLevels } from "../model/finding.ts";
import { limitsSchema, profileVerdicts, totalsSchema, verdicts } from "../model/report.ts";

export const statementFormat = "agent-hosting-conformance/statement/1";

const count = z.int().nonnegative();
const digest = z.string().regex(/^[0-9a-f]{64}$/, "must be 64 lower-case hex digits");

const exceptionSchema = z
  .strictObject({
    check: z.string(),
    clause: z.string(),
    level: z.enum(rowLevels),
    outcome: z.enum(["fail", "error", "warning", "note"]),
    instances: z
      .array(z.string())
      .describe("Tiers, or under load tiers and engines; absent: the whole target.")
      .exactOptional(),
    expected: z.string().exactOptional(),
    actual: z.string().exactOptional(),
    reason: z.string().exactOptional(),
  })
  .describe("A clause that was judged and did not pass.");

const loadSchema = z
  .strictObject({
    scenario: z.string(),
    tier: z.string().nullable(),
    engine: z.string(),
    sent: count,
    admitted: count,
    refused: count,
    invalid: z.string().describe("Why the run proves nothing.").exactOptional(),
  })
  .describe("One scenario on one tier by one engine.");

/** Schema of a conformance statement. It rejects unknown fields, because they could not be verified. */
export const statementSchema = z
  .strictObject({
    format: z.literal(statementFormat),
    kind: z.enum(["run", "load"]).describe("Whether suites or load scenarios judged."),
    party: z.enum(parties).describe("The party that was judged. Absent: server.").exactOptional(),
    target: z.strictObject({
      name: z.string(),
      baseUrl: z.string(),
      fingerprint: z.string().describe("Hash of what identifies the deployment."),
      tiers: z.array(z.string()).describe("Tiers of the keys in use."),
    }),
    suite: z.strictObject({
      version: z.string(),
      clauses: z.string().describe("Hash of the clauses judged by."),
      requirements: z.string().describe("The requirement set that was judged by; absent: 1.0.").exactOptional(),
    }),
    verdict: z.enum(verdicts),
    profiles: z
      .array(
        z.strictObject({
          profile: z.enum(profileNames),
          verdict: z.enum(profileVerdicts),
          musts: count.describe("Must clauses of the profile that a check can exercise."),
          exercised: count.describe("Those that the run exercised."),
        }),
      )
      .describe("The verdict for each profile of the interface.")
      .exactOptional(),
    pairs: z
      .strictObject({ covered: count, reachable: count.describe("Those within reach of the target and of the run.") })
      .describe("Pairs of values of two properties of a request: how many occurred in some request of the run.")
      .exactOptional(),
    limits: limitsSchema.exactOptional(),
    stopped: z.string().describe("Why the run was stopped early.").exactOptional(),
    started: z.iso.datetime(),
    finished: z.iso.datetime(),
    requests: count,
    counts: z.strictObject({
      clauses: z
        .strictObject({
          passed: count,
          broken: count,
          warned: count,
          noted: count,
          observed: count,
          notExercised: count,
        })
        .describe("Each clause counts once, by the worst of its findings."),
      findings: totalsSchema.strict(),
    }),
    exceptions: z.array(exceptionSchema),
    notExercised: z
      .array(
        z.strictObject({
          clause: z.string(),
          level: z.enum(["must", "should"]),
          reason: z.string(),
          needs: z.string().describe("What would enable it.").exactOptional(),
        }),
      )
      .describe("Must and should clauses without an exercised finding."),
    unselected: z.array(z.string()).describe("Must clauses that the selection of the run left out."),
    readings: z
      .record(z.string(), z.array(z.string()))
      .describe(
        "The admissible readings that the target follows, by clause, except whether an optional field is there.",
      ),
    load: z.array(loadSchema).exactOptional(),
    evidence: z
      .array(z.strictObject({ file: z.string(), sha256: digest }))
      .describe("The report and its files of evidence, by their names in its folder, and the SHA-256 of their bytes."),
  })
  .describe(
    "A statement that a vendor publishes about a conformance report; `conformance verify` checks it against the report.",
  );

export type Statement = z.infer<typeof statementSchema>;
export type StatementException = Statement["exceptions"][number];
export type StatementLoad = NonNullable<Statement["load"]>[number];
export type StatementProfile = NonNullable<Statement["profiles"]>[number];
