import { z } from "zod";

import type { DeepReadonly } from "../../base/deep-readonly.ts";
import type { TrialId } from "../model/trial-id.ts";
import { loadResultsSchema } from "../model/load-results.ts";
import { reportSchema } from "../model/report.ts";

export const nightFormat = "agent-hosting-conformance/night/2";

const ms = z.number().nonnegative();
const loadRun = loadResultsSchema.shape.runs.element.shape;
const latencySchema = loadRun.latencyMs.shape.admitted.unwrap().pick({ count: true, p50: true, p90: true, p99: true });

/** The metrics of one load run that a history keeps. */
export const nightLoadSchema = z.object({
  scenario: loadRun.scenario,
  tier: loadRun.tier,
  engine: loadRun.engine,
  requests: loadRun.requests.omit({ left: true }),
  perSecond: loadRun.perSecond,
  latencyMs: z.object({ admitted: latencySchema.nullable(), refused: latencySchema.nullable() }),
  validity: loadRun.validity,
});

/** A finding of one night. Texts are cut at 300 characters; a passing finding keeps neither `actual` nor `reason`. */
export const nightFindingSchema = reportSchema.shape.findings.element.omit({
  needs: true,
  witness: true,
  evidence: true,
});

/** A regression as the night reported it; `check` is `null` if a count of a load run changed. */
const regressionSchema = z.object({ says: z.string(), check: z.string().nullable(), instance: z.string().nullable() });

/** A lasting change of a latency. */
const changeSchema = z.object({
  scenario: loadRun.scenario,
  tier: loadRun.tier,
  engine: loadRun.engine,
  /** Name of the metric, for example `admitted p50`. */
  figure: z.string(),
  direction: z.enum(["slower", "faster"]),
  /** Typical latency before and after the change, in milliseconds. */
  wasMs: ms,
  isMs: ms,
  /** Start of the first night with the changed latency. */
  since: z.iso.datetime(),
  /** Whether the change belongs to a slow-down that was reported before, and so is not reported again. */
  isKnown: z.boolean(),
});

/**
 * One nightly run in a history: a shortened report with the findings of its run and its load, and the changes that the night reported.
 * Secrets are redacted like in the report.
 */
export const nightSchema = reportSchema
  .omit({ durationMs: true, waitedMs: true, upcoming: true, created: true, untestable: true, load: true })
  .extend({
    format: z.literal(nightFormat),
    /** Name of the night's file, and of the folder of its reports. Ids sort by time. */
    id: z.string(),
    findings: z.array(nightFindingSchema),
    load: z.array(nightLoadSchema),
    /** Confirmation runs: load that was sent again because it looked worse. */
    second: z.array(nightLoadSchema),
    /** Regressions and changes of latency that the night reported, kept so that the next night does not report them again. */
    reported: z.object({ regressions: z.array(regressionSchema), changes: z.array(changeSchema) }),
  });

export type Night = DeepReadonly<z.infer<typeof nightSchema>>;
export type NightFinding = DeepReadonly<z.infer<typeof nightFindingSchema>>;
export type NightLoad = DeepReadonly<z.infer<typeof nightLoadSchema>>;
export type ReportedLatencyShift = DeepReadonly<z.infer<typeof changeSchema>>;
export type Reported = Night["reported"];

/** A file of a history that cannot be read or trusted, and is left out. */
export interface DamagedNight {
  /** `contradictory` means that the totals or the verdict in the file do not follow from its findings. */
  readonly kind?: "contradictory";
  readonly file: string;
  readonly problem: string;
}

export interface NightHistory {
  /** Oldest first. */
  readonly nights: readonly Night[];
  readonly damaged: readonly DamagedNight[];
}

export const nothingReported: Reported = { regressions: [], changes: [] };

export const trialIdText = ({ scenario, tier, engine }: TrialId): string => `${scenario} ${tier ?? "?"} ${engine}`;

/** Why the counts of a load run prove nothing; `null` if they are valid. */
export const countsCaveat = ({ validity }: Pick<NightLoad, "validity">): string | null =>
  validity.invalid ?? validity.counts;

/** Why the times of a load run prove nothing; `null` if they are valid. */
export const timesCaveat = (run: Pick<NightLoad, "validity">): string | null => countsCaveat(run) ?? run.validity.pace;
