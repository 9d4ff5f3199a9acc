import { formatRegressionCounts } from "../summary.ts";
import { chartStyle } from "../../html/svg/chart.ts";
import { sanitizeLine } from "../../../base/sanitize.ts";
import { numberTiles, prose, pageSection } from "../../html/elements.ts";
import { type Html, html } from "../../html/markup.ts";
import { renderPage } from "../../html/page.ts";
import { formatNumber, wholePercent } from "../../../base/numbers.ts";
import { formatCount, joinFirst } from "../../../base/text.ts";
import { pairCoverageByNight, type PairCoverageByNight } from "../pair-coverage.ts";
import { flakyChecksOf, flakinessWindowNights, type OpenFailure, findOpenFailures } from "../finding-history.ts";
import type { Night, NightHistory } from "../night.ts";
import { countsChart, formatDate, latencyCharts, passPercent, passRateChart } from "./charts.ts";
import { streamingCharts } from "./streaming-charts.ts";
import {
  type TrendEvent,
  trendEvents,
  eventsTable,
  failuresTable,
  flakyTable,
  nightsTable,
  pairsTable,
} from "./tables.ts";

interface TrendOptions {
  readonly hasReports: (night: Night) => boolean;
}

export function renderTrendPage({ nights, damaged }: NightHistory, { hasReports }: TrendOptions): string {
  const last = nights.at(-1);
  const name = sanitizeLine(last?.target.name ?? "no night yet", 80);
  const linkOf = (night: Night): string | null => (hasReports(night) ? `reports/${night.id}/run/report.html` : null);
  return renderPage({
    title: `${name}: trend · Agent Hosting conformance`,
    styles: [chartStyle, trendStyle],
    body: html`<a class="skip-link" href="#content">Skip to the trend</a>
      <header class="masthead wide">
        <p class="kicker">Agent Hosting Service Interface · nights</p>
        <h1>${name}</h1>
        ${last !== undefined && html`<p class="muted">${formatPeriod(nights, last)}</p>`}
      </header>
      <main id="content">
        ${last === undefined ? html`<p>The history holds no night that can be read.</p>` : trendBody(nights, last, linkOf)}
        ${damaged.length > 0 && damagedSection(damaged)}
      </main>
      <footer class="wide">
        Medians, the noise band and the gate are explained in docs/nightly.md. Times are UTC. The page asks for nothing
        over the network.
      </footer>`,
  });
}

function formatPeriod(nights: readonly Night[], last: Night): Html {
  const first = nights[0] ?? last;
  const [from, to] = [formatDate(first.started), formatDate(last.started)];
  return html`${formatCount(nights.length, "night")}, ${from === to ? from : `${from} to ${to}`} ·
  ${sanitizeLine(last.target.baseUrl, 120)} · suite ${sanitizeLine(last.suite.version, 40)}, requirement set
  ${sanitizeLine(last.suite.requirements, 40)}`;
}

function trendBody(nights: readonly Night[], last: Night, linkOf: (night: Night) => string | null): Html {
  const failures = findOpenFailures(nights);
  const flaky = flakyChecksOf(nights);
  const events = trendEvents(nights);
  const isAlone = nights.length < 2;
  const charts = isAlone ? [] : latencyCharts(nights);
  const streaming = isAlone ? [] : streamingCharts(nights);
  const newest = nights.toReversed();
  const pairs = pairCoverageByNight(nights);
  return html`${verdictBanner(last, failures)} ${historyFigures(nights, last, failures, flaky.length)}
  ${pageSection("changed", "What changed", events.length === 0 ? html`<p>${nothingChangedText(isAlone)}</p>` : eventsSection(events))}
  ${failures.length > 0 && pageSection("broken", "Broken on the last night", failuresTable(failures))}
  ${!isAlone && pageSection("rate", "Pass rate", html`<div class="charts">${passRateChart(nights)} ${countsChart(nights)}</div>`)}
  ${
    flaky.length > 0 &&
    pageSection("flaky", "Flaky checks", [
      html`<p>
        They changed between passing and broken three times or more within the last ${flakinessWindowNights} nights.
        They fail a night like any other check.
      </p>`,
      flakyTable(flaky, nights),
    ])
  }
  ${chartsSection("latency", "Latency under load", latencyText, charts)}
  ${chartsSection("streaming", "Streaming quality", streamingText, streaming)}
  ${pairs !== null && pageSection("pairs", "Pairs of properties", pairsSection(pairs))}
  ${pageSection("nights", "Nights", nightsSection(newest, linkOf))}`;
}

const latencyText =
  "A line marks the first night of a change that chance does not explain. The band is the usual noise of the median; a single night outside it means nothing.";
const streamingText = "Figures of the conformance runs, which nothing judges. They include the network.";

const chartsSection = (id: string, title: string, lead: string, charts: readonly Html[]): Html | null =>
  charts.length === 0
    ? null
    : pageSection(id, title, [html`<p>${lead}</p>`, html`<div class="charts">${charts}</div>`]);

function pairsSection(pairs: PairCoverageByNight): Html {
  const { total, seen, nights, cut } = pairs;
  const share = (part: number): string => `${wholePercent(part, total)} %`;
  return html`<p>
      ${formatCount(nights.length, "night")} combined ${formatNumber(seen)} of ${formatNumber(total)} pairs of
      properties in some request (${share(seen)}). Each night draws other requests by its seed.
      <code>run --coverage-seed</code> repeats a night.
    </p>
    ${seen !== total && cut.length > 0 && html`<p>On the last night, others needed ${prose(formatCuts(cut, share), 600)}.</p>`}
    ${pairsTable(pairs)}`;
}

const formatCuts = (cut: PairCoverageByNight["cut"], share: (part: number) => string): string =>
  joinFirst(
    cut.map(({ needs, pairs }) => `${needs} (${share(pairs)})`),
    maxNamedCuts,
  );

const maxNamedCuts = 6;

const nothingChangedText = (isAlone: boolean): string =>
  isAlone
    ? "There is only one night, and nothing to compare it with yet. Charts come with the second night."
    : "Nothing became worse or faster in these nights.";

function verdictBanner(last: Night, failures: readonly OpenFailure[]): Html {
  const { regressions, changes } = last.reported;
  const slower = changes.filter(({ direction, isKnown }) => direction === "slower" && !isKnown);
  const worse = formatRegressionCounts(regressions.length, slower);
  const tone = worse !== "" ? "fail" : failures.length > 0 || last.findings.length === 0 ? "warning" : "pass";
  const word = worse !== "" ? `Worse: ${worse}` : failures.length > 0 ? "Nothing new" : quietNightWord(last);
  return html`<div class="banner ${tone}">
    <p class="word">${word}</p>
    <p>${prose(formatBanner(last, failures))}</p>
  </div>`;
}

const quietNightWord = ({ findings }: Night): string => (findings.length === 0 ? "Nothing judged" : "Nothing broken");

function formatBanner({ started, verdict, stopped }: Night, failures: readonly OpenFailure[]): string {
  const night = `The night of ${formatDate(started)} was ${verdict}`;
  if (stopped !== undefined) return `${night}: ${sanitizeLine(stopped, 200)}`;
  if (failures.length === 0) return `${night}: nothing is broken, and nothing became worse.`;
  return `${night}: ${formatCount(failures.length, "finding")} broken.`;
}

function historyFigures(nights: readonly Night[], last: Night, failures: readonly OpenFailure[], flaky: number): Html {
  const rate = passPercent(last);
  const conformant = nights.filter(({ verdict }) => verdict === "conformant" || verdict === "partial").length;
  return numberTiles([
    ["pass rate", rate === null ? "–" : `${rate.toFixed(rate === 100 ? 0 : 1)} %`],
    ["broken now", String(failures.length)],
    ["flaky", String(flaky)],
    ["nights with nothing broken", `${conformant} of ${nights.length}`],
  ]);
}

const maxListedEvents = 20;

const eventsSection = (events: readonly TrendEvent[]): Html =>
  withOlder(eventsTable, events, maxListedEvents, (count) => `${count} older changes`);

const maxListedNights = 30;

const nightsSection = (newest: readonly Night[], linkOf: (night: Night) => string | null): Html =>
  withOlder(
    (nights) => nightsTable(nights, linkOf),
    newest,
    maxListedNights,
    (count) => formatCount(count, "older night"),
  );

function withOlder<T>(
  tableOf: (items: readonly T[]) => Html,
  newest: readonly T[],
  max: number,
  titleOf: (count: number) => string,
): Html {
  const older = newest.slice(max);
  return html`${tableOf(newest.slice(0, max))}
  ${
    older.length > 0 &&
    html`<details class="more-nights">
      <summary>${titleOf(older.length)}</summary>
      ${tableOf(older)}
    </details>`
  }`;
}

const damagedSection = (damaged: NightHistory["damaged"]): Html =>
  pageSection(
    "damaged",
    "Left out",
    html`<p>${formatCount(damaged.length, "entry").replace("entrys", "entries")} of the history cannot be read.</p>
      <ul>
        ${damaged.map(({ file, problem }) => html`<li><code>${sanitizeLine(file.split("/").at(-1) ?? file, 80)}</code>: ${prose(problem, 200)}</li>`)}
      </ul>`,
  );

const trendStyle = `
.masthead { padding-block: 2rem 0.5rem; }
.kicker { margin: 0 0 0.3rem; color: var(--muted); font-size: 0.88rem; letter-spacing: 0.02em; }
.masthead p { margin: 0.35rem 0 0; }
.charts { margin-top: 1rem; }
.strip { display: block; width: 24rem; height: 18px; }
.strip .held { fill: var(--pass); fill-opacity: 0.55; }
.strip .broken { fill: none; stroke: var(--fail); stroke-width: 2.4; }
.strip .none { stroke: var(--strong-line); stroke-width: 1.5; }
.says { min-width: 14rem; max-width: 42rem; overflow-wrap: anywhere; }
td.tight { white-space: nowrap; }
.more-nights { margin-top: 0.9rem; }
`;
