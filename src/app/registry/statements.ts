import { type Dirent, readdirSync, readFileSync, statSync } from "node:fs";
import { plainNetwork } from "../../base/network/network.ts";
import { line, UsageError } from "../../base/line.ts";
import type { RegistryEntry } from "../../report/registry/entry.ts";
import { expiryOf, type PageSignature } from "../../report/statement/attestation.ts";
import type { Statement } from "../../report/statement/statement-schema.ts";
import { sha256Of } from "../../report/statement/statement.ts";
import { UseCaseError } from "../use-case-error.ts";
import { readKeys, type Seal } from "../verify/read-inputs.ts";
import type { PossibleMessages } from "../verify/compare-with-report.ts";
import { isSameDeployment, supersessionProblems, verifyStatement } from "../verify/verify-statement.ts";
import { dayOf } from "../../base/duration.ts";
import { join, relative } from "node:path";

interface FoundStatement {
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

interface FoundStatements {
  readonly vendors: readonly FoundVendor[];
  readonly problems: readonly RegistryProblem[];
}

const keysFileName = "keys.json";
/** Pattern of a vendor's folder name, which becomes part of URLs. Lower-case names cannot collide on any file system. */
const vendorName = /^[a-z\d][a-z\d-]*$/;
/** Pattern of a version. A version that ends in `.json` or `.html` could collide with another file of the site. */
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

/** Error for a link or device. A symbolic link in a pull request could lead to any file of the building machine. */
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

export interface VerifiedStatement {
  readonly found: FoundStatement;
  readonly entry: RegistryEntry;
}

export interface RegistryVerifyOptions {
  readonly messages: PossibleMessages;
  readonly now: Date;
}

export async function verifyStatements(vendor: FoundVendor, options: RegistryVerifyOptions) {
  const name = await unlessBroken(`${vendor.folder}/keys.json`, async () => nameIn(vendor));
  if ("reason" in name) return { statements: [], problems: [name] };
  const results: (VerifiedStatement | RegistryProblem)[] = [];
  for (const found of vendor.statements) {
    const path = `${vendor.folder}/${found.version}.json`;
    results.push(await unlessBroken(path, async () => verifyOne(vendor, found, name, options)));
  }
  const statements = results.filter((each) => "entry" in each);
  const problems = results.filter((each) => "reason" in each);
  return { statements: withNewer(statements), problems };
}

async function nameIn({ folder, keys }: FoundVendor): Promise<{ readonly name: string }> {
  const [first] = keys === null ? [] : await readKeys(keys, plainNetwork);
  return { name: first?.vendor ?? folder };
}

async function unlessBroken<T>(path: string, read: () => Promise<T>): Promise<T | RegistryProblem> {
  try {
    return await read();
  } catch (error) {
    if (error instanceof UsageError || error instanceof UseCaseError) return { path, reason: error };
    throw error;
  }
}

async function verifyOne(
  { folder, keys }: FoundVendor,
  found: FoundStatement,
  { name }: { readonly name: string },
  { messages, now }: RegistryVerifyOptions,
): Promise<VerifiedStatement | RegistryProblem> {
  const { file, version, report } = found;
  const { published, signature, mismatches } = await verifyStatement({
    statementFile: file,
    report,
    keys: keys === null ? [] : [keys],
    policy: null,
    also: [],
    network: plainNetwork,
    messages,
    // Verifies as of 1970, so that no statement counts as expired. The site itself marks expired statements.
    now: new Date(0),
  });
  const { statement, seal } = published;
  const [first, ...more] = [...mismatches, ...futureOf(statement, now)];
  if (first !== undefined)
    return {
      path: `${folder}/${version}.json`,
      reason: more.length === 0 ? first : `${first} (and ${more.length} more: \`conformance verify\` lists them)`,
    };
  const entry = {
    folder,
    version,
    vendor: name,
    statement,
    signature: seal === null ? null : signatureOf(seal),
    isSignedByVendor: signature.kind === "valid",
    expires: seal?.expires ?? expiryOf(statement.finished).toISOString(),
    supersededBy: null,
    newer: null,
    hasReport: report !== null,
    sha256: sha256Of(readFileSync(file)),
  };
  return { found, entry };
}

/** Returns a problem if a statement's run ended in the future: the statement would always count as the newest. */
const futureOf = ({ finished }: Statement, now: Date): string[] =>
  Date.parse(finished) > now.getTime() ? [`finished: the run ended on ${dayOf(finished)}, which is yet to come`] : [];

const signatureOf = ({ envelope, subjects, expires }: Seal): PageSignature => ({
  keyId: envelope.signatures.map(({ keyid }) => keyid).join(", "),
  subjects,
  expires,
});

function withNewer(statements: readonly VerifiedStatement[]): VerifiedStatement[] {
  const sorted = statements.toSorted((one, other) => finishedMs(other) - finishedMs(one));
  return sorted.map(({ found, entry }) => {
    const later = sorted.filter((other) => finishedMs(other) > finishedMs({ entry }));
    const superseding = later.find(({ entry: { version: file, statement } }) => {
      const known = [{ file, statement, isTrusted: true }];
      return supersessionProblems(entry.statement, known).length > 0;
    });
    const newer = later.find((other) => isSameSubject(other.entry.statement, entry.statement));
    const versionOf = (other: VerifiedStatement | undefined): string | null => other?.entry.version ?? null;
    return { found, entry: { ...entry, supersededBy: versionOf(superseding), newer: versionOf(newer) } };
  });
}

const finishedMs = ({ entry }: Pick<VerifiedStatement, "entry">): number => Date.parse(entry.statement.finished);

const isSameSubject = (one: Statement, other: Statement): boolean =>
  isSameDeployment(one, other) && one.kind === other.kind;
