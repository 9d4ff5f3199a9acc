import { sanitizeLine } from "../../base/sanitize.ts";
import { type Html, html } from "../html/markup.ts";
import { pathsOf, profilesOf, type Registry, type RegistryEntry, verdictText } from "./entry.ts";

export const feedFileName = "feed.xml";

/**
 * Marks a feed that the `registry` command wrote. The command replaces a non-empty folder only if the feed contains
 * this mark.
 */
export const feedGenerator = html`<generator>agent-hosting-conformance registry</generator>`;

const maxEntries = 50;

/** Renders the Atom feed (RFC 4287) of a registry, newest run first; without `url`, links are relative. */
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
