import { isDeepStrictEqual } from "node:util";
import { dirname, resolve } from "node:path";

import type { z } from "zod";
import { request } from "undici";

import { isObject } from "../../base/json.ts";
import { errorCodeOrText } from "../../base/errors.ts";
import { line, UsageError } from "../../base/line.ts";
import { parseAs } from "../../base/parsing.ts";
import { parseJsonFile, readTextFile } from "../../base/read-file.ts";
import {
  attestationDifferences,
  attestationSchema,
  partsOfAttestation,
  type Subject,
} from "../../report/statement/attestation.ts";
import {
  type Envelope,
  envelopeSchema,
  keyListSchema,
  parseKeyList,
  payloadOf,
  type VendorKey,
} from "../../report/statement/signatures.ts";
import { type Statement, statementSchema } from "../../report/statement/statement-schema.ts";
import { UseCaseError } from "../use-case-error.ts";
import { openDispatchers } from "../../base/network/dispatchers.ts";
import { isLoopback, type Network } from "../../base/network/network.ts";
import { notationOf, parseSource } from "../../base/source/source.ts";
import { type Policy, policySchema } from "../../report/statement/policy-schema.ts";

export interface PublishedStatement {
  readonly statement: Statement;
  /** The signed envelope of the statement; `null` if the statement is unsigned. */
  readonly seal: Seal | null;
}

export interface Seal {
  readonly envelope: Envelope;
  readonly subjects: readonly Subject[];
  readonly expires: string;
  readonly contradictions: readonly string[];
}

/** Reads a statement, unsigned or signed. Does not check the signature. */
export function readStatement(file: string): PublishedStatement {
  const text = readTextFile(file, "The statement");
  const raw = parseJsonFile(text, file);
  if (!isObject(raw) || !("payload" in raw))
    return { statement: parseStrictly(text, raw, statementSchema, file), seal: null };
  const envelope = parseStrictly(text, raw, envelopeSchema, file);
  const name = `${file} (payload)`;
  const payload = payloadOf(envelope).toString("utf8");
  const attestation = parseStrictly(payload, parseJsonFile(payload, name), attestationSchema, name);
  const { statement, subjects, expires } = partsOfAttestation(attestation);
  return { statement, seal: { envelope, subjects, expires, contradictions: attestationDifferences(attestation) } };
}

function parseStrictly<T>(text: string, raw: unknown, schema: z.ZodType<T>, file: string): T {
  const parsed = parseAs(raw, schema);
  if (parsed.kind === "value" && isDeepStrictEqual(raw, parsed.value) && hasNoDuplicateFields(text, raw))
    return parsed.value;
  if (parsed.kind === "value") throw new UseCaseError({ kind: "rewritten statement", file });
  throw new UsageError(line`${file} is not a conformance statement: ${parsed.problem}. Is it of this version?`);
}

const hasNoDuplicateFields = (text: string, raw: unknown): boolean =>
  withoutWhiteSpace(text) === withoutWhiteSpace(JSON.stringify(raw));

const withoutWhiteSpace = (text: string): string => text.replace(/\s+/g, "");

export async function readKeys(place: string, network: Network): Promise<readonly VendorKey[]> {
  const isUrl = /^[a-z][a-z\d+.-]*:\/\//i.test(place);
  const text = isUrl ? await fetchKeys(readUrl(place), network) : readTextFile(place, "The list of keys");
  const parsed = parseAs(parseJsonFile(text, place), keyListSchema);
  const keys = parsed.kind === "value" ? parseKeyList(parsed.value) : parsed;
  if (keys.kind === "value") return keys.value;
  throw new UsageError(line`${place} is not a list of keys: ${keys.problem}.`);
}

function readUrl(place: string): string {
  const url = URL.parse(place);
  if (url?.protocol === "https:" || (url?.protocol === "http:" && isLoopback(place))) return place;
  throw new UsageError(
    line`--keys is ${place}. Give a file or an https URL: over http, somebody on the way could put other keys in.`,
  );
}

const timeoutMs = 10_000;
const maxBytes = 1024 * 1024;

async function fetchKeys(url: string, network: Network): Promise<string> {
  const dispatchers = openDispatchers(network, { connectMs: timeoutMs, idleTimeoutMs: timeoutMs });
  try {
    const { statusCode, body } = await request(url, {
      dispatcher: dispatchers.of(url),
      signal: AbortSignal.timeout(timeoutMs),
      headers: { accept: "application/json" },
    });
    if (statusCode === 200) return await readAtMost(body, url);
    const where =
      statusCode >= 300 && statusCode < 400 ? " Give the address that it leads to, if it is the vendor's." : "";
    throw new UsageError(line`The list of keys cannot be read: ${url} answers ${statusCode}.${where}`);
  } catch (error) {
    if (error instanceof UsageError) throw error;
    throw new UsageError(line`The list of keys cannot be read: ${url} (${errorCodeOrText(error)}).`);
  } finally {
    await dispatchers.close();
  }
}

async function readAtMost(body: AsyncIterable<Uint8Array>, url: string): Promise<string> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of body) {
    chunks.push(chunk);
    bytes += chunk.length;
    if (bytes > maxBytes) throw new UsageError(line`The list of keys at ${url} exceeds 1 MiB.`);
  }
  return Buffer.concat(chunks).toString("utf8");
}

/** Reads a buyer's policy, in JSON or YAML. Paths in the policy are relative to the policy's folder. */
export function readPolicy(file: string): Policy {
  const notation = notationOf(file);
  if (notation === null)
    throw new UsageError(line`${file} ends in none of .json, .yaml and .yml, so its notation is not known.`);
  const source = parseSource(readTextFile(file, "The policy"), notation);
  if (source.kind === "problem")
    throw new UsageError(line`${file}:${source.place.line}:${source.place.column}: the policy ${source.problem}.`);
  const parsed = parseAs(source.value, policySchema);
  if (parsed.kind === "problem") throw new UsageError(line`${file} is not a policy: ${parsed.problem}.`);
  const { signers, ...others } = parsed.value;
  if (signers === undefined) return others;
  return {
    ...others,
    signers: signers.map((signer) =>
      signer.keys === undefined || signer.keys.includes("://")
        ? signer
        : { ...signer, keys: resolve(dirname(file), signer.keys) },
    ),
  };
}
