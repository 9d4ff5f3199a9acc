import { type Judgement, judgeEvidence, resultsByProbe } from "./judge/judge-evidence.ts";
import { probesOf, type Suite, filterChecks } from "./judge/check.ts";
import type { ProbeRun } from "./probe-run.ts";

/**
 * Judges the checks of a probe that has just ended, and returns the first breach that counts. Returns `null` if there
 * is none. Leaves out checks that judge what happens after their probe, such as retries. Checks of which a probe has not
 * run yet find nothing.
 *
 * @param done the probes that have ended, the last one included
 */
export function breachShownBy(
  { planned: { probe: ended } }: ProbeRun,
  done: readonly ProbeRun[],
  { suites, stopsAt }: { readonly suites: readonly Suite[]; readonly stopsAt: (judgement: Judgement) => boolean },
): Judgement | null {
  if (ended.stage === "review") return null;
  const concerned = filterChecks(suites, ({ on }) => {
    const probes = Object.values(probesOf(on));
    return probes.includes(ended) && !probes.some((each) => each.per === "target" && each.isJudgedLater === true);
  });
  const judgements = judgeEvidence(concerned, resultsByProbe(done));
  return judgements.find((each) => each.finding.kind === "breach" && stopsAt(each)) ?? null;
}
