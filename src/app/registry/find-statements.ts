import { type Dirent, readdirSync, statSync } from "node:fs";
import { join, relative } from "node:path";

import { line } from "../../base/line.ts";
import { UsageError } from "../../base/usage-error.ts";

export interface FoundStatement {
  /** Name of the statement's file, without `.json`. */
  readonly version: string;
  readonly file: string;
  readonly report: string | null;
}

export interface FoundVendor {
  readonly folder: string;
  readonly keys: string | null;
  readonly statements: readonly FoundStatement[];
}

export interface RegistryProblem {
  readonly path: string;
  readonly reason: string | Error;
}

export interface FoundStatements {
  readonly vendors: readonly FoundVendor[];
  readonly problems: readonly RegistryProblem[];
}

const keysFileName = "keys.json";
/** Vendors' names become URLs and file names. Lower-case names cannot collide on any file system. */
const vendorName = /^[a-z\d][a-z\d-]*$/;
/** A version that ends in `.json` or `.html` could collide with another file of the site. */
const versionName = /^[A-Za-z\d](?!.*\.(json|html)$)[\w.-]*$/;

/**
 * Finds the statements of all vendors. A vendor's folder can hold `VERSION.json` (the statement), `VERSION/` (its
 * report) and `keys.json`.
 */
export function findStatements(registry: string): FoundStatements {
  if (statSync(registry, { throwIfNoEntry: false })?.isDirectory() !== true)
    throw new UsageError(line`${registry} is no folder. Give the folder that holds a folder for each vendor.`);
  const folders = entriesOf(registry).filter((entry) => !entry.isFile());
  if (folders.length === 0)
    throw new UsageError(line`${registry} holds no folder of a vendor. Put statements there, such as acme/1.2.0.json.`);
  const found = folders.map((entry) => vendorIn(registry, entry));
  return { vendors: found.flatMap(({ vendors }) => vendors), problems: found.flatMap(({ problems }) => problems) };
}

const entriesOf = (folder: string): Dirent[] =>
  readdirSync(folder, { withFileTypes: true })
    .filter(({ name }) => !name.startsWith("."))
    .toSorted((one, other) => (one.name < other.name ? -1 : 1));

function vendorIn(registry: string, entry: Dirent): FoundStatements {
  const folder = entry.name;
  const problem = (path: string, reason: string): FoundStatements => ({ vendors: [], problems: [{ path, reason }] });
  if (!entry.isDirectory()) return problem(folder, notPlain);
  if (!vendorName.test(folder))
    return problem(folder, "the name of a vendor's folder has small letters, digits and hyphens only");
  const path = join(registry, folder);
  const special = specialFileIn(path);
  if (special !== null) return problem(join(folder, special), notPlain);
  const entries = entriesOf(path);
  return {
    vendors: [contentOf(path, folder, entries)],
    problems: problemsIn(entries).map(({ path: name, reason }) => ({ path: join(folder, name), reason })),
  };
}

/** A symbolic link in a stranger's pull request could lead to any file of the machine that builds the site. */
const notPlain = "is neither a file nor a folder, but a link or a device. Put the file itself there";

function specialFileIn(folder: string): string | null {
  const special = readdirSync(folder, { withFileTypes: true, recursive: true }).find(
    (each) => !each.isFile() && !each.isDirectory(),
  );
  return special === undefined ? null : relative(folder, join(special.parentPath, special.name));
}

const versionsIn = (entries: readonly Dirent[]): string[] =>
  entries
    .filter((each) => each.isFile() && each.name.endsWith(".json") && each.name !== keysFileName)
    .map(({ name }) => name.slice(0, -".json".length));

function contentOf(path: string, folder: string, entries: readonly Dirent[]): FoundVendor {
  const names = new Set(entries.map(({ name }) => name));
  return {
    folder,
    keys: names.has(keysFileName) ? join(path, keysFileName) : null,
    statements: versionsIn(entries)
      .filter((version) => versionName.test(version))
      .map((version) => ({
        version,
        file: join(path, `${version}.json`),
        report: names.has(version) ? join(path, version) : null,
      })),
  };
}

function problemsIn(entries: readonly Dirent[]): RegistryProblem[] {
  const versions = versionsIn(entries);
  const wrong = versions.filter((version) => !versionName.test(version));
  const reports = entries.filter((each) => each.isDirectory() && !versions.includes(each.name));
  return [
    ...(versions.length === 0 ? [{ path: "", reason: "holds no statement, such as 1.2.0.json" }] : []),
    ...wrong.map((version) => ({
      path: `${version}.json`,
      reason:
        "the name of a version has letters, digits, points, hyphens and underscores, and ends in no .json or .html",
    })),
    ...reports.map(({ name }) => ({ path: name, reason: `is a report without its statement ${name}.json` })),
  ];
}
