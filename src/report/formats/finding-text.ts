import { clauseOf, isClauseId } from "../../spec/clauses.ts";
import type { ReportDocument, ReportFinding } from "../model/report.ts";
import { findingLines, type FailureView, evidenceLines } from "../terminal/failures.ts";
import { sanitizeLine } from "../../base/sanitize.ts";
import { shellVariableOfKey } from "../reproduce/key-variable.ts";
import { paintFor } from "../../base/paint.ts";
import { trialInstance, formatScenarioTrials } from "../model/trial-id.ts";
import type { FindingTrial } from "../model/load-results.ts";
import { shellQuote } from "../../base/shell-words.ts";

/** What a finding's text is made of: the evidence of its report. */
export type FindingView = FailureView;

export const findingViewOf = ({ report, evidence }: ReportDocument): FindingView => ({
  exchanges: new Map((evidence?.exchanges ?? []).map((each) => [each.id, each])),
  deliveries: new Map((evidence?.deliveries ?? []).map((each) => [each.id, each])),
  width: Number.POSITIVE_INFINITY,
  paint: paintFor(false),
  variableOf: shellVariableOfKey,
  evidenceFile: "evidence.json",
  way: report.target.way,
});

/** `INV-10`, and of what has rows for several tiers `INV-10 (pro)`: what a check is called wherever it is counted. */
export const findingName = ({ check, instance }: ReportFinding): string =>
  sanitizeLine(instance === undefined ? check : `${check} (${instance})`, 120);

/** The clause's sentence; empty where no clause says it, as of what only a load scenario demands. */
export const sentenceOf = ({ clause }: ReportFinding): string => (isClauseId(clause) ? clauseOf(clause).says : "");

/** What was expected and what came, on one line. */
export function breachLine({ expected = "", actual, reason }: ReportFinding, most = 200): string {
  return `expected ${sanitizeLine(expected, most)}; got ${sanitizeLine(actual ?? reason ?? "", most)}`;
}

/** Why it was skipped, and what would enable it, on one line. */
export function skipLine({ reason = "", needs }: ReportFinding, most = 300): string {
  const why = sanitizeLine(reason, most);
  return needs === undefined ? why : `${why}${why === "" ? "" : "; "}enabled by ${sanitizeLine(needs, most)}`;
}

const mostWitnesses = 12;

/**
 * All that a person needs of a breach, as lines of plain text without what could hide in it: expected, actual, tier, and what proves it.
 */
export function breachLines(finding: ReportFinding, view: FindingView): string[] {
  const said = findingLines({ finding, instances: finding.load !== undefined ? [] : instancesOf(finding) }, view);
  return [...said.map(outdented), ...proofLines(finding, view)];
}

/**
 * What proves a breach: the witness where it was found under load, the exchange or delivery as it went over the wire, and commands that show
 * it again. Empty where the evidence does not stand beside the report.
 */
export function proofLines(finding: ReportFinding, view: FindingView): string[] {
  const proof = evidenceLines(finding.clause, { finding, instances: instancesOf(finding) }, view, new Map());
  return [...witnessLines(finding), ...proof.map(outdented), ...loadLines(finding)];
}

const instancesOf = ({ instance }: ReportFinding): string[] => (instance === undefined ? [] : [sanitizeLine(instance)]);

const outdented = (line: string): string => line.replace(/^ {6}/, "");

function witnessLines({ witness = [] }: ReportFinding): string[] {
  if (witness.length === 0) return [];
  const left = witness.length - mostWitnesses;
  return [
    "witness, the smallest part of the load that proves it:",
    ...witness.slice(0, mostWitnesses).map((line) => `  ${sanitizeLine(line, 200)}`),
    ...(left > 0 ? [`  … ${left} more in report.json`] : []),
  ];
}

/** Under load: where all requests are, and the command that sends them again. */
function loadLines({ load, evidence = [] }: ReportFinding): string[] {
  if (load === undefined) return [];
  return [
    `under     ${sanitizeLine(formatScenarioTrials(load.scenario, [trialInstance(load)]))}`,
    ...evidence.map((file) => `all of it  ${sanitizeLine(file)}`),
    "to run it again",
    `  ${loadCommand(load)}`,
  ];
}

/** The command that sends the load again that a row speaks of. */
export function loadCommand({ scenario, tier, engine }: FindingTrial): string {
  const quoted = (text: string): string => shellQuote(sanitizeLine(text));
  return `conformance load ${quoted(scenario)} --tier ${quoted(tier)} --engine ${quoted(engine)}`;
}

/** What a format that counts tests calls the one that fails where nothing could be asked of the target. */
export const targetSuite = "Target";
export const targetCase = "the target can be judged";
