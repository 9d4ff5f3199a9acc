import type { HarnessLimit } from "../../base/harness-limit.ts";
import type { Judgement } from "./judge.ts";

/**
 * The judgements of a run that met a limit of the harness or its machine. None of them is a breach, because the limit may have caused it. At least
 * one check has the limit as its error.
 */
export function withoutVerdict(judgements: readonly Judgement[], limit: HarnessLimit): Judgement[] {
  const failed = (judgement: Judgement): Judgement => ({
    ...judgement,
    finding: { kind: "error", reason: limit.message },
    exchanges: [],
  });
  const harmless = judgements.map((each) => (each.finding.kind === "breach" ? failed(each) : each));
  const [first, ...others] = harmless;
  const hasError = harmless.some(({ finding }) => finding.kind === "error" && finding.reason === limit.message);
  return first === undefined || hasError ? harmless : [failed(first), ...others];
}
