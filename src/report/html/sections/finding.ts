import { clauseOf, isClauseId } from "../../../spec/clauses.ts";
import { sanitizeLine } from "../../../base/sanitize.ts";
import type { ReportFinding } from "../../model/report.ts";
import { formatCoverage, formatUncovered } from "../../model/coverage-text.ts";
import { clauseAnchor, findingAnchor, runAnchor } from "../anchors.ts";
import { badge, longText, prose } from "../elements.ts";
import { type Html, html } from "../markup.ts";
import { proofPart } from "./evidence.ts";
import type { View } from "../page-context.ts";

/** One finding: a line that says it all, and behind it what was expected, what came, what shows it, and how to see it again. */
export function findingPart(finding: ReportFinding, view: View): Html {
  const { outcome, level, clause, check, instance, suite } = finding;
  const anchor = view.anchors.get(finding) ?? findingAnchor(finding);
  const which = [
    ...(check.startsWith(`${clause}/`) ? [check.slice(clause.length + 1)] : []),
    ...(instance === undefined ? [] : [instance]),
  ];
  return html`<details
    class="finding ${outcome}"
    id="${anchor}"
    data-outcome="${outcome}"
    data-level="${level}"
    data-section="${sanitizeLine(suite, 120)}"
  >
    <summary>
      <span class="row"
        >${badge(outcome)} <span class="clause">${sanitizeLine(clause, 80)}</span>
        <span class="says"
          >${saysOf(finding)}
          ${which.map((each) => html`<span class="instance">${sanitizeLine(each, 80)}</span> `)}</span
        ></span
      >
    </summary>
    <div class="body">
      ${factsPart(finding, view)} ${witnessPart(finding)} ${proofPart(finding, view)}
      <p class="small links">
        <a href="#${anchor}">Link to this finding</a>
        <button type="button" class="copy" data-copies="link" hidden>Copy the link</button>
      </p>
    </div>
  </details>`;
}

/** The clause's sentence; of a demand of load alone, what it expects. */
function saysOf({ clause, expected = "", reason = "" }: ReportFinding): Html {
  return prose(isClauseId(clause) ? clauseOf(clause).says : expected === "" ? reason : expected, 400);
}

function factsPart(finding: ReportFinding, view: View): Html {
  const { clause, level, reading, expected, actual, reason, needs, seen } = finding;
  const unseen = seen === undefined ? "" : formatUncovered(seen);
  const known = isClauseId(clause) ? clauseOf(clause) : null;
  const facts: readonly (readonly [string, Html | string] | null)[] = [
    expected === undefined ? null : ["Expected", longText(expected)],
    actual === undefined ? null : ["Actual", longText(actual)],
    reason === undefined ? null : [reasonWord(finding), longText(reason)],
    needs === undefined ? null : ["Would enable it", prose(needs, 1000)],
    seen === undefined ? null : ["Seen", prose(formatCoverage(seen), 1000)],
    unseen === "" ? null : ["Not seen", prose(unseen, 2000)],
    reading === undefined ? null : ["Reading followed", prose(readingText(reading, known?.readings))],
    [
      "Clause",
      known === null
        ? "no clause states it; a load scenario demands it"
        : html`<a href="#${clauseAnchor(clause)}">${clause}</a> · ${level} · ${known.section}`,
    ],
    ...runFacts(finding, view),
  ];
  return html`<dl class="facts">
    ${facts.map(
      (fact) =>
        fact &&
        html`<div>
          <dt>${fact[0]}</dt>
          <dd>${fact[1]}</dd>
        </div>`,
    )}
  </dl>`;
}

/** The load runs that a finding speaks of, with their charts. */
const runFacts = ({ evidence = [] }: ReportFinding, { report }: View): (readonly [string, Html])[] =>
  (report.load?.runs ?? [])
    .filter((run) => evidence.includes(run.evidence))
    .map((run) => [
      "Load run",
      html`<a href="#${runAnchor(run.evidence)}">${sanitizeLine(run.title, 160)}</a>, evidence in
        <code>${sanitizeLine(run.evidence, 160)}</code>`,
    ]);

const readingText = (reading: string, readings: Readonly<Record<string, string>> = {}): string =>
  Object.hasOwn(readings, reading) ? `\`${reading}\`: ${readings[reading] ?? ""}` : `\`${reading}\``;

const reasonWord = ({ outcome }: ReportFinding): string => reasonWords[outcome] ?? "Seen";

const reasonWords: Readonly<Partial<Record<ReportFinding["outcome"], string>>> = {
  observed: "Observed",
  skipped: "Why it was skipped",
  error: "How the harness failed",
};

const mostLines = 40;

function witnessPart({ witness = [] }: ReportFinding): Html | null {
  if (witness.length === 0) return null;
  const shown = witness.length > mostLines ? [...witness.slice(0, mostLines - 5), "…", ...witness.slice(-4)] : witness;
  return html`<h4>Witness: the smallest part that proves it, ${witness.length} lines</h4>
    <pre tabindex="0" role="group" aria-label="Witness">
${shown.map((line) => sanitizeLine(line, 300)).join("\n")}</pre>`;
}
