import { flakyOf, type NightJudgement } from "./gate/judge-night.ts";
import { isBroken } from "./gate/flaky.ts";
import { type Night, type NightLoad, whyNoCounts, whyNoTimes } from "./night.ts";
import type { DamagedNight } from "./store.ts";
import { isWorse } from "./summary.ts";

/** A night against its history for machines. Ends with a line feed. */
export function nightJson(
  { comparison, ...judgement }: NightJudgement,
  { findings, load, second, stopped, ...night }: Night,
  damaged: readonly DamagedNight[],
): string {
  const document = {
    format: "agent-hosting-conformance/nightly/1",
    isWorse: isWorse({ comparison, ...judgement }),
    ...judgement,
    regressions: judgement.regressions.map((each) => ({ ...each, isFlaky: flakyOf(each, judgement.flaky) !== null })),
    night: {
      ...night,
      stopped: stopped ?? null,
      load: load.map(shownLoad),
      second: second.map(shownLoad),
      broken: findings.filter(({ outcome }) => isBroken(outcome)).map((each) => ({ ...each, says: each.actual })),
    },
    comparedWith: comparison === null ? null : comparison.older.started,
    fixed: comparison?.fixed ?? [],
    damaged,
  };
  return `${JSON.stringify(document, null, 2)}\n`;
}

const shownLoad = (run: NightLoad) => ({ ...run, validity: { counts: whyNoCounts(run), times: whyNoTimes(run) } });
