import { readFileSync, existsSync, mkdirSync, readdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join, dirname } from "node:path";

import { type Registry, pathsOf, reasonsNotCurrent } from "../../report/registry/entry.ts";
import {
  findStatements,
  type FoundVendor,
  type RegistryProblem,
  type VerifiedStatement,
  type RegistryVerifyOptions,
  verifyStatements,
} from "./statements.ts";
import { feedFileName, feedGenerator, renderRegistryFeed, renderRegistryPage } from "../../report/registry/page.ts";
import { renderHtml } from "../../report/html/render-html.ts";
import { renderStatementPage } from "../../report/statement/page.ts";
import { readReportDocument } from "../report-folder/saved-report.ts";
import { followLinks, temporaryName } from "../../base/files/output-folders.ts";

export interface RegistryBuildOptions extends RegistryVerifyOptions {
  readonly registry: string;
  readonly site: string;
  readonly url: string | null;
}

export type BuiltRegistry =
  | { readonly kind: "built"; readonly registry: Registry }
  | { readonly kind: "broken"; readonly problems: readonly RegistryProblem[] };

export async function buildRegistry(options: RegistryBuildOptions): Promise<BuiltRegistry> {
  const found = findStatements(options.registry);
  const verified = await Promise.all(found.vendors.map((vendor) => verifyStatements(vendor, options)));
  const problems = [...found.problems, ...verified.flatMap((each) => each.problems)];
  if (problems.length > 0) return { kind: "broken", problems };
  const statements = verified.flatMap((each) => each.statements);
  const registry = { entries: statements.map(({ entry }) => entry), now: options.now, url: options.url };
  writeSite(options.site, siteFiles(registry, statements, found.vendors));
  return { kind: "built", registry };
}

/** A file of a registry site. `content` is called only when the file is written, because reports need much memory. */
interface SiteFile {
  readonly path: string;
  readonly content: () => string | Uint8Array;
}

/** Lists the files of a registry site. Vendors' own HTML pages are not copied, because they could contain any script. */
const siteFiles = (
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
    { path: page, content: () => renderStatementPage(statement, signature, reasonsNotCurrent(entry, now)) },
  ];
}

function reportFiles({ found: { report }, entry }: VerifiedStatement): SiteFile[] {
  if (report === null) return [];
  const { folder, version, statement } = entry;
  return [
    { path: pathsOf(entry).report, content: () => renderHtml(readReportDocument(report)) },
    ...statement.evidence.map(({ file }) => copyOf(join(report, file), `${folder}/${version}/${file}`)),
  ];
}

/** Whether a registry site may replace a folder. The folder must be missing, empty, or an earlier site. */
export function isReplaceable(folder: string): boolean {
  if (!existsSync(folder) || readdirSync(folder).length === 0) return true;
  const feed = join(folder, feedFileName);
  return existsSync(feed) && readFileSync(feed, "utf8").includes(feedGenerator.source);
}

/** Replaces the site in a folder. If a file cannot be rendered or written, the old site stays unchanged. */
function writeSite(folder: string, files: readonly SiteFile[]): void {
  const place = followLinks(folder);
  const draft = join(dirname(place), temporaryName());
  try {
    for (const { path, content } of files) {
      mkdirSync(dirname(join(draft, path)), { recursive: true });
      writeFileSync(join(draft, path), content());
    }
    replaceFolder(place, draft);
  } finally {
    rmSync(draft, { recursive: true, force: true });
  }
}

function replaceFolder(place: string, draft: string): void {
  if (!existsSync(place)) return renameSync(draft, place);
  const old = join(dirname(place), temporaryName());
  renameSync(place, old);
  try {
    renameSync(draft, place);
  } catch (error) {
    renameSync(old, place);
    throw error;
  }
  rmSync(old, { recursive: true });
}
