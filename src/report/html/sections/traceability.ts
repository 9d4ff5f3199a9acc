import { type ClauseId, clauseOf, clausesOfParty } from "../../../spec/clauses.ts";
import { sanitizeLine } from "../../../base/sanitize.ts";
import { type Outcome, outcomes, partyOf, type Report, type ReportFinding } from "../../model/report.ts";
import { clauseAnchor, findingAnchor } from "../anchors.ts";
import { outcomeBadge, prose, renderTable, pageSection } from "../elements.ts";
import { type Html, html, type HtmlContent } from "../markup.ts";

const columns = [["Clause", "nowrap"], ["Level", "nowrap"], "Sentence", "Checks and outcomes"] as const;

export function traceabilitySection(report: Report): Html {
  const findingsOf = Map.groupBy(report.findings, ({ clause }) => clause);
  const party = partyOf(report);
  const ids = clausesOfParty(party);
  const rows = ids.map((clause) => clauseCells(clause, findingsOf.get(clause) ?? [], report));
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

function clauseCells(clause: ClauseId, findings: readonly ReportFinding[], report: Report): HtmlContent[] {
  const { level, says, section } = clauseOf(clause);
  return [
    html`<span id="${clauseAnchor(clause)}">${clause}</span>`,
    level,
    html`${prose(says)}<span class="small muted place">${section}</span>`,
    findings.length === 0 ? prose(whyNotChecked(clause, report)) : checksWithOutcomes(findings),
  ];
}

function whyNotChecked(clause: ClauseId, { untestable, unselected, load }: Report): string {
  const why = untestable.find((each) => each.clause === clause)?.reason ?? clauseOf(clause).untestable;
  if (why !== undefined) return `Not testable: ${why}`;
  if (unselected.includes(clause)) return "Not selected for this run.";
  return load === undefined ? "Not part of this run." : "No scenario of this run shows it.";
}

function checksWithOutcomes(findings: readonly ReportFinding[]): Html {
  const byCheck = Map.groupBy(findings, ({ check }) => check);
  const items = [...byCheck].map(
    ([check, members]) =>
      html`<li>
        <code>${sanitizeLine(check, 80)}</code> ${outcomes.map((outcome) => outcomeLink(outcome, members))}
      </li>`,
  );
  return html`<ul class="plain">
    ${items}
  </ul>`;
}

function outcomeLink(outcome: Outcome, findings: readonly ReportFinding[]): Html | null {
  const members = findings.filter((each) => each.outcome === outcome);
  const [first] = members;
  if (first === undefined) return null;
  const where = members.flatMap(({ instance }) => instance ?? []);
  const label = where.length === 0 ? "" : ` ${sanitizeLine(where.join("; "), 160)}`;
  return html`<a class="outcome" href="#${findingAnchor(first)}">${outcomeBadge(outcome)}</a
    ><span class="small muted">${label}</span> `;
}
