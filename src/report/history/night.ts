import { z } from "zod";

import type { DeepReadonly } from "../../base/deep-readonly.ts";
import type { TrialId } from "../model/trial-id.ts";
import { loadResultsSchema } from "../model/load-results.ts";
import { reportSchema } from "../model/report.ts";

export type { TrialId as LoadName };

export const nightFormat = "agent-hosting-conformance/night/2";

const ms = z.number().nonnegative();
const loadRun = loadResultsSchema.shape.runs.element.shape;
const latencySchema = loadRun.latencyMs.shape.admitted.unwrap().pick({ count: true, p50: true, p90: true, p99: true });

/** The figures of one load run. */
export const nightLoadSchema = z.object({
  scenario: loadRun.scenario,
  tier: loadRun.tier,
  engine: loadRun.engine,
  requests: loadRun.requests.omit({ left: true }),
  perSecond: loadRun.perSecond,
  latencyMs: z.object({ admitted: latencySchema.nullable(), refused: latencySchema.nullable() }),
  validity: loadRun.validity,
});

/** What one check said on one night. Texts are cut at 300 characters; of a passing check neither `actual` nor `reason` is kept. */
export const nightFindingSchema = reportSchema.shape.findings.element.omit({
  needs: true,
  witness: true,
  evidence: true,
});

/** A finding or a count that became worse, in the words in which it was reported; `check` is `null` where it is no finding's. */
const regressionSchema = z.object({ says: z.string(), check: z.string().nullable(), instance: z.string().nullable() });

/** A latency that a night was found to have changed for good. */
const changeSchema = z.object({
  scenario: loadRun.scenario,
  tier: loadRun.tier,
  engine: loadRun.engine,
  /** Such as `admitted p50`. */
  figure: z.string(),
  direction: z.enum(["slower", "faster"]),
  /** Medians, in milliseconds. */
  wasMs: ms,
  isMs: ms,
  /** Start of the first night that had it. */
  since: z.iso.datetime(),
  /** Part of a slow-down that was reported before; not reported again. */
  isKnown: z.boolean(),
});

/**
 * One night in the history: its report, trimmed of what is neither compared nor shown a year later, and what the history adds. Its findings
 * are those of the suites and of load together. Redacted as the report was.
 */
export const nightSchema = reportSchema
  .omit({ durationMs: true, waitedMs: true, created: true, untestable: true, load: true })
  .extend({
    format: z.literal(nightFormat),
    /** Name of its file and of its report's folder; sorts by time. */
    id: z.string(),
    findings: z.array(nightFindingSchema),
    load: z.array(nightLoadSchema),
    /** Load that was sent a second time, to confirm what was suspected. */
    second: z.array(nightLoadSchema),
    /** What was reported on the night, so that it is not reported on the next one again. */
    reported: z.object({ regressions: z.array(regressionSchema), changes: z.array(changeSchema) }),
  });

export type Night = DeepReadonly<z.infer<typeof nightSchema>>;
export type NightFinding = DeepReadonly<z.infer<typeof nightFindingSchema>>;
export type NightLoad = DeepReadonly<z.infer<typeof nightLoadSchema>>;
export type ReportedLatencyShift = DeepReadonly<z.infer<typeof changeSchema>>;
export type Reported = Night["reported"];

export const nothingReported: Reported = { regressions: [], changes: [] };

export const trialKey = ({ scenario, tier, engine }: TrialId): string => `${scenario} ${tier ?? "?"} ${engine}`;

/** Why the counts of a load run prove nothing; `null` where they do. */
export const countsCaveat = ({ validity }: Pick<NightLoad, "validity">): string | null =>
  validity.invalid ?? validity.counts;

/** Why its times prove nothing; `null` where they do. */
export const timesCaveat = (run: Pick<NightLoad, "validity">): string | null => countsCaveat(run) ?? run.validity.pace;
