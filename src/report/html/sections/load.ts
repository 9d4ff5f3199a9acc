import { formatNumber } from "../../../base/numbers.ts";
import type { LoadEvidence } from "../../../load/load-evidence.ts";
import { sanitizeLine } from "../../../base/sanitize.ts";
import { formatCount } from "../../../base/text.ts";
import { duration } from "../../../base/duration.ts";
import { formatTrial } from "../../model/trial-id.ts";
import type { LoadRun, Percentiles } from "../../model/load-results.ts";
import type { ReportFinding } from "../../model/report.ts";
import { runAnchor } from "../anchors.ts";
import { badge, numberHead, prose, tableOf } from "../elements.ts";
import { loadLatencyFigure } from "../charts/latency.ts";
import { limitFigures } from "../charts/limits.ts";
import { loadSamples } from "../charts/limiter-samples.ts";
import { slotFigure } from "../charts/per-minute.ts";
import { loadStreamFigure } from "../charts/streams.ts";
import { type Html, html } from "../markup.ts";
import type { View } from "../page-context.ts";

/** Every load run: what was sent, what proves nothing and why, and what it showed as charts. */
export function loadPart({ report, load }: View): Html {
  const runs = report.load?.runs ?? [];
  if (runs.length === 0) return html``;
  const rows = runs.map((run) => runRow(run, report.findings));
  return html`<section aria-labelledby="load">
    <h2 id="load">Load</h2>
    ${tableOf("Load runs", tableCells, rows, "dense")} ${invalidPart(runs)}
    ${runs.map((run, at) => runPart(run, load.get(run.evidence) ?? null, at === 0 || isBroken(run, report.findings)))}
  </section>`;
}

const figureCells = ["Sent", "A second", "Admitted", "Refused", "Other", "Half within", "99 % within"].map(numberHead);
const tableCells = ["Scenario", "Tier", "Engine", "Result", ...figureCells];

const times = (latency: Percentiles | null, name: "p50" | "p99"): string =>
  latency === null ? "–" : `${Number(latency[name].toPrecision(3))} ms`;

const findingsOf = ({ evidence }: LoadRun, findings: readonly ReportFinding[]): ReportFinding[] =>
  findings.filter((each) => each.evidence?.includes(evidence) === true);

const isBroken = (run: LoadRun, findings: readonly ReportFinding[]): boolean =>
  findingsOf(run, findings).some(({ outcome }) => outcome === "fail");

function runRow(run: LoadRun, findings: readonly ReportFinding[]): Html {
  const { scenario, tier, engine, segments, requests, perSecond, latencyMs } = run;
  return html`<tr>
    <th scope="row" class="nowrap"><a href="#${runAnchor(run.evidence)}">${sanitizeLine(scenario, 60)}</a></th>
    <td>${sanitizeLine(tier ?? "?", 40)}</td>
    <td class="nowrap">${sanitizeLine(engine, 40)}${segments.length > 1 && ` ×${segments.length}`}</td>
    <td class="nowrap">${resultOf(run, findings)}</td>
    <td class="number">${formatNumber(requests.sent)}</td>
    <td class="number">${formatNumber(Math.round(perSecond.sent))}</td>
    <td class="number">${formatNumber(requests.admitted)}</td>
    <td class="number">${formatNumber(requests.refused)}</td>
    <td class="number">${formatNumber(requests.failed + requests.unanswered)}</td>
    <td class="number">${times(latencyMs.admitted, "p50")}</td>
    <td class="number">${times(latencyMs.admitted, "p99")}</td>
  </tr>`;
}

function resultOf(run: LoadRun, findings: readonly ReportFinding[]): Html {
  const own = findingsOf(run, findings);
  const count = (outcome: ReportFinding["outcome"]): number => own.filter((each) => each.outcome === outcome).length;
  if (count("fail") > 0) return html`${badge("fail")} ${count("fail")}`;
  if (run.validity.invalid !== null) return html`<span class="badge warning">! invalid</span>`;
  const reserve = run.validity.counts !== null ? ", not whole" : run.validity.pace !== null ? ", times void" : "";
  return html`${badge("pass")} ${count("pass")}${reserve}`;
}

/** What of the load proves nothing, and why. */
function invalidPart(runs: readonly LoadRun[]): Html {
  const reserves = runs.flatMap((run) => {
    const { invalid, counts, pace } = run.validity;
    const reason = invalid ?? counts ?? pace;
    if (reason === null) return [];
    const what =
      invalid !== null
        ? "proves nothing"
        : counts !== null
          ? "its exact counts prove nothing"
          : "its times prove nothing";
    return [html`<li>${nameOf(run)}: ${what}: ${prose(reason)}</li>`];
  });
  return reserves.length === 0
    ? html``
    : html`<div class="banner warning">
        <p><strong>Of ${formatCount(reserves.length, "run")} not everything counts</strong></p>
        <ul>
          ${reserves}
        </ul>
      </div>`;
}

const nameOf = (run: LoadRun): string => sanitizeLine(formatTrial(run), 120);

function runPart(run: LoadRun, evidence: LoadEvidence | null, isOpen: boolean): Html {
  const figures = evidence === null ? [] : figuresOf(run, evidence);
  const body = html`<summary><h3>${nameOf(run)}</h3></summary>
    <p>${prose(`${run.title.charAt(0).toUpperCase()}${run.title.slice(1)}.`)}</p>
    ${evidence === null ? html`<p class="muted">Its evidence was not there when the page was made, so it has no charts.</p>` : html`<div class="charts">${figures}</div>`}
    ${factsOf(run)}`;
  const anchor = runAnchor(run.evidence);
  return isOpen
    ? html`<details class="tier" id="${anchor}" open>${body}</details>`
    : html`<details class="tier" id="${anchor}">${body}</details>`;
}

function figuresOf({ scenario }: LoadRun, evidence: LoadEvidence): Html[] {
  const { limits, requests, summary, tier } = evidence;
  const keys = [...new Set(requests.map(({ key }) => key))];
  const byKey = keys.flatMap((key) =>
    limitFigures(
      { name: `${tier ?? "tier"}, ${key} key`, limits, seen: loadSamples(evidence, key) },
      scenario.includes("hour") ? "hour" : "minute",
    ),
  );
  return [
    ...byKey,
    summary.length === 0 ? null : slotFigure(evidence),
    loadLatencyFigure(evidence, "Latency"),
    loadStreamFigure(evidence, "Streams: time to the first event"),
  ].filter((each) => each !== null);
}

function factsOf({ windows, notes, stopped, speed, durationMs, isFresh, serverRssBytes, generator }: LoadRun): Html {
  const mebibytes = (bytes: number): string => `${Math.round(bytes / 1_048_576)} MiB`;
  const facts: [string, string][] = [
    ["Lasted", `${duration(durationMs)}${speed === 1 ? "" : `, in which ${speed} times as much passed at the target`}`],
    ...(windows === null ? [] : [["Windows that explain every answer", windows] as [string, string]]),
    ["Key", isFresh ? "nothing had been sent with it before" : "had been used before"],
    ...(generator.dropped + generator.late > 0
      ? [
          ["Generator", `${formatCount(generator.dropped, "request")} not started, ${generator.late} late`] as [
            string,
            string,
          ],
        ]
      : []),
    ...(serverRssBytes === null
      ? []
      : [
          [
            "Memory of the server",
            `${mebibytes(serverRssBytes.first)} at first, ${mebibytes(serverRssBytes.last)} at last`,
          ] as [string, string],
        ]),
    ...(stopped === null ? [] : [["Ended early", stopped] as [string, string]]),
    ...notes.map((note): [string, string] => ["Note", note]),
  ];
  return html`<dl class="facts small">
    ${facts.map(
      ([name, value]) =>
        html`<div>
          <dt>${name}</dt>
          <dd>${prose(value, 500)}</dd>
        </div>`,
    )}
  </dl>`;
}
