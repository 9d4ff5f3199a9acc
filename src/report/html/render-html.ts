import { sanitizeLine } from "../../base/sanitize.ts";
import type { ReportDocument } from "../model/report.ts";
import { pickSections, reportSections } from "../model/report-sections.ts";
import type { SectionName } from "../model/section.ts";
import { renderSection } from "./render-section.ts";
import { type Html, html } from "./markup.ts";
import { renderPage } from "./page.ts";
import { pageContextOf } from "./sections/evidence.ts";
import { reportStyle, reportScript } from "./report-assets.ts";
import { chartsSection, loadSection } from "./sections/measurements.ts";
import { findingsSection, traceabilitySection } from "./sections/findings.ts";
import { fixFirstSection, verdictBanner } from "./sections/verdict.ts";
import { chartStyle } from "./svg/chart.ts";

interface PageSection {
  readonly anchor: string;
  readonly name: string;
  readonly body: Html;
}

/** Renders a report as one HTML page that loads nothing over the network and is readable without its script. */
export function renderHtml(document: ReportDocument): string {
  const context = pageContextOf(document);
  const { report } = context;
  const sections = reportSections(report);
  const generic = (...names: readonly SectionName[]): PageSection[] =>
    pickSections(sections, names).map((section) => ({
      anchor: section.name,
      name: section.title,
      body: renderSection(section, context.anchorOf),
    }));
  const parts: readonly PageSection[] = [
    { anchor: "fix", name: "To fix", body: fixFirstSection(context, sections) },
    ...generic("recording", "profiles"),
    { anchor: "load", name: "Load", body: loadSection(document, sections, context.anchorOf) },
    { anchor: "findings", name: "Findings", body: findingsSection(context) },
    { anchor: "limits", name: "Limits and times", body: chartsSection(document) },
    ...generic("observations", "readings", "coverage", "streaming", "skipped", "upcoming"),
    { anchor: "traceability", name: "Traceability", body: traceabilitySection(context) },
    ...generic("created", "about"),
  ];
  const name = sanitizeLine(report.target.name, 80);
  return renderPage({
    title: `${name}: ${report.verdict} · Agent Hosting conformance`,
    styles: [chartStyle, reportStyle],
    script: reportScript,
    body: reportBody(
      document,
      parts.filter(({ body }) => body.source !== ""),
    ),
  });
}

function reportBody({ report }: ReportDocument, parts: readonly PageSection[]): Html {
  const { target, started, suite, load } = report;
  return html`<a class="skip-link" href="#content">Skip to the report</a>
    <header class="masthead wide">
      <p class="kicker">
        Agent Hosting Service Interface · ${load === undefined ? "conformance report" : "report of load"}
      </p>
      <h1>${sanitizeLine(target.name, 80)}</h1>
      <p class="target">
        ${target.baseUrl !== "" && `${sanitizeLine(target.baseUrl, 200)} · `}${formatMinute(started)}
      </p>
      ${verdictBanner(report)}
    </header>
    <nav class="contents wide" aria-label="Contents">
      <ul>
        ${parts.map(({ anchor, name }) => html`<li><a href="#${anchor}">${name}</a></li>`)}
      </ul>
    </nav>
    <main id="content" tabindex="-1">${parts.map(({ body }) => body)}</main>
    <footer class="wide">
      <p>
        agent-hosting-conformance ${sanitizeLine(suite.version, 40)}, requirement set
        ${sanitizeLine(suite.requirements, 40)}. This page stands alone and sends nothing; keys are redacted in it.
      </p>
    </footer>
    <div id="announcement" role="status" aria-live="polite"></div>`;
}

const formatMinute = (instant: string): string =>
  sanitizeLine(instant, 40).replace(/^(\d{4}-\d\d-\d\d)T(\d\d:\d\d).*Z$/, "$1 $2 UTC");
