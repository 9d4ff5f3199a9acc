import { isDeepStrictEqual } from "node:util";
import type { z } from "zod";

import { isObject } from "../../base/json.ts";
import { line } from "../../base/line.ts";
import { parseAs } from "../../base/parsing.ts";
import { parseJsonFile, readTextFile } from "../../base/read-file.ts";
import { UsageError } from "../../base/usage-error.ts";
import {
  attestationDifferences,
  attestationSchema,
  partsOfAttestation,
  type Subject,
} from "../../report/statement/attestation.ts";
import { type Envelope, envelopeSchema, payloadOf } from "../../report/statement/envelope.ts";
import { type Statement, statementSchema } from "../../report/statement/statement-schema.ts";
import { UseCaseError } from "../use-case-error.ts";

/** A statement as a vendor published it: plain, or in a signed envelope. */
export interface PublishedStatement {
  readonly statement: Statement;
  /** The parts that only a signed statement has; `null` if it is not signed. */
  readonly seal: Seal | null;
}

/** The parts of a signed statement that an unsigned one does not have. */
export interface Seal {
  readonly envelope: Envelope;
  /** Deployed images, packages and commits, by name and digest. */
  readonly subjects: readonly Subject[];
  /** When the statement expires, in ISO 8601. */
  readonly expires: string;
  /** A line of text for each field of the envelope that contradicts the statement in it. */
  readonly contradictions: readonly string[];
}

/**
 * Reads a statement, plain or in a signed DSSE envelope. Does not check the signature.
 *
 * @throws {UsageError} if the file cannot be read, or is neither
 * @throws {UseCaseError} if a parser could read it in two ways
 */
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

/**
 * Whether no JSON object in a text has two fields with the same name. A parser would use one of them, and a person
 * might read the other.
 */
const hasNoDuplicateFields = (text: string, raw: unknown): boolean =>
  withoutWhiteSpace(text) === withoutWhiteSpace(JSON.stringify(raw));

const withoutWhiteSpace = (text: string): string => text.replace(/\s+/g, "");
