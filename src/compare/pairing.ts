import type { ReportFinding } from "../report/report.ts";
import type { FindingName, Said } from "./comparison.ts";

/** What tells a finding from every other of its report: the check, and the instance that it speaks of. */
export const findingKey = ({ check, instance }: Pick<ReportFinding, "check" | "instance">): string =>
  JSON.stringify([check, instance ?? null]);

export interface Pairing {
  readonly pairs: readonly { readonly was: ReportFinding; readonly is: ReportFinding }[];
  readonly onlyOlder: readonly ReportFinding[];
  readonly onlyNewer: readonly ReportFinding[];
}

/** Puts findings of the same key together, in the order of the newer report; of several with one key, the first with the first. */
export function pairFindings(older: readonly ReportFinding[], newer: readonly ReportFinding[]): Pairing {
  const before = Map.groupBy(older, findingKey);
  const next = new Map<string, number>();
  const pairs: Pairing["pairs"][number][] = [];
  const onlyNewer: ReportFinding[] = [];
  const paired = new Set<ReportFinding>();
  for (const is of newer) {
    const key = findingKey(is);
    const at = next.get(key) ?? 0;
    next.set(key, at + 1);
    const was = before.get(key)?.[at];
    if (was === undefined) onlyNewer.push(is);
    else {
      pairs.push({ was, is });
      paired.add(was);
    }
  }
  return { pairs, onlyOlder: older.filter((finding) => !paired.has(finding)), onlyNewer };
}

export const nameOf = ({ check, clause, suite, level, instance }: ReportFinding): FindingName => ({
  check,
  clause,
  suite,
  level,
  instance: instance ?? null,
});

/** Fields of a row that are what was said, and not which finding it is. */
const saidFields = ["outcome", "reading", "expected", "actual", "reason", "needs", "evidence"] as const;

export function saidOf(finding: ReportFinding): Said {
  const said: Partial<Record<keyof Said, unknown>> = {};
  for (const field of saidFields) if (finding[field] !== undefined) said[field] = finding[field];
  return said as unknown as Said;
}
