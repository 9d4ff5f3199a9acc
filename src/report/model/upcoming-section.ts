import { formatCount } from "../../base/text.ts";
import { breachText } from "./broken-clauses.ts";
import { isBroken, outcomes, type Report, type ReportFinding } from "./report.ts";
import { sinceOf } from "./requirements.ts";
import type { LabelledValue, Section } from "./section.ts";
import { outside, outsideProse, own, text } from "./text.ts";

/**
 * Builds the section on checks that only a later requirement set has: their number, and the findings that would be broken. They do not
 * count for the verdict.
 */
export function upcomingSection({ suite, upcoming }: Pick<Report, "suite" | "upcoming">): Section {
  const counts = outcomes.flatMap((outcome) => {
    const count = upcoming.filter((each) => each.outcome === outcome).length;
    return count === 0 ? [] : [`${count} ${outcome}`];
  });
  const summary: LabelledValue = {
    label: own("Upcoming"),
    value: text`${own(formatCount(upcoming.length, "check"))} not in requirement set ${outside(suite.requirements, 40)}, so not counted: ${own(counts.join(", "))}`,
  };
  const broken = upcoming.filter(isBrokenOrError).map((finding): LabelledValue => ({
    label: text`${outside(upcomingName(finding), 100)} ${own(finding.outcome)}`,
    value: text`counts from requirement set ${outside(sinceOf(finding), 40)}; ${finding.outcome === "error" ? outsideProse(finding.reason ?? "") : breachText(finding)}`,
  }));
  return {
    name: "upcoming",
    title: "Upcoming",
    blocks: upcoming.length === 0 ? [] : [{ kind: "facts", facts: [summary, ...broken] }],
  };
}

const upcomingName = ({ check, instance }: ReportFinding): string =>
  instance === undefined ? check : `${check} (${instance})`;

/** Whether a finding is broken, or the harness failed at its check. */
export const isBrokenOrError = (finding: ReportFinding): boolean => isBroken(finding) || finding.outcome === "error";
