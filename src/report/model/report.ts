import { z } from "zod";

import type { DeepReadonly } from "../../base/json.ts";
import { firstRequirementSet, parties, type Party } from "../../spec/clause.ts";
import { levels } from "../../spec/clauses.ts";
import { profileNames } from "../../spec/profiles.ts";
import { streamingSchema } from "./streaming.ts";
import { findingSchema, type Outcome, outcomes } from "./finding.ts";
import { loadResultsSchema } from "./load-results.ts";
import type { LoadEvidence } from "../../evidence/load-evidence.ts";
import type { Evidence } from "../../evidence/evidence.ts";

export const verdicts = ["conformant", "nonconformant", "partial", "incomplete", "unreachable"] as const;
/** Verdict on a target. `partial`: no must clause is broken, but one was not fully exercised or a load is invalid. */
export type Verdict = (typeof verdicts)[number];

const count = z.int().nonnegative();
const millisecondsSchema = z.number().nonnegative().describe("Milliseconds.");

const combinationCountFields = {
  covered: count,
  reachable: count.describe("Those that the target's keys, agents and clock allow, within the bounds of the run."),
  total: count,
  cut: z
    .array(z.object({ needs: z.string(), pairs: count }))
    .describe("What would bring the others, and how many: lines of the target file, or bounds of the run."),
} as const;

const pairsSchema = z
  .object({
    ...combinationCountFields,
    unseen: z
      .array(z.string())
      // Reports of older harness versions lack `unseen`.
      .default([])
      .describe("Pairs within reach that no request had. Their must clauses do not count as exercised."),
    triples: z
      .object(combinationCountFields)
      .describe("Triples of endpoint, kind of key and state of the key.")
      .exactOptional(),
    seed: z.int().describe("The seed of the generated requests.").exactOptional(),
    seen: z
      .object({ of: z.string().describe("A hash of all pairs, in order."), bits: z.string() })
      .describe("Which pairs occurred: a bit for each, in base64. Bits of the same hash can be added up.")
      .exactOptional(),
  })
  .describe(
    "Pairs of values of two properties of a request, such as its endpoint and the kind of its key: how many occurred in some request of the run.",
  );
export const totalsSchema = z.object(
  Object.fromEntries(outcomes.map((outcome) => [outcome, count])) as Record<Outcome, typeof count>,
);

export const createdKinds = ["webhook", "alert", "operation"] as const;

const createdSchema = z.object({
  kind: z.enum(createdKinds),
  id: z.string().nullable().describe("The id in the response; null if there was none."),
  key: z.string().nullable().describe("Name of the key that created it."),
  at: z.iso.datetime().describe("Time of the response."),
  exchange: z.string().describe("Id of the exchange in `evidence.json`; under load, the file of load evidence."),
});

const connectionSchema = z
  .object({
    proxy: z
      .object({
        url: z.string().describe("Without a user and a password."),
        asksWho: z.boolean().describe("Whether it was given a user and a password."),
      })
      .exactOptional(),
    ca: z.string().describe("File with further trusted certificate authorities.").exactOptional(),
    cert: z.string().describe("File with the client certificate.").exactOptional(),
    key: z.string().describe("File with the key of the client certificate.").exactOptional(),
  })
  .describe("The connection to the target, if it used a proxy or certificates; files as they were named.");

const recordingSchema = z
  .object({
    file: z.string(),
    format: z.string().describe("The format, and the program that wrote the recording."),
    exchanges: count.describe("Exchanges that were judged."),
    counted: count
      .describe("Exchanges that were judged while they passed a proxy, and of which only the number was kept.")
      .exactOptional(),
    keys: count.describe("Distinct keys that the recording shows."),
    leftOut: z
      .array(z.object({ why: z.string(), exchanges: count }))
      .describe("Exchanges that were not judged, by reason."),
    gaps: z
      .array(z.object({ what: z.string(), count }))
      .describe(
        "Parts of the judged exchanges that the recording lacks. Checks that need them left these exchanges out.",
      ),
    shows: z
      .object({ times: z.boolean(), eventTimes: z.boolean(), keys: z.boolean(), clock: z.boolean() })
      .describe("Facts that the recording shows. They decide which checks could judge it."),
  })
  .describe("The recording of other traffic that was judged. Nothing was sent.");

const testedLimit = { tier: z.string(), window: z.enum(["minute", "hour"]) };
const limitSchema = z
  .discriminatedUnion("kind", [
    z.strictObject({ ...testedLimit, kind: z.enum(["kept", "not proven"]) }),
    z.strictObject({
      ...testedLimit,
      kind: z.literal("exceeded"),
      excessPercent: z
        .number()
        .positive()
        .nullable()
        .describe("At most, in percent of the published number; null: unknown."),
    }),
  ])
  .describe(
    "What was found out about the rate limit of a tier. `kept`: no more requests were admitted than published.",
  );
export const limitsSchema = z.array(limitSchema).describe("Rate limits by tier and window.");

export const profileVerdicts = [
  "conformant",
  "nonconformant",
  "partial",
  "incomplete",
  "not offered",
  "not selected",
] as const;

const profileResultSchema = z.object({
  profile: z.enum(profileNames),
  verdict: z
    .enum(profileVerdicts)
    .describe("`not offered`: the target file leaves the profile out of `offers`. `not selected`: the run did."),
  musts: count.describe("Must clauses of the profile that a check can exercise."),
  exercised: count.describe("Those that the run exercised."),
  broken: z
    .array(z.string())
    .describe("Must clauses that are broken, general ones at the profile's endpoints included."),
});

const untestableSchema = z.object({ clause: z.string(), level: z.enum(levels), reason: z.string() });

export const reportSchema = z
  .object({
    format: z.literal("agent-hosting-conformance/report/1"),
    suite: z.object({
      version: z.string(),
      clauses: z.string().describe("Hash of the clauses judged by."),
      // Reports of older harness versions lack `requirements`. They count as judged by the first requirement set.
      requirements: z.string().default(firstRequirementSet).describe("The requirement set that was judged by."),
    }),
    party: z
      .enum(parties)
      .describe("The party that is judged. Verdict, totals and coverage count its clauses alone. Absent: server.")
      .exactOptional(),
    target: z.object({
      name: z.string(),
      baseUrl: z.string(),
      fingerprint: z.string().describe("Hash of what identifies the deployment."),
      tiers: z.record(z.string(), z.string()).describe("Tiers of the keys in use, by key name."),
      roles: z
        .record(z.string(), z.string())
        .describe("The agent of each role, and the query that makes it play the role.")
        .exactOptional(),
      variables: z
        .record(z.string(), z.string())
        .describe("Environment variables from which the target file takes keys, by key name.")
        .exactOptional(),
      way: connectionSchema.exactOptional(),
      offers: z
        .array(z.enum(profileNames))
        .describe("The profiles that the target offers, by its target file. Absent: all.")
        .exactOptional(),
    }),
    started: z.iso.datetime(),
    finished: z.iso.datetime(),
    durationMs: millisecondsSchema,
    requests: count,
    executions: count
      .describe(
        "Largest possible number of agent executions: invokes and streams that were admitted, failed or got no response, and the items of such batches.",
      )
      .exactOptional(),
    lost: count
      .describe("Requests that were sent again because the connection ended before the response was complete.")
      .exactOptional(),
    waitedMs: millisecondsSchema,
    away: z
      .string()
      .describe(
        "When the target was away during the run, as part of a sentence: it refused connections, or a gateway answered in its place.",
      )
      .exactOptional(),
    verdict: z.enum(verdicts),
    stopped: z
      .string()
      .describe("Why the run was stopped early, or why the target could not be judged.")
      .exactOptional(),
    totals: totalsSchema,
    profiles: z
      .array(profileResultSchema)
      .describe("The verdict for each profile of the interface. Absent for other parties than servers, and under load.")
      .exactOptional(),
    findings: z.array(findingSchema),
    upcoming: z
      .array(findingSchema)
      // Reports of older harness versions lack `upcoming`: those versions had no requirement sets.
      .default([])
      .describe(
        "Findings of checks that only a later requirement set has. They count neither for the totals nor for the verdict.",
      ),
    pairs: pairsSchema.exactOptional(),
    limits: limitsSchema.exactOptional(),
    streaming: streamingSchema.exactOptional(),
    created: z
      .array(createdSchema)
      // Reports of older harness versions lack `created`.
      .default([])
      .describe("Resources that the run left on the target: the interface has no operation that deletes them."),
    unselected: z.array(z.string()).describe("Must clauses with checks that `--only` or `--skip` left out."),
    selection: z
      .strictObject({
        only: z.array(z.string()),
        skip: z.array(z.string()),
        profiles: z.array(z.enum(profileNames)).describe("The profiles of `--profile`.").exactOptional(),
      })
      .describe("What `--only`, `--skip` and `--profile` selected. Absent if the run had every check.")
      .exactOptional(),
    untestable: z.array(untestableSchema).describe("Clauses that no request can test, and why."),
    load: loadResultsSchema.exactOptional(),
    recording: recordingSchema.exactOptional(),
    trouble: z
      .object({
        seed: z.int().nonnegative().describe("The seed of the schedule; `client --seed` repeats it."),
        kinds: z.array(z.string()).describe("The kinds of trouble that were allowed."),
      })
      .describe("The trouble under which a client was judged.")
      .exactOptional(),
  })
  .describe("The result of a run of the conformance harness.");

export type Report = DeepReadonly<z.infer<typeof reportSchema>>;

export type ProfileResult = DeepReadonly<z.infer<typeof profileResultSchema>>;

const statedFactNames = ["selection", "trouble"] as const satisfies readonly (keyof Report)[];

/** Fields that a report copies from the options of its run: the selected checks, and the trouble for a client. */
export type StatedFacts = Pick<Report, (typeof statedFactNames)[number]>;

export const statedFactsOf = (options: StatedFacts): StatedFacts =>
  Object.fromEntries(statedFactNames.flatMap((name) => (options[name] === undefined ? [] : [[name, options[name]]])));

export const partyOf = ({ party = "server" }: Pick<Report, "party">): Party => party;

export type ReportedRecording = DeepReadonly<z.infer<typeof recordingSchema>>;

export type ReportedConnection = DeepReadonly<z.infer<typeof connectionSchema>>;

export type Totals = DeepReadonly<z.infer<typeof totalsSchema>>;

/** A clause that no request can test, with the reason. */
export type UntestableRow = DeepReadonly<z.infer<typeof untestableSchema>>;

/** A resource that the run left on the target, because the interface has no operation that deletes it. */
export type CreatedResource = DeepReadonly<z.infer<typeof createdSchema>>;

/** A report with its evidence. Secrets are redacted. Control characters are not escaped: each renderer must do so. */
export interface ReportDocument {
  readonly report: Report;
  /** Evidence of the run. `null` for load, for configuration files, and if no evidence file was read. */
  readonly evidence: Evidence | null;
  /** Load evidence by file name, as in `report.load.runs[].evidence`. Empty without load, or if none was read. */
  readonly load: ReadonlyMap<string, LoadEvidence>;
}
