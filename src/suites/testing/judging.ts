import type { Suite } from "../../run/judge/check.ts";
import type { Finding, Observation } from "../../run/judge/finding.ts";

/** Judges test evidence by the check of a suite that has this id. Throws if there is no such check. */
export function judgeBy({ checks }: Suite, id: string, evidence: unknown): Finding | Observation {
  const found = checks.find((check) => check.id === id);
  if (found === undefined) throw new Error(`There is no check ${id}.`);
  return found.judge(evidence as never);
}
