import { findEngines } from "../app/load/engines.ts";
import { silentLoadEvents } from "../app/load/send-load.ts";
import { defaultLoadParameters } from "../app/load/load-parameters.ts";
import { describeNotSent } from "../app/load/not-sent-reason.ts";
import { runNight } from "../app/nightly/run-night.ts";
import type { Regression } from "../report/compare/comparison.ts";
import type { ReportedLatencyShift } from "../report/history/night.ts";
import type { ReportDocument } from "../report/model/report.ts";
import { type LoadChoice, toLoadParameters } from "./load.ts";
import { NothingToJudge } from "./errors.ts";
import { readRules } from "./reports.ts";
import { type JudgeScope, scopeOf } from "./scope.ts";
import { resolveTarget, type TargetDescription } from "./target.ts";

/** What a night does; everything has a default. */
export interface NightOptions extends JudgeScope {
  /** Load that is sent after the run. Default: none. */
  readonly load?: LoadChoice;
  /** What counts as worse, as {@link compare} takes it. Default `default`. */
  readonly regression?: string;
  /** How many nights the history keeps. Default 400. */
  readonly nights?: number;
  /** Of how many of them the full reports. Default 30. */
  readonly reports?: number;
  /** Ends the night, which is then not kept. */
  readonly signal?: AbortSignal;
}

/** What a night came to against the nights before. Keys are redacted in all of it. */
export interface JudgedNight {
  /** Name of its entry in the history. */
  readonly id: string;
  /** Findings and counts that became worse. */
  readonly regressions: readonly Regression[];
  /** Load that became slower: a second run has confirmed it, and it was not reported before. */
  readonly slower: readonly ReportedLatencyShift[];
  /** `null` where nothing could be judged. */
  readonly run: ReportDocument | null;
  /** `null` where none was sent. */
  readonly load: ReportDocument | null;
  /** Why no load was sent though it was wanted, in one sentence. */
  readonly noLoad: string | null;
}

/**
 * Judges a target, compares it with the nights before, and keeps the night, its reports and the trend page, as `conformance nightly` does.
 *
 * @param history folder, made where it is missing; each target has its own
 * @throws {UsageProblem} where the target or an option cannot be used, or the history is another target's; nothing was sent then.
 * @throws {NothingToJudge} where the signal came: the night is not kept.
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
    rules: readRules(regression),
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
