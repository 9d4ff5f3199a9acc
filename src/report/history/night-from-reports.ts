import { truncate } from "../../base/sanitize.ts";
import type { LoadRun } from "../model/load-results.ts";
import type { Report, ReportFinding } from "../model/report.ts";
import { totalsOf, verdictOf } from "../model/verdict.ts";
import { isBroken } from "./gate/flaky.ts";
import {
  type Night,
  type NightFinding,
  nightFindingSchema,
  nightFormat,
  type NightLoad,
  nightLoadSchema,
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
    stopped: truncate(sentence, longest),
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
export function nightFromReports({ id, run, load }: NightParts): Night {
  const findings = [...run.findings, ...(load?.findings ?? [])];
  const stopped = run.stopped ?? load?.stopped;
  return {
    format: nightFormat,
    id,
    started: run.started,
    finished: load?.finished ?? run.finished,
    suite: run.suite,
    target: run.target,
    // A night sends only some scenarios, so checks of load that it leaves out do not make it partial.
    verdict: verdictOf(findings, stopped ?? null, run.unselected),
    ...(stopped === undefined ? {} : { stopped }),
    requests: run.requests + (load?.requests ?? 0),
    totals: totalsOf(findings),
    findings: findings.map(trimmed),
    unselected: run.unselected,
    load: (load?.load?.runs ?? []).map(nightLoadOf),
    second: [],
    reported: nothingReported,
  };
}

const longest = 300;

/** What was asked and what was seen of a broken row, and the reason of any other. A passing row keeps no more than what was expected. */
function trimmed({ expected, actual, reason, ...row }: ReportFinding): NightFinding {
  const said = isBroken(row.outcome)
    ? { expected, actual }
    : row.outcome === "pass"
      ? { expected }
      : { expected, reason };
  const texts = Object.entries(said).flatMap(([name, text]) =>
    text === undefined ? [] : [[name, truncate(text, longest)]],
  );
  return nightFindingSchema.parse({ ...row, ...Object.fromEntries(texts) });
}

/** The figures of a load run that a history keeps. */
export const nightLoadOf = (run: LoadRun): NightLoad => nightLoadSchema.parse(run);
