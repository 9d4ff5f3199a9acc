import type { Exchange } from "../../evidence/exchange.ts";
import type { Evidence } from "../../evidence/evidence.ts";
import { sanitizeLine } from "../../base/sanitize.ts";
import { joinFirst } from "../../base/text.ts";
import type { Report, ReportFinding } from "../../report/model/report.ts";
import { line } from "../../base/line.ts";
import { UsageError } from "../../base/usage-error.ts";
import { UseCaseError } from "../use-case-error.ts";

export interface ReplaySelection {
  readonly findings: readonly ReportFinding[];
  readonly exchanges: readonly Exchange[];
}

/** Maximum number of exchanges to replay. A finding in a genuine report has far fewer. */
const maxReplayedExchanges = 100;
const brokenOutcomes: readonly string[] = ["fail", "warning", "note"];

/** Selects the exchanges of a check's findings. If some findings failed, ignores all other findings. */
export function selectExchanges(
  report: Report,
  evidence: Evidence,
  check: string,
  instance: string | null,
): ReplaySelection {
  const findings = findingsOf(report, evidence, check, instance);
  const name = sanitizeLine(check, 60);
  const ids = [...new Set(findings.flatMap((finding) => finding.evidence ?? []))];
  const deliveries = evidence.deliveries.filter(({ id }) => ids.includes(id)).map(({ id }) => id);
  if (deliveries.length > 0)
    throw new UseCaseError({
      kind: "run again",
      check: name,
      what: `deliveries (${joinFirst(deliveries, 3)}), which the target sends: they cannot be sent again from here.`,
      does: "brings them about again",
    });
  const exchanges = evidence.exchanges
    .filter(({ id }) => ids.includes(id))
    .toSorted((one, other) => one.sentMs - other.sentMs);
  const missing = ids.filter((id) => !exchanges.some((each) => each.id === id));
  if (missing.length > 0)
    throw new UseCaseError({
      kind: "run again",
      check: name,
      what: `${joinFirst(
        missing.map((id) => sanitizeLine(id, 40)),
        3,
      )}, which the evidence does not hold as requests.`,
      does: "sends them again",
    });
  if (exchanges.length === 0)
    throw new UsageError(
      line`${name} (${outcomesText(findings)}) names no exchange, so there is nothing to send again. ${replayableChecksText(report, evidence)}`,
    );
  if (exchanges.length > maxReplayedExchanges)
    throw new UsageError(
      line`${name} names ${exchanges.length} exchanges; no more than ${maxReplayedExchanges} are sent again.`,
    );
  return { findings, exchanges };
}

function findingsOf(report: Report, evidence: Evidence, check: string, instance: string | null): ReportFinding[] {
  const exact = report.findings.filter((finding) => finding.check === check);
  const all = exact.length > 0 ? exact : report.findings.filter(({ clause }) => clause === check);
  if (all.length === 0)
    throw new UsageError(
      line`The report has no check ${JSON.stringify(sanitizeLine(check, 60))}. ${replayableChecksText(report, evidence)}`,
    );
  const there = all.filter((finding) => instance === null || finding.instance === instance);
  if (there.length === 0)
    throw new UsageError(line`${check} has no instance ${JSON.stringify(instance)}: ${instancesText(all)}.`);
  const broken = there.filter(({ outcome }) => brokenOutcomes.includes(outcome));
  const chosen = broken.length > 0 ? broken : there;
  if (new Set(chosen.map((finding) => finding.instance)).size > 1)
    throw new UseCaseError({ kind: "several instances", check, names: instancesText(chosen) });
  return chosen;
}

function instancesText(findings: readonly ReportFinding[]): string {
  const names = [
    ...new Set(findings.flatMap(({ instance }) => (instance === undefined ? [] : [sanitizeLine(instance, 40)]))),
  ];
  return names.length === 0 ? "it has none" : `There are ${joinFirst(names, 8)}`;
}

const outcomesText = (findings: readonly ReportFinding[]): string =>
  [...new Set(findings.map(({ outcome }) => outcome))].join(", ");

function replayableChecksText({ findings }: Report, { exchanges }: Evidence): string {
  const known = new Set(exchanges.map(({ id }) => id));
  const failed = findings.filter(
    ({ outcome, evidence = [] }) =>
      brokenOutcomes.includes(outcome) && evidence.length > 0 && evidence.every((id) => known.has(id)),
  );
  const ids = [...new Set(failed.map(({ check }) => sanitizeLine(check, 60)))];
  return ids.length === 0
    ? "No failed check of it can be sent again."
    : `Failed checks of it that can be: ${joinFirst(ids, 12)}.`;
}
