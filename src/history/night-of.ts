import type { LoadRun, Percentiles } from "../report/load-part.ts";
import { cutAt } from "../base/harmless.ts";
import type { Report, ReportFinding } from "../report/report.ts";
import { totalsOf, verdictOf } from "../report/verdict.ts";
import {
  type Night,
  nightFormat,
  type NightFinding,
  type NightLatency,
  type NightLoad,
  nothingReported,
} from "./night.ts";

/** What a night brought. */
export interface NightParts {
  readonly id: string;
  readonly run: Report;
  /** `null` where no load was sent. */
  readonly load: Report | null;
}

/** The entry of a night on which nothing could be judged: the target did not answer, say. */
export function emptyNight(
  { id, started, finished }: Pick<Night, "id" | "started" | "finished">,
  { suite, target, sentence }: Pick<Night, "suite" | "target"> & { readonly sentence: string },
): Night {
  return {
    format: nightFormat,
    id,
    started,
    finished,
    suite,
    target,
    verdict: "incomplete",
    stopped: cutAt(sentence, longest),
    requests: 0,
    totals: totalsOf([]),
    findings: [],
    unselected: [],
    load: [],
    second: [],
    reported: nothingReported,
  };
}

/** The entry of a night, before anything was compared or confirmed. */
export function nightOf({ id, run, load }: NightParts): Night {
  const findings = [...run.findings, ...(load?.findings ?? [])];
  const stopped = run.stopped ?? load?.stopped ?? null;
  return {
    format: nightFormat,
    id,
    started: run.started,
    finished: load?.finished ?? run.finished,
    suite: run.suite,
    target: { name: run.target.name, baseUrl: run.target.baseUrl, fingerprint: run.target.fingerprint },
    // The load of a night is a choice of scenarios: what it left out does not make the night a part of one.
    verdict: verdictOf(findings, stopped, run.unselected),
    stopped,
    requests: run.requests + (load?.requests ?? 0),
    totals: totalsOf(findings),
    findings: findings.map(findingOf),
    unselected: run.unselected,
    load: (load?.load?.runs ?? []).map(loadOf),
    second: [],
    reported: nothingReported,
  };
}

const longest = 300;

function findingOf(finding: ReportFinding): NightFinding {
  const { check, clause, suite, level, outcome, instance, reading, expected } = finding;
  const says = textOf(finding);
  return {
    check,
    clause,
    suite,
    level,
    outcome,
    ...(instance === undefined ? {} : { instance }),
    ...(reading === undefined ? {} : { reading }),
    ...(expected === undefined ? {} : { expected: cutAt(expected, longest) }),
    ...(says === undefined ? {} : { says: cutAt(says, longest) }),
  };
}

/** What holds needs no words a year later. */
function textOf({ outcome, actual, reason }: ReportFinding): string | undefined {
  if (outcome === "pass") return undefined;
  return outcome === "fail" || outcome === "warning" || outcome === "note" ? actual : reason;
}

/** The figures of a load run that a history keeps. */
export function loadOf({ scenario, tier, engine, requests, perSecond, latencyMs, validity }: LoadRun): NightLoad {
  const { planned, sent, admitted, refused, failed, unanswered } = requests;
  const counts = validity.invalid ?? validity.counts;
  return {
    scenario,
    tier,
    engine,
    requests: { planned, sent, admitted, refused, failed, unanswered },
    perSecond,
    latencyMs: { admitted: latencyOf(latencyMs.admitted), refused: latencyOf(latencyMs.refused) },
    validity: { counts, times: counts ?? validity.pace },
  };
}

const latencyOf = (percentiles: Percentiles | null): NightLatency | null =>
  percentiles === null
    ? null
    : { count: percentiles.count, p50: percentiles.p50, p90: percentiles.p90, p99: percentiles.p99 };
