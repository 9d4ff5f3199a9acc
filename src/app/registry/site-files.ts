import { readFileSync } from "node:fs";
import { join } from "node:path";

import { pathsOf, type Registry, standingOf } from "../../report/registry/entry.ts";
import { feedFileName, renderRegistryFeed } from "../../report/registry/feed.ts";
import { renderRegistryPage } from "../../report/registry/page.ts";
import { renderHtml } from "../../report/html/render-html.ts";
import { renderStatementPage } from "../../report/statement/page.ts";
import { readReportDocument } from "../report-folder/read-report-document.ts";
import type { FoundVendor } from "./find-statements.ts";
import type { VerifiedStatement } from "./verify-statements.ts";

/** A file of a site. Its content is made only when it is written, because reports are large. */
export interface SiteFile {
  readonly path: string;
  readonly content: () => string | Uint8Array;
}

/** Lists the files of a registry's site. Pages are rendered anew: those that a vendor has written could contain anything. */
export const siteFiles = (
  registry: Registry,
  statements: readonly VerifiedStatement[],
  vendors: readonly FoundVendor[],
): SiteFile[] => [
  { path: "index.html", content: () => renderRegistryPage(registry) },
  { path: feedFileName, content: () => renderRegistryFeed(registry) },
  ...vendors.flatMap(({ folder, keys }) => (keys === null ? [] : [copyOf(keys, `${folder}/keys.json`)])),
  ...statements.flatMap((each) => [...statementFiles(each, registry.now), ...reportFiles(each)]),
];

const copyOf = (source: string, path: string): SiteFile => ({ path, content: () => readFileSync(source) });

function statementFiles({ found, entry }: VerifiedStatement, now: Date): SiteFile[] {
  const { statement: path, page } = pathsOf(entry);
  const { statement, signature } = entry;
  return [
    copyOf(found.file, path),
    { path: page, content: () => renderStatementPage(statement, signature, standingOf(entry, now)) },
  ];
}

/** Returns the page of a report, and copies of the report and its evidence. `verify` has compared their digests. */
function reportFiles({ found: { report }, entry }: VerifiedStatement): SiteFile[] {
  if (report === null) return [];
  const { folder, version, statement } = entry;
  return [
    { path: pathsOf(entry).report, content: () => renderHtml(readReportDocument(report)) },
    ...statement.evidence.map(({ file }) => copyOf(join(report, file), `${folder}/${version}/${file}`)),
  ];
}
