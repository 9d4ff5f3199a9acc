import type { HarnessLimit } from "../base/harness-limit.ts";
import type { Judgement } from "./judge/judge.ts";
import type { RunResult } from "./run.ts";

/**
 * The result of a run that met a limit of the harness or its machine. Nothing in it is broken: what looks so may be due to the limit. At least one
 * check has the limit as its error.
 */
export function withoutVerdict(result: RunResult, limit: HarnessLimit): RunResult {
  const failed = (judgement: Judgement): Judgement => ({
    ...judgement,
    finding: { kind: "error", reason: limit.message },
    exchanges: [],
  });
  const judgements = result.judgements.map((each) => (each.finding.kind === "breach" ? failed(each) : each));
  const [first, ...others] = judgements;
  const hasError = first === undefined || judgements.some(({ finding }) => finding.kind === "error");
  return {
    ...result,
    kind: "judged",
    stopped: limit.message,
    judgements: hasError ? judgements : [failed(first), ...others],
  };
}
