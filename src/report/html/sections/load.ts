import { sanitizeLine } from "../../../base/sanitize.ts";
import type { LoadEvidence } from "../../../evidence/load-evidence.ts";
import { type LoadRun, formatTrial } from "../../model/load-results.ts";
import { findingsOfLoadRun, loadRunFacts } from "../../model/measurement-sections.ts";
import type { ReportFinding, ReportDocument } from "../../model/report.ts";
import { pickSections } from "../../model/report-sections.ts";
import type { Section } from "../../model/section.ts";
import { runAnchor } from "../anchors.ts";
import { factsHtml, tableHtml } from "../render-section.ts";
import { loadLatencyChart } from "../charts/latency.ts";
import { limitCharts, perMinuteChart } from "../charts/limits.ts";
import { limiterSamplesUnderLoad } from "../charts/limiter-samples.ts";
import { loadStreamChart } from "../charts/streams.ts";
import { textHtml, prose, pageSection } from "../elements.ts";
import { type Html, html } from "../markup.ts";

export function loadSection({ report, load }: ReportDocument, sections: readonly Section[]): Html {
  const runs = report.load?.runs ?? [];
  if (runs.length === 0) return html``;
  const tables = pickSections(sections, ["load"]).flatMap(({ blocks }) => blocks);
  return pageSection("load", "Load", [
    tables.map((block) => block.kind === "table" && tableHtml(block)),
    caveatsBanner(sections),
    runs.map((run, at) =>
      loadRunDetails(run, load.get(run.evidence) ?? null, at === 0 || hasFailedFinding(run, report.findings)),
    ),
  ]);
}

const hasFailedFinding = (run: LoadRun, findings: readonly ReportFinding[]): boolean =>
  findingsOfLoadRun(run, findings).some(({ outcome }) => outcome === "fail");

const caveatsBanner = (sections: readonly Section[]): Html[] =>
  pickSections(sections, ["caveats"]).map(
    ({ title, blocks }) =>
      html`<div class="banner warning">
        <p><strong>${title}</strong></p>
        <ul>
          ${blocks.flatMap((block) => (block.kind === "items" ? block.items.map((item) => html`<li>${textHtml(item)}</li>`) : []))}
        </ul>
      </div>`,
  );

const loadRunDetails = (run: LoadRun, evidence: LoadEvidence | null, isOpen: boolean): Html =>
  html`<details class="tier" id="${runAnchor(run.evidence)}" ${isOpen && "open"}>
    <summary><h3>${sanitizeLine(formatTrial(run), 120)}</h3></summary>
    <p>${prose(`${run.title.charAt(0).toUpperCase()}${run.title.slice(1)}.`)}</p>
    ${evidence === null ? html`<p class="muted">Its evidence was not there when the page was made, so it has no charts.</p>` : html`<div class="charts">${loadRunCharts(run, evidence)}</div>`}
    ${factsHtml({ facts: loadRunFacts(run) }, "facts small")}
  </details>`;

function loadRunCharts({ scenario }: LoadRun, evidence: LoadEvidence): Html[] {
  const { limits, requests, summary, tier } = evidence;
  const keys = [...new Set(requests.map(({ key }) => key))];
  const byKey = keys.flatMap((key) =>
    limitCharts(
      { name: `${tier ?? "tier"}, ${key} key`, limits, samples: limiterSamplesUnderLoad(evidence, key) },
      scenario.includes("hour") ? "hour" : "minute",
    ),
  );
  return [
    ...byKey,
    summary.length === 0 ? null : perMinuteChart(evidence),
    loadLatencyChart(evidence, "Latency"),
    loadStreamChart(evidence, "Streams: time to the first event"),
  ].filter((each) => each !== null);
}
