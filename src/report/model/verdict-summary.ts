import { causesToFix } from "./broken-clauses.ts";
import { clausesOf, clauseNames } from "./finding-text.ts";
import { newestRequirementsFor } from "./requirements.ts";
import { formatDuration } from "../../base/duration.ts";
import { formatCount } from "../../base/text.ts";
import { partyOf, type Report } from "./report.ts";
import { joinTexts, outside, outsideProse, own, type Text, text } from "./section.ts";
import { profilesLeftOut } from "./profiles.ts";
import { unexercisedNamedFindings, unexercisedOfferedMusts, whyNothingJudged, failedClauses } from "./verdict.ts";

/** Returns the name of a report's verdict, such as `conformant`; for a load report, `conformant under load`. */
export const verdictName = ({ verdict, load }: Report): string =>
  load === undefined || verdict === "unreachable" ? verdict : `${verdict} under load`;

export function verdictReasons(report: Report): Text {
  const { totals, verdict, load, requests, durationMs, executions, waitedMs, trouble } = report;
  if (verdict === "unreachable") return outsideProse(report.stopped ?? "", 600);
  const invalid = (load?.runs ?? []).filter(({ validity }) => validity.invalid !== null).length;
  const ofLoad = load !== undefined;
  const { requirements } = report.suite;
  const bySet =
    requirements === newestRequirementsFor(report)
      ? []
      : [text`judged by requirement set ${outside(requirements, 40)}`];
  const costs = [
    ...countPhrase(totals.error, "the harness itself failed at ", ofLoad ? "run" : "check"),
    ...countPhrase(invalid, "", "invalid run"),
    ...countPhrase(totals.warning, "", "warning"),
    ...countPhrase(totals.note, "", "note"),
    ...countPhrase(ofLoad ? 0 : totals.observed, "", "gap observation"),
    ...(ofLoad ? [formatCount(load.runs.length, "load run")] : []),
    ...(partyOf(report) === "file" && requests === 0
      ? []
      : [`${formatCount(requests, "request")} in ${formatDuration(durationMs)}`]),
    ...(executions === undefined ? [] : [formatCount(executions, "agent execution")]),
    ...lostRequestTexts(report),
    ...(trouble === undefined ? [] : [`trouble by seed ${trouble.seed}`]),
    ...(waitedMs >= 1000 ? [`${formatDuration(waitedMs)} of it waiting`] : []),
  ];
  return joinTexts([
    ...verdictBasis(report),
    ...bySet,
    ...unexercisedNamedTexts(report),
    ...unmetDemandTexts(report),
    ...costs.map(own),
    ...targetAwayTexts(report),
  ]);
}

const countPhrase = (count: number, before: string, noun: string): string[] =>
  count === 0 ? [] : [`${before}${formatCount(count, noun)}`];

export const lostRequestTexts = ({ lost = 0 }: Pick<Report, "lost">): string[] =>
  lost === 0 ? [] : [`${formatCount(lost, "request")} lost on the network and sent again`];

const targetAwayTexts = ({ away, stopped }: Report): Text[] =>
  away === undefined || away === stopped ? [] : [outsideProse(away, 400)];

function verdictBasis(report: Report): Text[] {
  const { findings, totals, verdict, unselected, stopped = "" } = report;
  const passedClauses = clausesOf(findings.filter(({ outcome }) => outcome === "pass")).length;
  const passed = own(`${formatCount(totals.pass, "check")} of ${formatCount(passedClauses, "clause")} passed`);
  const early = text`stopped early (${outsideProse(stopped, 160)})`;
  switch (verdict) {
    case "conformant":
      return [passed];
    case "nonconformant": {
      const broken = failedClauses(findings.filter(({ level }) => level !== "load"));
      const causes = causesToFix(report).length;
      const by = causes > 0 && causes < broken.length ? ` by ${formatCount(causes, "cause")}` : "";
      const named = text`${own(formatCount(broken.length, "must clause"))} broken${own(by)} (${clauseNames(broken, 5)})`;
      return [named, ...(stopped === "" ? [] : [early]), passed];
    }
    case "partial": {
      if (totals.pass + totals.observed + totals.warning + totals.note === 0) return [own("nothing was exercised")];
      const left = unexercisedOfferedMusts(report);
      const without = profilesLeftOutTexts(report);
      if (left.length === 0) return [own("nothing broken"), ...without, passed];
      const unselectedCount = left.filter((clause) => unselected.includes(clause)).length;
      const which = unselectedCount > 0 ? own(`${unselectedCount} not selected`) : clauseNames(left, 3);
      const musts = own(formatCount(left.length, "must clause"));
      return [text`nothing broken, but ${musts} not exercised (${which})`, ...without, passed];
    }
    case "incomplete":
      return whyNothingJudged(report) === null
        ? [early, own("nothing broken by then"), passed]
        : [early, own("nothing was judged")];
    case "unreachable":
      return [];
  }
}

const profilesLeftOutTexts = (report: Report): Text[] =>
  (["not offered", "not selected"] as const).flatMap((why) => {
    const names = profilesLeftOut(report, why);
    return names.length === 0 ? [] : [own(`${why}: ${names.join(", ")}`)];
  });

function unexercisedNamedTexts(report: Report): Text[] {
  const findings = unexercisedNamedFindings(report);
  const [first] = findings;
  if (first === undefined) return [];
  return [
    text`named but not exercised: ${clauseNames(clausesOf(findings), 5)} (${outsideProse(first.reason ?? "no reason known", 160)})`,
  ];
}

/** Names the rules of load scenarios that were not met. Such a rule fails the run, although no clause is broken. */
function unmetDemandTexts({ findings }: Report): Text[] {
  const unmet = failedClauses(findings.filter(({ level }) => level === "load"));
  if (unmet.length === 0) return [];
  return [text`${own(formatCount(unmet.length, "load demand"))} not met (${clauseNames(unmet, 3)})`];
}
