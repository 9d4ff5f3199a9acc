import { z } from "zod";
import type { DeepReadonly } from "../../base/json.ts";
import { isBroken, type ReportFinding } from "../model/finding.ts";
import { type Report, reportSchema } from "../model/report.ts";
import { loadResultsSchema, type LoadRun, type TrialId } from "../model/load-results.ts";
import { truncate } from "../../base/sanitize.ts";
import { type RunEnd, totalsOf, verdictOf } from "../model/verdict.ts";

export const nightFormat = "agent-hosting-conformance/night/2";

const msSchema = z.number().nonnegative();
const loadRunShape = loadResultsSchema.shape.runs.element.shape;
const latencySchema = loadRunShape.latencyMs.shape.admitted
  .unwrap()
  .pick({ count: true, p50: true, p90: true, p99: true });

const trialShape = { scenario: loadRunShape.scenario, tier: loadRunShape.tier, engine: loadRunShape.engine };

const nightLoadSchema = z.object({
  ...trialShape,
  requests: loadRunShape.requests.omit({ left: true }),
  perSecond: loadRunShape.perSecond,
  latencyMs: z.object({ admitted: latencySchema.nullable(), refused: latencySchema.nullable() }),
  validity: loadRunShape.validity,
});

/**
 * A finding in the stored history of nightly runs. Its texts are cut to 300 characters. A passed finding has neither
 * `actual` nor `reason`.
 */
const nightFindingSchema = reportSchema.shape.findings.element.omit({
  needs: true,
  witness: true,
  evidence: true,
});

const reportedRegressionSchema = z.object({
  says: z.string(),
  check: z.string().nullable(),
  instance: z.string().nullable(),
});

const latencyShiftSchema = z.object({
  ...trialShape,
  figure: z.string(),
  direction: z.enum(["slower", "faster"]),
  /** Typical latency before the change, in milliseconds. `isMs` is the typical latency after the change. */
  wasMs: msSchema,
  isMs: msSchema,
  since: z.iso.datetime(),
  isKnown: z.boolean(),
});

/** Schema of a nightly run in a history: its shortened report, its load runs, and the changes that it reported. */
export const nightSchema = reportSchema
  .omit({ durationMs: true, waitedMs: true, upcoming: true, created: true, untestable: true, load: true })
  .extend({
    format: z.literal(nightFormat),
    /** Id of the night, which names its file and the folder of its reports. Ids sort by time. */
    id: z.string(),
    findings: z.array(nightFindingSchema),
    load: z.array(nightLoadSchema),
    /** Second runs of loads that seemed slower or had other counts than before, to confirm or refute the change. */
    second: z.array(nightLoadSchema),
    /** Regressions and latency changes that this night reported. A later night does not repeat the latency changes. */
    reported: z.object({ regressions: z.array(reportedRegressionSchema), changes: z.array(latencyShiftSchema) }),
  });

export type Night = DeepReadonly<z.infer<typeof nightSchema>>;
export type NightFinding = DeepReadonly<z.infer<typeof nightFindingSchema>>;
export type NightLoad = DeepReadonly<z.infer<typeof nightLoadSchema>>;
export type ReportedLatencyShift = DeepReadonly<z.infer<typeof latencyShiftSchema>>;
export type ReportedChanges = Night["reported"];

export interface DamagedNight {
  /** `contradictory` means that the night's totals or verdict do not match its findings. Absent for other damage. */
  readonly kind?: "contradictory";
  readonly file: string;
  readonly problem: string;
}

export interface NightHistory {
  readonly nights: readonly Night[];
  readonly damaged: readonly DamagedNight[];
}

export const nothingReported: ReportedChanges = { regressions: [], changes: [] };

export const trialIdText = ({ scenario, tier, engine }: TrialId): string => `${scenario} ${tier ?? "?"} ${engine}`;

export const countsCaveat = ({ validity }: Pick<NightLoad, "validity">): string | null =>
  validity.invalid ?? validity.counts;

export const timesCaveat = (run: Pick<NightLoad, "validity">): string | null => countsCaveat(run) ?? run.validity.pace;

export const nightV1Format = "agent-hosting-conformance/night/1";

const reasonSchema = z.string().nullable();

const findingV1Schema = nightFindingSchema.omit({ actual: true, reason: true, load: true }).extend({
  /** The actual result of a broken finding, or the reason of any other finding. Format 1 had one field for both. */
  says: z.string().exactOptional(),
});

const loadV1Schema = nightLoadSchema.extend({ validity: z.object({ counts: reasonSchema, times: reasonSchema }) });

export const nightV1Schema = nightSchema
  .omit({ stopped: true })
  .extend({
    format: z.literal(nightV1Format),
    target: nightSchema.shape.target.omit({ tiers: true }),
    stopped: reasonSchema,
    findings: z.array(findingV1Schema),
    load: z.array(loadV1Schema),
    second: z.array(loadV1Schema),
  })
  .transform(({ stopped, target, findings, load, second, ...same }): Night => ({
    ...same,
    format: nightFormat,
    target: { ...target, tiers: {} },
    ...(stopped === null ? {} : { stopped }),
    findings: findings.map(upgradeFinding),
    load: load.map(upgradeLoad),
    second: second.map(upgradeLoad),
  }));

function upgradeFinding({ says, ...row }: z.infer<typeof findingV1Schema>): Night["findings"][number] {
  if (says === undefined) return row;
  return isBroken(row) ? { ...row, actual: says } : { ...row, reason: says };
}

const upgradeLoad = ({ validity: { counts, times }, ...run }: z.infer<typeof loadV1Schema>): Night["load"][number] => ({
  ...run,
  validity: { invalid: null, counts, pace: counts === null ? times : null },
});

interface NightReports {
  readonly id: string;
  readonly run: Report;
  readonly load: Report | null;
  /** Why no load was sent, e.g. an interruption; `null` if it was sent, or skipped, e.g. because there is no engine. */
  readonly loadEnd?: RunEnd | null;
}

export function emptyNight(
  { id, started, finished }: Pick<Night, "id" | "started" | "finished">,
  { suite, target, verdict, sentence }: Pick<Night, "suite" | "target" | "verdict"> & { readonly sentence: string },
): Night {
  return {
    format: nightFormat,
    id,
    started,
    finished,
    suite,
    target,
    verdict,
    stopped: truncate(sentence, maxTextCharacters),
    requests: 0,
    totals: totalsOf([]),
    findings: [],
    unselected: [],
    load: [],
    second: [],
    reported: nothingReported,
  };
}

export function nightFromReports({ id, run, load, loadEnd = null }: NightReports): Night {
  const findings = [...run.findings, ...(load?.findings ?? [])];
  const stopped = run.stopped ?? load?.stopped ?? loadProblem(loadEnd);
  return {
    format: nightFormat,
    id,
    started: run.started,
    finished: load?.finished ?? run.finished,
    suite: run.suite,
    target: run.target,
    // Leaves out `load.unselected`: a nightly run sends only some scenarios, which must not make the verdict `partial`.
    verdict: verdictOf(findings, stopped ?? null, run.unselected),
    ...(stopped === undefined ? {} : { stopped }),
    requests: run.requests + (load?.requests ?? 0),
    totals: totalsOf(findings),
    findings: findings.map(trimFinding),
    ...(run.pairs === undefined ? {} : { pairs: run.pairs }),
    ...(run.streaming === undefined ? {} : { streaming: run.streaming }),
    unselected: run.unselected,
    load: (load?.load?.runs ?? []).map(nightLoadOf),
    second: [],
    reported: nothingReported,
  };
}

const loadProblem = (end: RunEnd | null): string | undefined =>
  end === null || end.kind === "planned" ? undefined : `No load was sent: ${end.why}`;

const maxTextCharacters = 300;

function trimFinding({ expected, actual, reason, ...row }: ReportFinding): NightFinding {
  const kept = isBroken(row) ? { expected, actual } : row.outcome === "pass" ? { expected } : { expected, reason };
  const texts = Object.entries(kept).flatMap(([name, text]) =>
    text === undefined ? [] : [[name, truncate(text, maxTextCharacters)]],
  );
  return nightFindingSchema.parse({ ...row, ...Object.fromEntries(texts) });
}

export const nightLoadOf = (run: LoadRun): NightLoad => nightLoadSchema.parse(run);
