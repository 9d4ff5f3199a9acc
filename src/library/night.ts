import { findEngines } from "../app/load/available-engines.ts";
import { silentLoadEvents } from "../app/load/send-load.ts";
import { defaultLoadParameters } from "../app/load/plan-load.ts";
import { describeNotSent } from "../app/load/not-sent-reason.ts";
import { runNight } from "../app/nightly/run-night.ts";
import type { Regression } from "../report/compare/comparison.ts";
import type { ReportedLatencyShift } from "../report/history/night.ts";
import type { ReportDocument } from "../report/model/report.ts";
import { type LoadChoice, toLoadParameters } from "./load.ts";
import { NothingToJudge } from "./judge.ts";
import { parseRegressionList } from "./reports.ts";
import { type JudgeScope, scopeOf } from "./scope.ts";
import { resolveTarget, type TargetDescription } from "./target.ts";

/** Options of a nightly run. Every option has a default. */
export interface NightOptions extends JudgeScope {
  /** Load to send after the run. Default: none. */
  readonly load?: LoadChoice;
  /** List of the changes that count as regressions, as for {@link compare}. Default: `default`. */
  readonly regression?: string;
  /** Number of nights that the history keeps. Default: 400. */
  readonly nights?: number;
  /** Number of nights whose full reports are kept. Default: 30. */
  readonly reports?: number;
  /** When this signal aborts, the nightly run ends early and is not saved. */
  readonly signal?: AbortSignal;
}

/** The result of a nightly run, compared with earlier nights. Keys are redacted. */
export interface JudgedNight {
  /** Id of this nightly run. The history has a file of the same name. */
  readonly id: string;
  /**
   * Findings and load counts that are worse than in earlier nights. A load count is, e.g., the number of failed
   * requests.
   */
  readonly regressions: readonly Regression[];
  /** Load trials that became slower. The same trials, sent again in this night, confirmed the slowdown. */
  readonly slower: readonly ReportedLatencyShift[];
  /** The report of the run; `null` if nothing could be judged. */
  readonly run: ReportDocument | null;
  /** The report of the load; `null` if no load was sent. */
  readonly load: ReportDocument | null;
  /** Why the requested load was not sent, in one sentence; `null` if it was sent or not requested. */
  readonly noLoad: string | null;
}

/**
 * Judges a target, compares it with earlier nights and saves the result, as `conformance nightly` does.
 * @param history folder of this target only; created if it is missing
 * @throws {UsageProblem} before anything is sent, if an option is invalid, or the history is of another target
 * @throws {NothingToJudge} if the signal ended the night early; the night is not saved
 */
export async function night(
  target: TargetDescription,
  history: string,
  options: NightOptions = {},
): Promise<JudgedNight> {
  const { load, regression, nights = 400, reports = 30, signal = new AbortController().signal, ...scope } = options;
  const kept = await runNight({
    ...scopeOf(scope),
    ...resolveTarget(target),
    history,
    load: load === undefined ? null : { ...defaultLoadParameters, ...toLoadParameters(load) },
    engines: await findEngines(),
    agree: () => load?.isAgreed === true,
    keep: { nights, reports },
    rules: parseRegressionList(regression),
    page: null,
    view: { damaged() {}, run: { events: {}, done() {} }, load: silentLoadEvents, again() {} },
    signal,
  });
  if (kept.kind === "interrupted") throw new NothingToJudge("Interrupted: the night is not kept in the history.", null);
  const { judgement, executed } = kept;
  return {
    id: kept.night.id,
    regressions: judgement.regressions,
    slower: judgement.slower,
    run: executed.run,
    load: executed.load,
    noLoad: executed.noLoad === null ? null : describeNotSent(executed.noLoad),
  };
}
