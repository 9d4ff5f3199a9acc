import type { Network } from "../../base/network/network.ts";
import { checkSignatures } from "../../report/statement/check-signatures.ts";
import type { VendorKey } from "../../report/statement/key-list.ts";
import { compareWithReport, type ReportComparison } from "./compare-with-report.ts";
import { readKeys } from "./read-keys.ts";
import { type PublishedStatement, readStatement } from "./read-statement.ts";
import type { PossibleMessages } from "./rejudge-report.ts";

/** Inputs for checking a statement. */
export interface VerifyOptions {
  readonly statementFile: string;
  /** Folder of the report, or the `report.json` in it; `null` for none. */
  readonly report: string | null;
  /** Files or URLs of vendors' lists of keys. */
  readonly keys: readonly string[];
  /** The connection to the URLs. */
  readonly network: Network;
  /** Messages of the command line and of the library, either of which may have written the report. */
  readonly messages: PossibleMessages;
  /** Decides whether the statement has expired. */
  readonly now: Date;
}

/** The result of checking a statement. */
export interface Verification {
  readonly published: PublishedStatement;
  readonly signature: SignatureState;
  /** A line for each mismatch. If there are none, the statement is verified. */
  readonly mismatches: readonly string[];
  /** Sentences on how the checks were made, and on what was not checked. */
  readonly notes: readonly string[];
}

/** Whose signature a statement has. `unchecked`: no list of keys was given. */
export type SignatureState =
  | { readonly kind: "unsigned" | "unchecked" | "refused" }
  | { readonly kind: "valid"; readonly signers: readonly VendorKey[] };

/**
 * Verifies a statement: its signature must be of a key in the lists, and it must match its report and evidence. Whatever is not given is not
 * checked, and a note says so.
 *
 * @throws {UsageError} if one of the files cannot be read
 */
export async function verify(options: VerifyOptions): Promise<Verification> {
  const published = readStatement(options.statementFile);
  const lists = await Promise.all(options.keys.map((place) => readKeys(place, options.network)));
  const signature = signatureOf(published, lists.length === 0 ? null : lists.flat());
  const compared = comparisonOf(published, options);
  return {
    published,
    signature: signature.state,
    mismatches: [...signature.mismatches, ...ownMismatches(published, options.now), ...compared.mismatches],
    notes: [...signature.notes, ...compared.notes],
  };
}

interface CheckedSignature extends ReportComparison {
  readonly state: SignatureState;
}

function signatureOf({ seal }: PublishedStatement, keys: readonly VendorKey[] | null): CheckedSignature {
  if (seal === null) {
    const mismatches = keys === null ? [] : ["signature: the statement is unsigned, so no key can show whose it is"];
    return { state: { kind: "unsigned" }, mismatches, notes: [] };
  }
  if (keys === null) return { state: { kind: "unchecked" }, mismatches: [], notes: [] };
  const { signers, problems, notes } = checkSignatures(seal.envelope, keys);
  const state = problems.length === 0 ? { kind: "valid" as const, signers } : { kind: "refused" as const };
  return { state, mismatches: problems, notes };
}

/** Lists what is wrong with a statement by itself: it expired, or its fields contradict each other. */
function ownMismatches({ seal }: PublishedStatement, now: Date): string[] {
  if (seal === null) return [];
  const isExpired = now.getTime() >= Date.parse(seal.expires);
  return [
    ...(isExpired ? [`expires: the statement expired on ${seal.expires.slice(0, 10)}. Ask for a newer one`] : []),
    ...seal.contradictions,
  ];
}

function comparisonOf({ statement }: PublishedStatement, { report, messages }: VerifyOptions): ReportComparison {
  if (report !== null) return compareWithReport(statement, report, messages);
  return { mismatches: [], notes: ["No report was given, so nothing was compared with it."] };
}
