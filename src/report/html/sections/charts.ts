import type { ReportDocument } from "../../model/report.ts";
import { type Html, html } from "../markup.ts";
import { sanitizeLine } from "../../../base/sanitize.ts";
import { runLatencyChart } from "../charts/latency.ts";
import { limitCharts } from "../charts/limits.ts";
import { retryChart } from "../charts/retries.ts";
import { type KeySamples, keySamplesOf } from "../charts/limiter-samples.ts";
import { streamChart } from "../charts/streams.ts";

/** Renders the charts of a run: limits by tier, latencies, retries and streams. Empty if the evidence has data for none of them. */
export function chartsSection({ evidence, report }: ReportDocument): Html {
  if (evidence === null) return missingChartsNote(report.load === undefined && report.findings.length > 0);
  const used = evidence.probes.flatMap((probe) => {
    const window = exhaustedWindowOf(probe.probe);
    const keySamples = window === null ? null : keySamplesOf(probe);
    return window === null || keySamples === null ? [] : [{ window, keySamples }];
  });
  const tiers = [...Map.groupBy(used, ({ keySamples }) => keySamples.name)].map(([tier, members]) => ({
    tier,
    figures: members.flatMap(({ window, keySamples }) => limitCharts(keySamples, window)),
  }));
  const times = [
    samplesLatencyChart(used.map(({ keySamples }) => keySamples)),
    retryChart(evidence.deliveries),
    streamChart(evidence.exchanges),
  ].filter((each) => each !== null);
  if (tiers.length + times.length === 0) return html``;
  return html`<section aria-labelledby="limits">
    <h2 id="limits">Limits and times</h2>
    ${
      tiers.length > 0 &&
      html`<p>
        Admitted and refused requests while each tier’s allowance was used up. The charts only illustrate; the findings
        of Limits and of Rate-limit headers judge.
      </p>`
    }
    ${tiers.map(({ tier, figures }, at) => tierCharts(tier, figures, at === 0))}
    ${times.length > 0 && html`<div class="charts">${times}</div>`}
  </section>`;
}

const missingChartsNote = (isExpected: boolean): Html =>
  isExpected
    ? html`<section aria-labelledby="limits">
        <h2 id="limits">Limits and times</h2>
        <p>The evidence of this run was not there when the page was made, so it shows no charts and no exchanges.</p>
      </section>`
    : html``;

function tierCharts(tier: string, figures: readonly Html[], isOpen: boolean): Html {
  const body = html`<summary><h3>Tier ${sanitizeLine(tier, 60)}</h3></summary>
    <div class="charts">${figures}</div>`;
  return isOpen ? html`<details class="tier" open>${body}</details>` : html`<details class="tier">${body}</details>`;
}

/** Returns the rate-limit window that a probe with this name exhausts; `null` for other probes. */
function exhaustedWindowOf(probe: string): "minute" | "hour" | null {
  if (probe === "a minute's allowance is used up") return "minute";
  return probe === "an hour's allowance is used up" ? "hour" : null;
}

function samplesLatencyChart(keySamplesList: readonly KeySamples[]): Html | null {
  const seen = keySamplesList.flatMap((each) => each.samples);
  return seen.length === 0 ? null : runLatencyChart(seen);
}
