import { clauseSentence } from "../../model/finding-text.ts";
import { sanitizeLine } from "../../../base/sanitize.ts";
import { formatCount } from "../../../base/text.ts";
import { type ClauseId, clauseOf, clausesOfParty, isClauseId } from "../../../spec/clauses.ts";
import { formatCoverage, formatUncovered } from "../../model/coverage.ts";
import { type Outcome, outcomes, type ReportFinding } from "../../model/finding.ts";
import { partyOf, type Report } from "../../model/report.ts";
import { outcomesWorstFirst } from "../../model/verdict.ts";
import {
  type AnchorOf,
  clauseAnchor,
  definitionList,
  multilineText,
  outcomeBadge,
  pageSection,
  prose,
  renderTable,
  runAnchor,
} from "../elements.ts";
import { type Html, html, type HtmlContent } from "../markup.ts";
import { evidenceSection, type PageContext } from "./evidence.ts";

export function findingsSection(context: PageContext): Html {
  const { findings } = context.report;
  const suites = [...Map.groupBy(findings, ({ suite }) => suite)];
  return pageSection("findings", "Findings", [
    filterControls(
      context.report,
      suites.map(([suite]) => suite),
    ),
    html`<p id="matches" role="status" aria-live="polite" class="muted">${formatCount(findings.length, "finding")}</p>`,
    suites.map(([suite, members]) => suiteSection(suite, members, context)),
  ]);
}

function filterControls({ totals, findings }: Report, suites: readonly string[]): Html {
  const levels = [...new Set(findings.map(({ level }) => level))];
  return html`<div class="controls" id="controls" role="search" aria-label="Findings" hidden>
    <div class="field grow">
      <label for="search">Search</label
      ><input type="search" id="search" placeholder="clause, text, header, status…" autocomplete="off" />
    </div>
    ${selectField("level", "Level", levels)} ${selectField("section", "Section", suites)}
    <div class="outcomes" role="group" aria-label="Outcome">
      ${outcomesWorstFirst
        .filter((outcome) => totals[outcome] > 0)
        .map(
          (outcome) =>
            html`<button type="button" aria-pressed="false" data-filters="${outcome}">
              ${outcomeName(outcome)} <span class="count">${totals[outcome]}</span>
            </button>`,
        )}
      <button type="button" id="reset" hidden>Show all</button>
    </div>
  </div>`;
}

const outcomeName = (outcome: Outcome): string => (outcome === "error" ? "harness error" : outcome);

const selectField = (id: string, label: string, names: readonly string[]): Html =>
  html`<div class="field">
    <label for="${id}">${label}</label
    ><select id="${id}">
      <option value="">all</option>
      ${names.map((name) => html`<option value="${sanitizeLine(name, 120)}">${sanitizeLine(name, 80)}</option>`)}
    </select>
  </div>`;

function suiteSection(suite: string, members: readonly ReportFinding[], context: PageContext): Html {
  const sorted = members.toSorted(
    (one, other) => outcomesWorstFirst.indexOf(one.outcome) - outcomesWorstFirst.indexOf(other.outcome),
  );
  const counts = outcomesWorstFirst.flatMap((outcome) => {
    const count = members.filter((each) => each.outcome === outcome).length;
    return count === 0 ? [] : html`<span class="tally">${outcomeBadge(outcome)} ${count}</span>`;
  });
  const parts = (findings: readonly ReportFinding[]): Html[] =>
    findings.map((finding) => renderFindingDetails(finding, context));
  const title = html`<summary>
    <h3>${sanitizeLine(suite, 120)}</h3>
    <span class="tallies">${counts}</span>
  </summary>`;
  const urgent = sorted.filter(isUrgent);
  const others = sorted.filter((each) => !isUrgent(each));
  if (urgent.length === 0) return html`<details class="suite">${title} ${parts(others)}</details>`;
  const rest =
    others.length > 0 &&
    html`<details class="rest">
      <summary>${formatCount(others.length, "other finding")}: passed, observed or skipped</summary>
      ${parts(others)}
    </details>`;
  return html`<details class="suite" open>${title} ${parts(urgent)} ${rest}</details>`;
}

const isUrgent = ({ outcome }: ReportFinding): boolean =>
  outcomesWorstFirst.indexOf(outcome) < outcomesWorstFirst.indexOf("pass");

function renderFindingDetails(finding: ReportFinding, context: PageContext): Html {
  const { outcome, level, clause, check, instance, suite } = finding;
  const anchor = context.anchorOf(finding);
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
        >${outcomeBadge(outcome)} <span class="clause">${sanitizeLine(clause, 80)}</span>
        <span class="says"
          >${clauseText(finding)}
          ${which.map((each) => html`<span class="instance">${sanitizeLine(each, 80)}</span> `)}</span
        ></span
      >
    </summary>
    <div class="body">
      ${factList(finding, context)} ${witnessHtml(finding)} ${evidenceSection(finding, context)}
      <p class="small links">
        <a href="#${anchor}">Link to this finding</a>
        <button type="button" class="copy" data-copies="link" hidden>Copy the link</button>
      </p>
    </div>
  </details>`;
}

const clauseText = ({ clause, expected = "", reason = "" }: ReportFinding): Html =>
  prose(clauseSentence(clause) || expected || reason, 400);

type LabelledFact = readonly [label: string, value: Html | string];

function factList(finding: ReportFinding, context: PageContext): Html {
  const { clause, level, reading, expected, actual, reason, needs, seen } = finding;
  const uncovered = seen === undefined ? "" : formatUncovered(seen);
  const known = isClauseId(clause) ? clauseOf(clause) : null;
  const facts: readonly (LabelledFact | null)[] = [
    expected === undefined ? null : ["Expected", multilineText(expected)],
    actual === undefined ? null : ["Actual", multilineText(actual)],
    reason === undefined ? null : [reasonLabels[finding.outcome] ?? "Observed", multilineText(reason)],
    needs === undefined ? null : ["Would enable it", prose(needs, 1000)],
    seen === undefined ? null : ["Coverage", prose(formatCoverage(seen), 1000)],
    uncovered === "" ? null : ["Not observed", prose(uncovered, 2000)],
    reading === undefined ? null : ["Reading followed", prose(formatReading(reading, known?.readings))],
    [
      "Clause",
      known === null
        ? "no clause states it; a load scenario demands it"
        : html`<a href="#${clauseAnchor(clause)}">${clause}</a> · ${level} · ${known.section}`,
    ],
    ...loadRunLinks(finding, context),
  ];
  return definitionList(
    "facts",
    facts.filter((fact) => fact !== null),
  );
}

const reasonLabels: Readonly<Partial<Record<Outcome, string>>> = {
  observed: "Observed",
  skipped: "Why it was skipped",
  error: "How the harness failed",
};

const formatReading = (reading: string, readings: Readonly<Record<string, string>> = {}): string =>
  Object.hasOwn(readings, reading) ? `\`${reading}\`: ${readings[reading] ?? ""}` : `\`${reading}\``;

const loadRunLinks = ({ evidence = [] }: ReportFinding, { report }: PageContext): LabelledFact[] =>
  (report.load?.runs ?? [])
    .filter((run) => evidence.includes(run.evidence))
    .map((run) => [
      "Load run",
      html`<a href="#${runAnchor(run.evidence)}">${sanitizeLine(run.title, 160)}</a>, evidence in
        <code>${sanitizeLine(run.evidence, 160)}</code>`,
    ]);

const maxWitnessLines = 40;

function witnessHtml({ witness = [] }: ReportFinding): Html | null {
  if (witness.length === 0) return null;
  const isLong = witness.length > maxWitnessLines;
  const shown = isLong ? [...witness.slice(0, maxWitnessLines - 5), "…", ...witness.slice(-4)] : witness;
  return html`<h4>Witness: the smallest part that proves it, ${witness.length} lines</h4>
    <pre tabindex="0" role="group" aria-label="Witness">
${shown.map((line) => sanitizeLine(line, 300)).join("\n")}</pre>`;
}

const columns = [["Clause", "nowrap"], ["Level", "nowrap"], "Sentence", "Checks and outcomes"] as const;

export function traceabilitySection(context: PageContext): Html {
  const { report } = context;
  const findingsOf = Map.groupBy(report.findings, ({ clause }) => clause);
  const party = partyOf(report);
  const ids = clausesOfParty(party);
  const rows = ids.map((clause) => clauseCells(clause, findingsOf.get(clause) ?? [], context));
  const exercised = ids.filter(
    (clause) => findingsOf.get(clause)?.some(({ outcome }) => outcome !== "skipped") === true,
  );
  return pageSection(
    "traceability",
    "Traceability",
    html`<p>
        Every sentence of the interface document that a ${party} could break, with its level, its checks and their
        outcomes. ${exercised.length} of ${ids.length} clauses were exercised or observed.
      </p>
      <details>
        <summary>All ${ids.length} clauses</summary>
        ${renderTable("Clauses, checks and outcomes", columns, rows, "wordy trace")}
      </details>`,
  );
}

function clauseCells(
  clause: ClauseId,
  findings: readonly ReportFinding[],
  { report, anchorOf }: PageContext,
): HtmlContent[] {
  const { level, says, section } = clauseOf(clause);
  return [
    html`<span id="${clauseAnchor(clause)}">${clause}</span>`,
    level,
    html`${prose(says)}<span class="small muted place">${section}</span>`,
    findings.length === 0 ? prose(whyNotChecked(clause, report)) : checksWithOutcomes(findings, anchorOf),
  ];
}

function whyNotChecked(clause: ClauseId, { untestable, unselected, load }: Report): string {
  const why = untestable.find((each) => each.clause === clause)?.reason ?? clauseOf(clause).untestable;
  if (why !== undefined) return `Not testable: ${why}`;
  if (unselected.includes(clause)) return "Not selected for this run.";
  return load === undefined ? "Not part of this run." : "No scenario of this run shows it.";
}

function checksWithOutcomes(findings: readonly ReportFinding[], anchorOf: AnchorOf): Html {
  const byCheck = Map.groupBy(findings, ({ check }) => check);
  const items = [...byCheck].map(
    ([check, members]) =>
      html`<li>
        <code>${sanitizeLine(check, 80)}</code> ${outcomes.map((outcome) => outcomeLink(outcome, members, anchorOf))}
      </li>`,
  );
  return html`<ul class="plain">
    ${items}
  </ul>`;
}

function outcomeLink(outcome: Outcome, findings: readonly ReportFinding[], anchorOf: AnchorOf): Html | null {
  const members = findings.filter((each) => each.outcome === outcome);
  const [first] = members;
  if (first === undefined) return null;
  const where = members.flatMap(({ instance }) => instance ?? []);
  const label = where.length === 0 ? "" : ` ${sanitizeLine(where.join("; "), 160)}`;
  return html`<a class="outcome" href="#${anchorOf(first)}">${outcomeBadge(outcome)}</a
    ><span class="small muted">${label}</span> `;
}
