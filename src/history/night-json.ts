import { flakyOf, type Judgement } from "./gate/judge-night.ts";
import type { Night } from "./night.ts";
import type { DamagedNight } from "./store.ts";
import { isWorse } from "./summary.ts";

/** A night against its history for machines. Ends with a line feed. */
export function nightJson(
  { comparison, ...judgement }: Judgement,
  { findings, ...night }: Night,
  damaged: readonly DamagedNight[],
): string {
  const broken = findings.filter(({ outcome }) => outcome === "fail" || outcome === "warning" || outcome === "note");
  const document = {
    format: "agent-hosting-conformance/nightly/1",
    isWorse: isWorse({ comparison, ...judgement }),
    ...judgement,
    regressions: judgement.regressions.map((each) => ({ ...each, isFlaky: flakyOf(each, judgement.flaky) !== null })),
    night: { ...night, broken },
    comparedWith: comparison === null ? null : comparison.older.started,
    fixed: comparison?.fixed ?? [],
    damaged,
  };
  return `${JSON.stringify(document, null, 2)}\n`;
}
