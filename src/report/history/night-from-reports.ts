import { truncate } from "../../base/sanitize.ts";
import type { LoadRun } from "../model/load-results.ts";
import { isBroken, type Report, type ReportFinding } from "../model/report.ts";
import { type RunEnd, totalsOf, verdictOf } from "../model/verdict.ts";
import {
  type Night,
  type NightFinding,
  nightFindingSchema,
  nightFormat,
  type NightLoad,
  nightLoadSchema,
  nothingReported,
} from "./night.ts";

export interface NightReports {
  readonly id: string;
  readonly run: Report;
  readonly load: Report | null;
  /** Why the load could not be sent; `null` if it was sent or not requested. */
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
    // A nightly run sends only some load scenarios. Scenarios that are not sent do not make the verdict `partial`.
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
