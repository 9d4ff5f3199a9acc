import type { Exchange } from "../../evidence/exchange.ts";
import type { Sample } from "../../rules/limits/sample.ts";
import type { ProbeRun } from "../plan/plan.ts";
import { type Check, probesOf, type Suite } from "../judge/check.ts";
import { isExchange, judgeEvidence, type Judgement, resultsByProbe } from "../judge/judge-evidence.ts";
import type { Probe } from "../probe.ts";
import { isReview } from "../run-probe.ts";
import type { Recorder } from "../send/recorder.ts";
import {
  describeDisturbance,
  type Disturbance,
  invalidatesExchange,
  invalidatesSample,
  isAboutCounts,
  isAboutTiming,
} from "./disturbance.ts";

interface DisturbedRunContext {
  readonly suites: readonly Suite[];
  readonly runs: readonly ProbeRun[];
  readonly endedMs: (run: ProbeRun) => number;
  readonly review: (recorder: Recorder) => Promise<readonly ProbeRun[]>;
  readonly recorder: Recorder;
}

/** Marks probes with disturbed evidence as skipped. First runs `review` probes again, on undisturbed requests only. */
export async function skipDisturbed(
  disturbances: readonly Disturbance[],
  { suites, runs, endedMs, review, recorder }: DisturbedRunContext,
): Promise<readonly ProbeRun[]> {
  if (disturbances.length === 0) return runs;
  const clauses = clausesByProbe(suites);
  const breachesIn = (those: readonly ProbeRun[]): Judgement[] =>
    judgeEvidence(suites, resultsByProbe(those)).filter(({ finding }) => finding.kind === "breach");
  const before = breachesIn(runs).filter(isSensitiveBreach);
  const without = async (invalidates: Invalidates): Promise<readonly ProbeRun[]> => {
    const reviewed = await review(undisturbedRecorder(recorder, disturbances, invalidates));
    return runs.map((run): ProbeRun => {
      const again = reviewed.find(({ planned }) => planned.probe === run.planned.probe);
      if (again !== undefined) return again;
      const own = clauses.get(run.planned.probe) ?? [];
      const isBroken = before.some((each) => judgesProbeRun(each, run));
      const cause = disturbances.find((each) => mayBeDisturbed(run, endedMs(run), each, { clauses: own, isBroken }));
      return cause === undefined ? run : skippedRun(run, cause);
    });
  };
  const first = await without(invalidatesExchange);
  const kept = breachesIn(first).some(isTimingJudgement) ? await without(endedAfterDisturbanceBegan) : first;
  const breaches = breachesIn(kept);
  return kept.map((run): ProbeRun => {
    const cause = disturbances.find((each) => each.kind !== "key refused" && endedMs(run) >= each.fromMs);
    if (cause === undefined || run.result.kind !== "ran") return run;
    const broken = breaches.filter((each) => judgesProbeRun(each, run));
    const isSensitiveOnly = clauses.get(run.planned.probe)?.every(isSensitive) ?? false;
    const isDoubtful = (isSensitiveOnly || !isReview(run.planned)) && broken.some(isTimingJudgement);
    // A pass is doubtful: the `review` probe did not read the disturbed requests, which may break its clauses.
    const mayMissBreach = isReview(run.planned) && isSensitiveOnly && broken.length === 0;
    return isDoubtful || mayMissBreach ? skippedRun(run, cause) : run;
  });
}

/**
 * Whether an exchange ended after a disturbance began, so that its duration proves nothing. A refused key affects only
 * exchanges with that key.
 */
const endedAfterDisturbanceBegan: Invalidates = (disturbance, exchange) =>
  disturbance.kind === "key refused"
    ? invalidatesExchange(disturbance, exchange)
    : exchange.answer.endMs >= disturbance.fromMs;

const isSensitive = (clause: string): boolean => isAboutCounts(clause) || isAboutTiming(clause);

const isSensitiveBreach = ({ check: { clause } }: Judgement): boolean => isSensitive(clause);

const isTimingJudgement = ({ check: { clause } }: Judgement): boolean => isAboutTiming(clause);

const judgesProbeRun = ({ check, instance }: Judgement, { planned: { probe, tested } }: ProbeRun): boolean =>
  Object.values(probesOf(check.on)).includes(probe) && (tested === null || tested.tier === instance);

const skippedRun = ({ planned }: ProbeRun, cause: Disturbance): ProbeRun => ({
  planned,
  result: { kind: "skipped", reason: describeDisturbance(cause), needs: null },
});

function clausesByProbe(suites: readonly Suite[]): ReadonlyMap<Probe, string[]> {
  const clauses = new Map<Probe, string[]>();
  const add = (probe: Probe, { clause }: Check): void =>
    void clauses.set(probe, [...(clauses.get(probe) ?? []), clause]);
  for (const check of suites.flatMap(({ checks }) => checks))
    for (const probe of Object.values(probesOf(check.on))) add(probe, check);
  return clauses;
}

function mayBeDisturbed(
  { planned: { keys }, result }: ProbeRun,
  endedMs: number,
  disturbance: Disturbance,
  { clauses, isBroken }: { readonly clauses: readonly string[]; readonly isBroken: boolean },
): boolean {
  if (result.kind !== "ran" || endedMs < disturbance.fromMs) return false;
  if (disturbance.kind === "key refused") return keys.includes(disturbance.key);
  // Requests of another client only use up limits. Therefore, they disturb only clauses about counts.
  if (disturbance.kind === "keys shared" && disturbance.by === "somebody else")
    return clauses.some(isAboutCounts) && (isBroken || clauses.every(isSensitive));
  if (clauses.some(isAboutCounts)) return true;
  return exchangesIn(result.evidence).some((each) => invalidatesExchange(disturbance, each));
}

function exchangesIn(value: unknown): Exchange[] {
  if (typeof value !== "object" || value === null || "headClockMs" in value) return [];
  return isExchange(value) ? [value] : Object.values(value).flatMap(exchangesIn);
}

type Invalidates = (disturbance: Disturbance, exchange: Exchange) => boolean;

function undisturbedRecorder(
  recorder: Recorder,
  disturbances: readonly Disturbance[],
  invalidates: Invalidates,
): Recorder {
  const isUndisturbed = (each: Exchange): boolean => !disturbances.some((cause) => invalidates(cause, each));
  const undisturbedOf = (key: string, samples: readonly Sample[]): readonly Sample[] =>
    samples.filter((each) => !disturbances.some((cause) => invalidatesSample(cause, key, each)));
  return {
    ...recorder,
    exchangesOutsideOutages: () => recorder.exchangesOutsideOutages().filter(isUndisturbed),
    exchangesSinceOutage: () => recorder.exchangesSinceOutage().filter(isUndisturbed),
    samplesOf: (key) => undisturbedOf(key, recorder.samplesOf(key)),
    sampleSeriesOf: (key) => recorder.sampleSeriesOf(key).map((samples) => undisturbedOf(key, samples)),
  };
}
