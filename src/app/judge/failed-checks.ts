import { line, UsageError } from "../../base/line.ts";
import type { Evidence } from "../../evidence/evidence.ts";
import { isBroken, type ReportFinding } from "../../report/model/finding.ts";
import { partyOf, type ReportDocument } from "../../report/model/report.ts";
import { type Check, probesOf, type Suite } from "../../run/judge/check.ts";
import { isDelivery, isExchange } from "../../run/judge/judge-evidence.ts";
import type { Probe } from "../../run/probe.ts";

export interface FailedChecks {
  /** Ids of the failed checks and of checks in their `widens`. For a check that no longer exists: its clause's id. */
  readonly only: readonly string[];
  /** All suites. If evidence was saved, a failed check's `companions` include the probes that recorded its failure. */
  readonly suites: readonly Suite[];
  readonly coverageSeed?: number;
}

const isFailed = (finding: ReportFinding): boolean => isBroken(finding) || finding.outcome === "error";

export const hasFailed = ({ report }: ReportDocument): boolean => report.findings.some(isFailed);

/**
 * Returns the checks of a report that found a breach or ended with an error. Throws if no check failed, or if the
 * report is not about a run against a server.
 */
export function failedChecks(
  { report, evidence }: ReportDocument,
  suites: readonly Suite[],
  file: string,
): FailedChecks {
  if (report.load !== undefined || report.recording !== undefined || partyOf(report) !== "server")
    throw new UsageError(line`${file} is not the report of a run against a server, so no run can repeat it.`);
  const failed = report.findings.filter(isFailed);
  if (failed.length === 0)
    throw new UsageError(line`Nothing failed in ${file}, so there is nothing to repeat. A whole run judges the rest.`);
  const known = new Map(suites.flatMap(({ checks }) => checks.map((check) => [check.id, check])));
  const seed = report.pairs?.seed;
  return {
    only: [...new Set(failed.flatMap(({ check, clause }) => withRepeated(known.get(check)) ?? [clause]))],
    suites: evidence === null ? suites : withRecorders(suites, failed, evidence),
    ...(seed !== undefined && { coverageSeed: seed }),
  };
}

const withRepeated = (check: Check | undefined): string[] | undefined =>
  check && [check.id, ...(withRepeated(check.widens) ?? [])];

function withRecorders(suites: readonly Suite[], failed: readonly ReportFinding[], evidence: Evidence): Suite[] {
  const findings = Map.groupBy(failed, ({ check }) => check);
  const recorders = recordersById(suites, evidence);
  const completed = (check: Check): Check => {
    const ids = (findings.get(check.id) ?? []).flatMap(({ evidence: own = [] }) => own);
    const added = ids.flatMap((id) => recorders.get(id) ?? []);
    return added.length === 0 ? check : { ...check, companions: [...new Set([...(check.companions ?? []), ...added])] };
  };
  return suites.map(({ title, checks }) => ({ title, checks: checks.map(completed) }));
}

function recordersById(suites: readonly Suite[], { probes }: Evidence): ReadonlyMap<string, readonly Probe[]> {
  const checks = suites.flatMap((suite) => suite.checks);
  const sending = checks.flatMap(probesOfCheck).filter(({ stage }) => stage !== "review");
  const byName = new Map(sending.map((probe) => [probe.name, probe]));
  const recorders = new Map<string, Probe[]>();
  for (const { probe: name, result } of probes) {
    const probe = byName.get(name);
    if (probe !== undefined && result.kind === "ran")
      for (const id of idsIn(result.evidence)) recorders.set(id, [...(recorders.get(id) ?? []), probe]);
  }
  return recorders;
}

const probesOfCheck = ({ on, also, companions = [] }: Check): Probe[] => [
  ...Object.values(probesOf(on)),
  ...also,
  ...companions,
];

function idsIn(value: unknown, found = new Set<string>()): ReadonlySet<string> {
  if (typeof value !== "object" || value === null) return found;
  if (isExchange(value) || isDelivery(value)) found.add(value.id);
  else for (const each of Object.values(value)) idsIn(each, found);
  return found;
}
