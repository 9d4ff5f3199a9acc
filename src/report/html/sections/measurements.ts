import { sanitizeLine } from "../../../base/sanitize.ts";
import type { LoadEvidence } from "../../../evidence/load-evidence.ts";
import { formatTrial, type LoadRun } from "../../model/load-results.ts";
import { findingsOfLoadRun, loadRunFacts } from "../../model/measurement-sections.ts";
import type { ReportFinding } from "../../model/finding.ts";
import type { ReportDocument } from "../../model/report.ts";
import { pickSections } from "../../model/report-sections.ts";
import type { Section } from "../../model/section.ts";
import { type AnchorOf, pageSection, prose, runAnchor, textHtml } from "../elements.ts";
import { factsHtml, tableHtml } from "../render-section.ts";
import { loadLatencyChart, runLatencyChart } from "../charts/latency.ts";
import { limitCharts, perMinuteChart } from "../charts/limits.ts";
import { keySamplesOf, limiterSamplesUnderLoad } from "../charts/limiter-samples.ts";
import { loadStreamChart, streamChart } from "../charts/streams.ts";
import { type Html, html, type HtmlContent } from "../markup.ts";
import { groupsBy } from "../../../base/lists.ts";
import { retryChart } from "../charts/retries.ts";

export function loadSection({ report, load }: ReportDocument, sections: readonly Section[], anchorOf: AnchorOf): Html {
  const runs = report.load?.runs ?? [];
  if (runs.length === 0) return html``;
  const tables = pickSections(sections, ["load"]).flatMap(({ blocks }) => blocks);
  return pageSection("load", "Load", [
    tables.map((block) => block.kind === "table" && tableHtml(block, anchorOf)),
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

export function chartsSection({ evidence, report }: ReportDocument): Html {
  if (evidence === null) {
    const isExpected = report.load === undefined && report.findings.length > 0;
    return isExpected ? limitsSection(html`<p>${missingEvidenceText}</p>`) : html``;
  }
  const used = evidence.probes.flatMap((probe) => {
    const window = exhaustedWindowOf(probe.probe);
    const keySamples = window === null ? null : keySamplesOf(probe);
    return window === null || keySamples === null ? [] : [{ window, keySamples }];
  });
  const tiers = groupsBy(used, ({ keySamples }) => keySamples.name).map((members) => ({
    tier: members[0].keySamples.name,
    figures: members.flatMap(({ window, keySamples }) => limitCharts(keySamples, window)),
  }));
  const times = [
    runLatencyChart(used.flatMap(({ keySamples }) => keySamples.samples)),
    retryChart(evidence.deliveries),
    streamChart(evidence.exchanges),
  ].filter((each) => each !== null);
  if (tiers.length + times.length === 0) return html``;
  return limitsSection([
    tiers.length > 0 &&
      html`<p>
        Admitted and refused requests while each tier’s allowance was used up. The charts only illustrate; the findings
        of Limits and of Rate-limit headers judge.
      </p>`,
    tiers.map(
      ({ tier, figures }, at) =>
        html`<details class="tier" ${at === 0 && "open"}>
          <summary><h3>Tier ${sanitizeLine(tier, 60)}</h3></summary>
          <div class="charts">${figures}</div>
        </details>`,
    ),
    times.length > 0 && html`<div class="charts">${times}</div>`,
  ]);
}

const limitsSection = (content: HtmlContent): Html => pageSection("limits", "Limits and times", content);

const missingEvidenceText =
  "The evidence of this run was not there when the page was made, so it shows no charts and no exchanges.";

function exhaustedWindowOf(probe: string): "minute" | "hour" | null {
  if (probe === "a minute's allowance is used up") return "minute";
  return probe === "an hour's allowance is used up" ? "hour" : null;
}
