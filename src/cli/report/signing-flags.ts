import type { Command } from "commander";

import { readTextFile } from "../../base/read-file.ts";
import { line } from "../../base/line.ts";
import { UsageError } from "../../base/usage-error.ts";
import { type Subject, subjectAlgorithms, type StatementSigning } from "../../report/statement/attestation.ts";
import { parseSigningKey, type SigningKey } from "../../report/statement/signing-key.ts";
import { appendValue, readCount } from "../option-parsers.ts";

/** Flags that sign a statement. */
export interface SigningFlags {
  readonly signKey?: string;
  readonly subject?: readonly string[];
  readonly validDays?: string;
}

/** Flags that write a statement, or its page. */
interface StatementFlags {
  readonly statement?: string;
  readonly statementHtml?: string;
}

/** The environment variable that holds a private key in PEM. */
export const signingKeyVariable = "CONFORMANCE_SIGNING_KEY";

/** Adds the flags that sign a statement. */
export const withSigningOptions = (command: Command): Command =>
  command
    .option("--sign-key <file>", `private key (PEM) that signs the statement; or its text in ${signingKeyVariable}`)
    .option(
      "--subject <name=digest>",
      "what was deployed, for a signed statement: app=sha256:…, or gitCommit:… (repeatable)",
      (value: string, before: readonly string[] | undefined) => appendValue(value, before ?? []),
    )
    .option("--valid-days <n>", "days for which a signed statement counts (default: 90)");

/**
 * Reads the flags that sign a statement. Returns `null` if none is requested, or no key is given. Takes the key out of the environment, so
 * that no program that the command starts gets it.
 *
 * @throws {UsageError} if the key cannot be used, or a flag has no effect
 */
export function readSigning(
  { statement, statementHtml, signKey, subject = [], validDays }: SigningFlags & StatementFlags,
  environment: NodeJS.ProcessEnv,
): StatementSigning | null {
  const pem = environment[signingKeyVariable] ?? "";
  delete environment[signingKeyVariable];
  const flags = { "--sign-key": signKey, "--subject": subject[0], "--valid-days": validDays };
  const given = Object.entries(flags).find(([, value]) => value !== undefined)?.[0];
  if (statement === undefined && statementHtml === undefined) {
    if (given === undefined) return null;
    throw new UsageError(line`${given} is for a signed statement: give --statement FILE too.`);
  }
  const key = signKey === undefined ? keyInEnvironment(pem) : readSigningKey(signKey);
  if (key === null) {
    if (given === undefined) return null;
    throw new UsageError(line`${given} is for a signed statement: give --sign-key FILE, or set ${signingKeyVariable}.`);
  }
  return {
    key,
    subjects: subject.map(readSubject),
    ...(validDays !== undefined && { validDays: readDays(validDays) }),
  };
}

const maxValidDays = 3650;

function readDays(text: string): number {
  const days = readCount(text, "--valid-days");
  if (days <= maxValidDays) return days;
  throw new UsageError(line`--valid-days is ${days}; give at most ${maxValidDays}.`);
}

const keyInEnvironment = (pem: string): SigningKey | null =>
  pem.trim() === "" ? null : usableKey(pem, signingKeyVariable);

function readSigningKey(file: string): SigningKey {
  if (file.includes("-----BEGIN"))
    throw new UsageError(line`--sign-key has a key in place of a file. Give a file, or set ${signingKeyVariable}.`);
  return usableKey(readTextFile(file, "The signing key"), file);
}

function usableKey(pem: string, name: string): SigningKey {
  const key = parseSigningKey(pem);
  if (key.kind === "value") return key.value;
  throw new UsageError(line`The signing key in ${name} ${key.problem}.`);
}

function readSubject(text: string): Subject {
  const [, name = "", algorithm = "", digest = ""] = /^(.+)=([A-Za-z0-9]+):([0-9a-f]+)$/.exec(text) ?? [];
  const length = Object.entries(subjectAlgorithms).find(([known]) => known === algorithm)?.[1];
  if (digest.length === length) return { name, digest: { [algorithm]: digest } };
  const known = Object.entries(subjectAlgorithms).map(([other, digits]) => `${other} (${digits} digits)`);
  throw new UsageError(
    line`--subject must be NAME=ALGORITHM:DIGEST in lower-case hex, such as app=sha256:…; algorithms: ${known.join(", ")}.`,
  );
}
