import { chartStyle } from "./svg/chart-style.ts";
import type { ReportDocument } from "../model/report.ts";
import { sanitizeLine } from "../../base/sanitize.ts";
import { aboutPart, createdPart, skippedPart } from "./sections/about.ts";
import { coveragePart } from "./sections/coverage.ts";
import { figuresPart } from "./sections/charts.ts";
import { findingsPart } from "./sections/findings.ts";
import { loadPart } from "./sections/load.ts";
import { type Html, html } from "./markup.ts";
import { renderPage } from "./page.ts";
import { reportStyle } from "./report-style.ts";
import { reportScript } from "./script.ts";
import { observationsPart, readingsPart } from "./sections/observations.ts";
import { baseStyle } from "./base-style.ts";
import { traceabilityPart } from "./sections/traceability.ts";
import { fixPart, verdictPart } from "./sections/verdict.ts";
import { viewOf } from "./page-context.ts";

/** A part of the page under a heading of its own; empty where the report has nothing to say there. */
interface Part {
  readonly anchor: string;
  readonly name: string;
  readonly body: Html;
}

/** A report as one page for people: it stands alone, asks for nothing over the network, and can be read without its script. */
export function renderHtml(document: ReportDocument): string {
  const view = viewOf(document);
  const { report } = view;
  const parts: readonly Part[] = [
    { anchor: "fix", name: "To fix", body: fixPart(report) },
    { anchor: "load", name: "Load", body: loadPart(view) },
    { anchor: "findings", name: "Findings", body: findingsPart(view) },
    { anchor: "limits", name: "Limits and times", body: figuresPart(document) },
    { anchor: "gaps", name: "Where the document is silent", body: observationsPart(report) },
    { anchor: "readings", name: "Readings", body: readingsPart(report) },
    { anchor: "coverage", name: "How much was looked at", body: coveragePart(report) },
    { anchor: "skipped", name: "Not exercised", body: skippedPart(report) },
    { anchor: "traceability", name: "Traceability", body: traceabilityPart(report) },
    { anchor: "created", name: "Left on the target", body: createdPart(report) },
    { anchor: "about", name: "About", body: aboutPart(report) },
  ];
  const name = sanitizeLine(report.target.name, 80);
  return renderPage({
    title: `${name}: ${report.verdict} · Agent Hosting conformance`,
    styles: [baseStyle, chartStyle, reportStyle],
    script: reportScript,
    body: bodyOf(
      document,
      parts.filter(({ body }) => body.source !== ""),
    ),
  });
}

function bodyOf({ report }: ReportDocument, parts: readonly Part[]): Html {
  const { target, started, suite, load } = report;
  return html`<a class="skip-link" href="#content">Skip to the report</a>
    <header class="masthead wide">
      <p class="kicker">
        Agent Hosting Service Interface · ${load === undefined ? "conformance report" : "report of load"}
      </p>
      <h1>${sanitizeLine(target.name, 80)}</h1>
      <p class="target">${target.baseUrl !== "" && `${sanitizeLine(target.baseUrl, 200)} · `}${dayOf(started)}</p>
      ${verdictPart(report)}
    </header>
    <nav class="contents wide" aria-label="Contents">
      <ul>
        ${parts.map(({ anchor, name }) => html`<li><a href="#${anchor}">${name}</a></li>`)}
      </ul>
    </nav>
    <main id="content" tabindex="-1">${parts.map(({ body }) => body)}</main>
    <footer class="wide">
      <p>
        agent-hosting-conformance ${sanitizeLine(suite.version, 40)}. This page stands alone and sends nothing; keys are
        redacted in it.
      </p>
    </footer>
    <div id="announcement" role="status" aria-live="polite"></div>`;
}

/** `2030-01-01 00:00 UTC`. */
const dayOf = (instant: string): string =>
  sanitizeLine(instant, 40).replace(/^(\d{4}-\d\d-\d\d)T(\d\d:\d\d).*Z$/, "$1 $2 UTC");
