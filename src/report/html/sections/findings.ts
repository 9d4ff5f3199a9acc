import { sanitizeLine } from "../../../base/sanitize.ts";
import { formatCount } from "../../../base/text.ts";
import { type Outcome, type Report, type ReportFinding } from "../../model/report.ts";
import { badge } from "../elements.ts";
import { findingPart } from "./finding.ts";
import { type Html, html } from "../markup.ts";
import type { View } from "../page-context.ts";

const worstFirst = [
  "fail",
  "error",
  "warning",
  "note",
  "pass",
  "observed",
  "skipped",
] as const satisfies readonly Outcome[];

/** Every finding, by section of the suites, with what filters and searches them where scripts run. */
export function findingsPart(view: View): Html {
  const { findings } = view.report;
  const sections = [...Map.groupBy(findings, ({ suite }) => suite)];
  return html`<section aria-labelledby="findings">
    <h2 id="findings">Findings</h2>
    ${controls(
      view.report,
      sections.map(([suite]) => suite),
    )}
    <p id="matches" role="status" aria-live="polite" class="muted">${formatCount(findings.length, "finding")}</p>
    ${sections.map(([suite, members]) => sectionPart(suite, members, view))}
  </section>`;
}

function controls({ totals, findings }: Report, suites: readonly string[]): Html {
  const levels = [...new Set(findings.map(({ level }) => level))];
  return html`<div class="controls" id="controls" role="search" aria-label="Findings" hidden>
    <div class="field grow">
      <label for="search">Search</label
      ><input type="search" id="search" placeholder="clause, text, header, status…" autocomplete="off" />
    </div>
    ${choice("level", "Level", levels, levels)}
    ${choice(
      "section",
      "Section",
      suites.map((each) => sanitizeLine(each, 120)),
      suites,
    )}
    <div class="outcomes" role="group" aria-label="Outcome">
      ${worstFirst
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

function choice(id: string, label: string, values: readonly string[], names: readonly string[]): Html {
  return html`<div class="field">
    <label for="${id}">${label}</label
    ><select id="${id}">
      <option value="">all</option>
      ${values.map((value, at) => html`<option value="${value}">${sanitizeLine(names[at] ?? value, 80)}</option>`)}
    </select>
  </div>`;
}

function sectionPart(suite: string, members: readonly ReportFinding[], view: View): Html {
  const sorted = members.toSorted((one, other) => worstFirst.indexOf(one.outcome) - worstFirst.indexOf(other.outcome));
  const counts = worstFirst.flatMap((outcome) => {
    const count = members.filter((each) => each.outcome === outcome).length;
    return count === 0 ? [] : html`<span class="tally">${badge(outcome)} ${count}</span>`;
  });
  const part = (findings: readonly ReportFinding[]): Html[] => findings.map((finding) => findingPart(finding, view));
  const title = html`<summary>
    <h3>${sanitizeLine(suite, 120)}</h3>
    <span class="tallies">${counts}</span>
  </summary>`;
  const worrying = sorted.filter(isWorrying);
  if (worrying.length === 0) return html`<details class="suite">${title} ${part(sorted)}</details>`;
  const others = sorted.filter((each) => !isWorrying(each));
  const rest =
    others.length > 0 &&
    html`<details class="rest">
      <summary>${formatCount(others.length, "other finding")}: passed, observed or skipped</summary>
      ${part(others)}
    </details>`;
  return html`<details class="suite" open>${title} ${part(worrying)} ${rest}</details>`;
}

const isWorrying = ({ outcome }: ReportFinding): boolean => worstFirst.indexOf(outcome) < worstFirst.indexOf("pass");
