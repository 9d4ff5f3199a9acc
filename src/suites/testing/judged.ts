import type { Suite } from "../../run/check.ts";

/** What a check of a suite says of evidence made by hand: the reading that is followed, or the kind of its finding. */
export function judged(suite: Suite, id: string, evidence: unknown): string {
  const check = suite.checks.find((each) => each.id === id);
  if (check === undefined) throw new Error(`the suite "${suite.title}" has no check ${id}`);
  const finding = check.judge(evidence as never);
  return finding.kind === "follows" ? finding.reading : finding.kind;
}
