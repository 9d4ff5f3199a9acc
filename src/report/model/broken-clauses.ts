import { clauseOf, isClauseId } from "../../spec/clauses.ts";
import type { Outcome, Report, ReportFinding } from "./report.ts";
import type { LabelledValue } from "./section.ts";
import { joinTexts, outside, outsideProse, own, type Text, text } from "./text.ts";
import { formatCoverage } from "./coverage.ts";
import { formatScenarioTrials } from "./trial-id.ts";

/** Findings of one check with the same result. They differ only in the instance: a tier or a load trial. */
export interface DistinctFinding {
  readonly finding: ReportFinding;
  readonly instances: readonly string[];
}

/** The findings of a clause that have the same outcome. */
export interface ClauseGroup {
  readonly clause: string;
  readonly level: string;
  /** Section of the document that contains the clause. Empty for a load scenario's own demand, which the document does not state. */
  readonly section: string;
  /** The document's sentence. Empty for a load scenario's own demand, which the document does not state. */
  readonly says: string;
  readonly distinctFindings: readonly [DistinctFinding, ...DistinctFinding[]];
  readonly findingCount: number;
}

/** Groups the findings with this outcome by clause, in the order of the report. */
export function groupByClause(findings: readonly ReportFinding[], outcome: Outcome): ClauseGroup[] {
  const byClause = Map.groupBy(
    findings.filter((finding) => finding.outcome === outcome),
    ({ clause }) => clause,
  );
  return [...byClause].flatMap(([clause, members]) => {
    const [first, ...rest] = distinctFindingsOf(members);
    if (first === undefined) return [];
    const { section = "", says = "" } = isClauseId(clause) ? clauseOf(clause) : {};
    const { level } = first.finding;
    return { clause, level, section, says, distinctFindings: [first, ...rest], findingCount: members.length };
  });
}

function distinctFindingsOf(findings: readonly ReportFinding[]): DistinctFinding[] {
  const alike = Map.groupBy(findings, ({ check, expected, actual, reason, where }) =>
    JSON.stringify([check, expected, actual, reason, where]),
  );
  return [...alike.values()].flatMap((members) => {
    const [finding] = members;
    const instances = members.flatMap(({ instance }) => instance ?? []);
    return finding === undefined ? [] : [{ finding, instances }];
  });
}

/** Outcomes of a broken clause, worst first. */
export const brokenOutcomes = ["fail", "warning", "note"] as const satisfies readonly Outcome[];

const levelOrder = ["must", "load", "should", "advisory"] as const;

/** A broken clause, and the outcome of its findings. */
export interface BrokenClause {
  readonly outcome: (typeof brokenOutcomes)[number];
  readonly group: ClauseGroup;
}

/** Returns the broken clauses, most important first: sorted by outcome, then by level, then by the number of findings. */
export const brokenClauses = ({ findings }: Pick<Report, "findings">): BrokenClause[] =>
  brokenOutcomes.flatMap((outcome) =>
    groupByClause(findings, outcome)
      .toSorted((one, other) => levelRank(one) - levelRank(other) || other.findingCount - one.findingCount)
      .map((group) => ({ outcome, group })),
  );

const levelRank = ({ level }: ClauseGroup): number => levelOrder.findIndex((each) => each === level);

/** Formats what was expected and what happened in one sentence, for a broken finding. Adds the place in a file, if there is one. */
export function breachText({ expected = "", actual, reason = "", where }: ReportFinding, max = 160): Text {
  const breach = text`expected ${outsideProse(expected, max)}; ${outsideProse(happened(actual ?? reason), max)}`;
  return where === undefined ? breach : text`${breach}, at ${outside(formatPlace(where), 300)}`;
}

/**
 * Says what happened so that it reads on after "expected …;". A share, such as "on 9 of 12 responses: …", stands without "got", which would
 * read as if these were the good ones.
 */
function happened(actual: string): string {
  const missing = /^(on \d+ of \d+ [a-z]+): missing: (.*)$/s.exec(actual);
  if (missing !== null) return `${missing[1]}, ${missing[2]} missing`;
  return /^on \d+ of \d+ /.test(actual) ? actual : `got ${actual}`;
}

/** Formats a place in a file as editors and compilers do: `weather.json:3:11`. */
const formatPlace = ({ file, line, column }: NonNullable<ReportFinding["where"]>): string =>
  `${file}:${line}:${column}`;

/**
 * Returns the facts of a finding, each with a label: expected, actual, place in a file, coverage, and tiers or load trials. Leaves out
 * facts that the finding does not have.
 */
export function findingFacts({ finding, instances }: DistinctFinding): LabelledValue[] {
  const { expected = "", actual, reason = "", seen, load, where } = finding;
  return [
    { label: own("expected"), value: outside(expected, 600) },
    { label: own("actual"), value: outside(actual ?? reason, 600) },
    ...(where === undefined ? [] : [{ label: own("where"), value: outside(formatPlace(where), 600) }]),
    ...(seen === undefined || seen.looked < 2
      ? []
      : [{ label: own("coverage"), value: outsideProse(formatCoverage(seen), 600) }]),
    ...instanceFacts(instances, load),
  ];
}

function instanceFacts(instances: readonly string[], load: ReportFinding["load"]): LabelledValue[] {
  if (load !== undefined)
    return [{ label: own("under"), value: outside(formatScenarioTrials(load.scenario, instances), 600) }];
  if (instances.length === 0) return [];
  const tiers = instances.map((instance) => outside(instance, 40));
  return [{ label: own("with"), value: text`${own(instances.length === 1 ? "tier" : "tiers")} ${joinTexts(tiers)}` }];
}

/** Sentences on why a broken clause matters to a client, by the prefix of the clause's id. */
const impactsByPrefix: ReadonlyMap<string, string> = new Map(
  Object.entries({
    SVC: "Clients reach every endpoint through the base address. If it differs, nothing else works.",
    CFG: "The service reads an agent from this file. A wrong field stops the deployment or is ignored.",
    REQ: "Every client library builds its requests by these rules, so every client is affected.",
    AUTH: "Keys alone decide who is let in, and what a refused client is told.",
    KEY: "Customers hand out restricted keys and trust that these cannot do more.",
    ERR: "Clients decide by status, code and body whether to retry, to repair the request or to give up.",
    INV: "Every client calls invoke, and its response is parsed by code, not read by people.",
    SSE: "Stream readers act on each event as it comes. A missing or malformed event hangs or breaks them.",
    HLT: "Monitors and load balancers take agents in and out of service by this response.",
    LST: "Clients page through agents by these numbers. Wrong numbers make them miss agents or see them twice.",
    USE: "Customers control their spending by this report.",
    WHK: "Without a working webhook a customer does not learn what its agents did.",
    HOOK: "Receivers drop, duplicate or distrust deliveries that are not as published.",
    ALR: "An alert that does not fire is noticed only when the limit is hit.",
    OPS: "Clients poll long-running work by this handle and have no other way to its result.",
    BAT: "Clients that submit in batches depend on this form.",
    HDR: "Clients pace themselves by these headers. Wrong headers make them send too much or wait for nothing.",
    LIM: "Customers pay for this allowance, and it protects other customers.",
    VER: "The version tells clients what they talk to.",
    OTH: "Clients that use this endpoint are affected.",
  }),
);

/** Returns a sentence on why a failure of the finding's clause matters to a client. */
export function clauseImpact({ clause, level }: Pick<ReportFinding, "clause" | "level">): string {
  if (level === "load") return "The document does not state it, but clients need it from a service under load.";
  return impactsByPrefix.get(clause.replace(/-.*/, "")) ?? "Clients are written against this sentence of the document.";
}
