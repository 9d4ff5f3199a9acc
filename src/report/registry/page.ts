import { coverageShares, formatShares } from "../model/profiles.ts";
import { verdictMarks } from "../model/verdict.ts";
import { sanitizeLine } from "../../base/sanitize.ts";
import { formatCount } from "../../base/text.ts";
import { profileNames } from "../../spec/profiles.ts";
import { prose, tableHead } from "../html/elements.ts";
import { type Html, html } from "../html/markup.ts";
import { renderPage } from "../html/page.ts";
import { verdictTexts } from "../html/sections/verdict.ts";
import type { StatementProfile } from "../statement/statement-schema.ts";
import {
  isCurrent,
  isExpired,
  pathsOf,
  profilesOf,
  reasonsNotCurrent,
  type Registry,
  type RegistryEntry,
  tiersOf,
  verdictText,
} from "./entry.ts";
import { dayOf } from "../../base/duration.ts";

export const feedFileName = "feed.xml";

/**
 * Marks a feed that the `registry` command wrote. The command replaces a non-empty folder only if the folder's feed
 * contains this mark.
 */
export const feedGenerator = html`<generator>agent-hosting-conformance registry</generator>`;

const maxEntries = 50;

/** Renders the Atom feed (RFC 4287) of a registry's 50 newest statements. Links are relative to `url`, if known. */
export function renderRegistryFeed({ entries, url, now }: Registry): string {
  const newest = entries.toSorted((one, other) => Date.parse(finishedOf(other)) - Date.parse(finishedOf(one)));
  const [first] = newest;
  const feed = html`<feed xmlns="http://www.w3.org/2005/Atom" ${url !== null && html` xml:base="${url}"`}>
    <id>${url ?? "urn:agent-hosting-conformance:registry"}</id>
    <title>Conformance registry</title>
    <updated>${first === undefined ? now.toISOString() : finishedOf(first)}</updated>
    <link rel="alternate" type="text/html" href="index.html" />
    ${url !== null && html`<link rel="self" type="application/atom+xml" href="${feedFileName}" />`} ${feedGenerator}
    ${newest.slice(0, maxEntries).map(entryElement)}
  </feed>`;
  return `<?xml version="1.0" encoding="utf-8"?>\n${feed.source}\n`;
}

const finishedOf = ({ statement }: RegistryEntry): string => statement.finished;

function entryElement(entry: RegistryEntry): Html {
  const { vendor, version, sha256, statement } = entry;
  const paths = pathsOf(entry);
  const profiles = profilesOf(entry).flatMap((each) => (each === null ? [] : [`${each.profile}: ${each.verdict}`]));
  const facts = [`${sanitizeLine(statement.target.baseUrl, 200)} is ${verdictText(entry)}`, ...profiles];
  return html`<entry>
    <id>urn:agent-hosting-conformance:statement:${sha256}</id>
    <title>${sanitizeLine(vendor, 80)} ${version}: ${statement.verdict}</title>
    <updated>${statement.finished}</updated>
    <author><name>${sanitizeLine(vendor, 80)}</name></author>
    <link rel="alternate" type="text/html" href="${paths.page}" />
    <link rel="related" type="application/json" href="${paths.statement}" />
    <summary>${facts.join(". ")}.</summary>
  </entry> `;
}

export function renderRegistryPage(registry: Registry): string {
  const { entries, now } = registry;
  const vendors = new Set(entries.map(({ folder }) => folder)).size;
  const current = entries.filter((entry) => isCurrent(entry, now)).length;
  return renderPage({
    title: "Conformance registry",
    styles: [pageStyle],
    script: pageScript,
    feed: feedFileName,
    body: html`<a class="skip-link" href="#content">Skip to the table</a>
      <header class="wide">
        <p class="muted">Agent Hosting Service Interface</p>
        <h1>Conformance registry</h1>
        <p class="lead">
          ${formatCount(entries.length, "statement")} of ${formatCount(vendors, "vendor")}, ${current} of them current
          on ${dayOf(now.toISOString())}. Each was verified when this site was made.
        </p>
      </header>
      <main id="content">
        <div class="controls">
          <span id="filter" hidden>
            <label>Search <input type="search" id="search" /></label>
            <button type="button" id="current-only" aria-pressed="false">Current only</button>
            <span id="shown" class="muted small" aria-live="polite"></span>
          </span>
          <a href="${feedFileName}">Feed of new statements (Atom)</a>
        </div>
        ${tableHtml(registry)}
        <p class="muted small">
          ✓ conformant: every must clause was exercised and held. ◐ partial: nothing is broken, and not everything was
          exercised. ✕ nonconformant. The numbers are must clauses exercised, of those of the profile. A statement says
          what its vendor's run found: the vendor's key shows who stands behind it.
        </p>
        <footer>Made by agent-hosting-conformance. The page loads nothing over the network.</footer>
      </main>`,
  });
}

const sortable = (text: string): Html => html`<th scope="col" data-sorts>${text}</th>`;

const tableHtml = ({ entries, now }: Registry): Html =>
  html`<div class="table-box" role="region" aria-label="Statements" tabindex="0">
    <table class="registry">
      ${tableHead(["Vendor and version", "Verdict", "Run ended", "Counts until", ...profileNames, "Tiers"].map(sortable))}
      <tbody>
        ${entries.map((entry) => rowHtml(entry, now))}
      </tbody>
    </table>
  </div>`;

function rowHtml(entry: RegistryEntry, now: Date): Html {
  const { vendor, version, statement, expires } = entry;
  const paths = pathsOf(entry);
  const files = [
    ["page", paths.page],
    ["statement", paths.statement],
    ...(entry.hasReport ? [["report", paths.report]] : []),
  ];
  const name = `${sanitizeLine(vendor, 80)} ${version}`;
  return html`<tr class="${isCurrent(entry, now) ? "current" : "not-current"}">
    <th scope="row" data-key="${name}">
      <a href="${paths.page}">${name}</a>
      <span class="at">${judgedHtml(entry)}</span>
      <span class="at">${signatureText(entry)}</span>
      <span class="at files">
        ${files.map(
          ([kind = "", path = ""]) =>
            html`<a href="${path}">${kind}<span class="visually-hidden"> of ${name}</span></a> `,
        )}
      </span>
    </th>
    ${verdictCell(entry, now)}
    <td class="nowrap">${dayOf(statement.finished)}</td>
    <td class="nowrap">${isExpired(entry, now) ? `expired ${dayOf(expires)}` : dayOf(expires)}</td>
    ${profilesOf(entry).map((profile) => profileCell(profile))}
    <td>${tiersText(entry)}</td>
  </tr>`;
}

const judgedHtml = ({ statement: { kind, party = "server", target } }: RegistryEntry): Html =>
  prose(
    [target.baseUrl, ...(party === "server" ? [] : [party]), ...(kind === "load" ? ["under load"] : [])].join(" · "),
    160,
  );

function verdictCell(entry: RegistryEntry, now: Date): Html {
  const { verdict } = entry.statement;
  const reasons = reasonsNotCurrent(entry, now);
  // Leaves out the share of must clauses, because the table has a column for each profile that shows it.
  const covered = formatShares({ ...coverageShares(entry.statement), musts: null });
  const isOver = !isCurrent(entry, now);
  const mark = html`<span class="badge${isOver ? "" : ` ${verdictTexts[verdict].tone}`}"
    >${isOver ? `was ${verdict}` : `${verdictMarks[verdict]} ${verdict}`}</span
  >`;
  return html`<td data-key="${verdict}">
    ${mark} ${covered !== "" && html`<span class="at">${covered}</span>`}
    ${reasons.map((reason) => html`<span class="why">${reason}</span>`)}
  </td>`;
}

function profileCell(profile: StatementProfile | null): Html {
  if (profile === null) return html`<td class="muted">not stated</td>`;
  const { verdict, musts, exercised } = profile;
  if (verdict === "not offered" || verdict === "not selected") return html`<td class="muted">${verdict}</td>`;
  return html`<td class="nowrap" data-key="${verdict} ${exercised}">
    <span class="mark ${verdictTexts[verdict].tone}" aria-hidden="true">${verdictMarks[verdict]}</span>
    <span class="visually-hidden">${verdict},</span> ${exercised}/${musts}
  </td>`;
}

const tiersText = (entry: RegistryEntry): string =>
  tiersOf(entry)
    .map(({ tier, failed }) => `${sanitizeLine(tier, 40)}${failed === 0 ? "" : ` (${failed} failed)`}`)
    .join(", ") || "unknown";

function signatureText({ signature, isSignedByVendor }: RegistryEntry): string {
  if (signature === null) return "unsigned";
  return isSignedByVendor ? "signed by the vendor" : "signed by an unknown key";
}

/** The style sheet of a registry's index page. It must come after `baseStyle`. */
const pageStyle = `
main, .wide { max-width: 96rem; }
header.wide { padding-block: 2rem 0; }
.lead { font-size: 1.05rem; color: var(--muted); }
.controls { display: flex; flex-wrap: wrap; gap: 0.6rem 1rem; align-items: center; padding: 0.7rem 0; }
.controls a { margin-left: auto; }
#filter { display: flex; flex-wrap: wrap; gap: 0.6rem; align-items: center; }
.controls label { display: flex; gap: 0.5rem; align-items: center; }
.table-box { position: relative; }
.registry td, .registry th { padding: 0.5rem 0.5rem; font-size: 0.88rem; }
.registry thead button { border: 0; background: none; padding: 0.2rem 0; font-weight: inherit; text-align: left; }
.registry [aria-sort="ascending"] button::after { content: " ▲"; }
.registry [aria-sort="descending"] button::after { content: " ▼"; }
.registry tbody th { min-width: 8.5rem; }
.registry .why, .registry .at { display: block; color: var(--muted); font-weight: 400; font-size: 0.84rem; }
.registry .at { overflow-wrap: anywhere; }
.registry .why { min-width: 8rem; }
.registry .files a { margin-right: 0.4rem; white-space: nowrap; }
.mark { font-weight: 700; }
.mark.pass { color: var(--pass); } .mark.fail { color: var(--fail); } .mark.warning { color: var(--warning); }
.not-current .mark { color: var(--muted); }
@media print {
  @page { size: landscape; }
  .registry td, .registry th { padding: 0.2rem 0.3rem; font-size: 7.5pt; white-space: normal; }
  .registry thead button { display: inline !important; }
  .registry tbody th, .registry .why { min-width: 0; }
}
`;

const pageScript = `
const table = document.querySelector(".registry");
const body = table.tBodies[0];
const rows = [...body.rows];
const search = document.querySelector("#search");
const currentOnly = document.querySelector("#current-only");
const texts = new Map(rows.map((row) => [row, row.textContent.toLowerCase()]));
const apply = () => {
  const words = search.value.toLowerCase().split(/\\s+/);
  const only = currentOnly.getAttribute("aria-pressed") === "true";
  for (const row of rows)
    row.hidden = (only && row.classList.contains("not-current")) || !words.every((word) => texts.get(row).includes(word));
  document.querySelector("#shown").textContent = rows.filter((row) => !row.hidden).length + " of " + rows.length + " shown";
};
const keyOf = (row, column) => row.cells[column].dataset.key ?? row.cells[column].textContent.trim();
const sortBy = (head, column) => {
  const direction = head.getAttribute("aria-sort") === "ascending" ? "descending" : "ascending";
  for (const each of table.tHead.rows[0].cells) each.removeAttribute("aria-sort");
  head.setAttribute("aria-sort", direction);
  const sign = direction === "ascending" ? 1 : -1;
  const compared = (one, other) => sign * keyOf(one, column).localeCompare(keyOf(other, column), "en", { numeric: true });
  body.append(...rows.toSorted(compared));
};
[...table.tHead.rows[0].cells].forEach((head, column) => {
  if (head.dataset.sorts === undefined) return;
  const button = document.createElement("button");
  button.type = "button";
  button.append(...head.childNodes);
  head.append(button);
  button.addEventListener("click", () => sortBy(head, column));
});
document.querySelector("#filter").hidden = false;
search.addEventListener("input", apply);
currentOnly.addEventListener("click", () => {
  currentOnly.setAttribute("aria-pressed", String(currentOnly.getAttribute("aria-pressed") !== "true"));
  apply();
});
apply();
`;
