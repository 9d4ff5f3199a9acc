import { pageSection } from "../elements.ts";
import { groupsBy } from "../../../base/groups.ts";
import type { ReportDocument } from "../../model/report.ts";
import { type Html, html, type HtmlContent } from "../markup.ts";
import { sanitizeLine } from "../../../base/sanitize.ts";
import { runLatencyChart } from "../charts/latency.ts";
import { limitCharts } from "../charts/limits.ts";
import { retryChart } from "../charts/retries.ts";
import { keySamplesOf } from "../charts/limiter-samples.ts";
import { streamChart } from "../charts/streams.ts";

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
