import { readFileSync } from "node:fs";

import { plainNetwork } from "../../base/network/network.ts";
import { UsageError } from "../../base/usage-error.ts";
import type { RegistryEntry } from "../../report/registry/entry.ts";
import { expiryOf, type PageSignature } from "../../report/statement/attestation.ts";
import type { Statement } from "../../report/statement/statement-schema.ts";
import { sha256Of } from "../../report/statement/statement.ts";
import { UseCaseError } from "../use-case-error.ts";
import { readKeys, type Seal } from "../verify/read-inputs.ts";
import type { PossibleMessages } from "../verify/compare-with-report.ts";
import { isSameDeployment, supersedingStatements, verifyStatement } from "../verify/verify-statement.ts";
import type { FoundStatement, FoundVendor, RegistryProblem } from "./find-statements.ts";

export interface VerifiedStatement {
  readonly found: FoundStatement;
  readonly entry: RegistryEntry;
}

export interface VerifyingOptions {
  readonly messages: PossibleMessages;
  readonly now: Date;
}

export async function verifyStatements(vendor: FoundVendor, options: VerifyingOptions) {
  const keysPath = `${vendor.folder}/keys.json`;
  const name = await unlessBroken(keysPath, async () => nameIn(vendor));
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
  { messages, now }: VerifyingOptions,
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
    // Accepts expired statements, because the site shows that they have expired.
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

/** A statement from the future is a problem, because it would always be the newest. */
const futureOf = ({ finished }: Statement, now: Date): string[] =>
  Date.parse(finished) > now.getTime()
    ? [`finished: the run ended on ${finished.slice(0, 10)}, which is yet to come`]
    : [];

const signatureOf = ({ envelope, subjects, expires }: Seal): PageSignature => ({
  keyId: envelope.signatures.map(({ keyid }) => keyid).join(", "),
  subjects,
  expires,
});

function withNewer(statements: readonly VerifiedStatement[]): VerifiedStatement[] {
  const sorted = statements.toSorted((one, other) => finishedMs(other) - finishedMs(one));
  return sorted.map(({ found, entry }) => {
    const later = sorted.filter((other) => finishedMs(other) > finishedMs({ entry }));
    const red = later.find(({ entry: { version: file, statement } }) => {
      const known = [{ file, statement, isTrusted: true }];
      return supersedingStatements(entry.statement, known).length > 0;
    });
    const newer = later.find((other) => isSameSubject(other.entry.statement, entry.statement));
    const versionOf = (other: VerifiedStatement | undefined): string | null => other?.entry.version ?? null;
    return { found, entry: { ...entry, supersededBy: versionOf(red), newer: versionOf(newer) } };
  });
}

const finishedMs = ({ entry }: Pick<VerifiedStatement, "entry">): number => Date.parse(entry.statement.finished);

const isSameSubject = (one: Statement, other: Statement): boolean =>
  isSameDeployment(one, other) && one.kind === other.kind;
