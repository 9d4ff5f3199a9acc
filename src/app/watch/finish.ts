import { join } from "node:path";

import type { Evidence } from "../../evidence/evidence.ts";
import { evidenceText, reportText } from "../../report/json.ts";
import type { Report } from "../../report/report.ts";
import type { Suite } from "../../run/check.ts";
import type { Wording } from "../../run/lack.ts";
import { suites } from "../../suites/all.ts";
import { type Watched, withWatched } from "../../suites/deliveries/watching.ts";
import type { KeptRun } from "../folder/kept-run.ts";
import { judgeAgain } from "../rejudge/judge-again.ts";
import { replaceFile } from "../folder/write-files.ts";
import { removeJournal } from "./journal.ts";
import { removeState, type WatchState } from "./state.ts";

/** Judges again, with what was watched in the evidence of the run. */
export function judgeWatched(
  { report, evidence }: KeptRun,
  { epochMs }: WatchState,
  watched: Watched,
  wording: Wording,
): KeptRun {
  const all: Evidence = {
    ...evidence,
    deliveries: watched.deliveries,
    probes: withWatched(evidence.probes, watched),
  };
  const finished = new Date(epochMs + watched.untilMs).toISOString();
  return { report: { ...judgeAgain(report, all, wording, selectedBy(report)), finished }, evidence: all };
}

/** The checks that the run itself has judged. */
function selectedBy({ findings }: Report): Suite[] {
  const selected = new Set(findings.map(({ check }) => check));
  return suites.map((suite) => ({ ...suite, checks: suite.checks.filter(({ id }) => selected.has(id)) }));
}

/** Rewrites the report of a folder. A repetition does no harm. */
export function keepWatched(folder: string, { report, evidence }: KeptRun): void {
  replaceFile(join(folder, "evidence.json"), evidenceText(evidence));
  replaceFile(join(folder, "report.json"), reportText(report));
}

/** Takes away what it took to go on watching, once it stands in the report. */
export function endWatching(folder: string): void {
  removeState(folder);
  removeJournal(folder);
}
