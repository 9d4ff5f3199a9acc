import type { Network } from "../../base/network/network.ts";
import { checkSignatures } from "../../report/statement/check-signatures.ts";
import { judgePolicy, type RuleResult } from "../../report/statement/judge-policy.ts";
import type { VendorKey } from "../../report/statement/key-list.ts";
import type { Policy } from "../../report/statement/policy-schema.ts";
import { compareWithReport, type ReportComparison } from "./compare-with-report.ts";
import { readKeys } from "./read-keys.ts";
import { type PublishedStatement, readStatement } from "./read-statement.ts";
import type { PossibleMessages } from "./rejudge-report.ts";
import { supersedingStatements } from "./superseded.ts";

/** Inputs for checking a statement. */
export interface VerifyOptions {
  readonly statementFile: string;
  /** Folder of the report, or the `report.json` in it; `null` for none. */
  readonly report: string | null;
  /** Files or URLs of vendors' lists of keys. */
  readonly keys: readonly string[];
  /** The rules of a buyer; `null` for none. */
  readonly policy: Policy | null;
  /** Files of other statements that are known. A newer one may supersede the statement. */
  readonly also: readonly string[];
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
  /** A line for each mismatch. If there are none, and every rule is met, the statement is verified. */
  readonly mismatches: readonly string[];
  /** Results of the policy's rules. Empty without a policy. */
  readonly rules: readonly RuleResult[];
  /** Sentences on how the checks were made, and on what was not checked. */
  readonly notes: readonly string[];
}

/** Whether a statement is verified: nothing contradicts it, and it meets every rule that is not optional. */
export const isVerified = ({ mismatches, rules }: Verification): boolean =>
  mismatches.length === 0 && rules.every(({ outcome }) => outcome === "met" || outcome === "optional");

/** Whose signature a statement has. `unchecked`: no list of keys was given. */
export type SignatureState =
  | { readonly kind: "unsigned" | "unchecked" | "refused" }
  | { readonly kind: "valid"; readonly signers: readonly VendorKey[] };

/**
 * Verifies a statement: its signature must be of a key in the lists, it must match its report and evidence, and meet the policy. Whatever is
 * not given is not checked, and a note says so.
 *
 * @throws {UsageError} if one of the files cannot be read
 */
export async function verify(options: VerifyOptions): Promise<Verification> {
  const { policy, now } = options;
  const published = readStatement(options.statementFile);
  const { keys, listedKeyIds } = await readLists(options);
  const acceptsUnsigned = policy?.unsigned === true;
  const signature = checkSignature(published, keys, acceptsUnsigned);
  const compared = comparisonOf(published, options);
  const signers = signature.state.kind === "valid" ? signature.state.signers : [];
  const { statement, seal } = published;
  return {
    published,
    signature: signature.state,
    mismatches: [
      ...signature.mismatches,
      ...ownMismatches(published, now),
      ...superseding(published, options, keys, acceptsUnsigned),
      ...compared.mismatches,
    ],
    rules:
      policy === null
        ? []
        : judgePolicy(policy, {
            statement,
            subjects: seal?.subjects ?? [],
            isSigned: seal !== null,
            signers,
            listedKeyIds,
            matchesReport: options.report === null ? null : compared.mismatches.length === 0,
            now,
          }),
    notes: [...signature.notes, ...compared.notes],
  };
}

/** Keys of all lists; `null` if no list was given. */
type KnownKeys = readonly VendorKey[] | null;

/** Reads the lists of the command line and those of the policy's signers. */
async function readLists({ keys, policy, network }: VerifyOptions) {
  const given = await Promise.all(keys.map((place) => readKeys(place, network)));
  const ofSigners = await Promise.all(
    (policy?.signers ?? []).map(async ({ keys: place }) => (place === undefined ? null : readKeys(place, network))),
  );
  const lists = [...given, ...ofSigners].filter((list) => list !== null);
  return {
    keys: lists.length === 0 ? null : lists.flat(),
    listedKeyIds: ofSigners.map((list) => (list === null ? null : new Set(list.map(({ keyId }) => keyId)))),
  };
}

interface CheckedSignature extends ReportComparison {
  readonly state: SignatureState;
}

function checkSignature({ seal }: PublishedStatement, keys: KnownKeys, acceptsUnsigned: boolean): CheckedSignature {
  if (seal === null) {
    const isFine = keys === null || acceptsUnsigned;
    const mismatches = isFine ? [] : ["signature: the statement is unsigned, so no key can show whose it is"];
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

/** Lists the other statements that supersede this one, or that may do so. */
function superseding(
  { statement }: PublishedStatement,
  { also }: VerifyOptions,
  keys: KnownKeys,
  acceptsUnsigned: boolean,
): string[] {
  const known = also.map((file) => {
    const other = readStatement(file);
    const { mismatches } = checkSignature(other, keys, acceptsUnsigned);
    return { file, statement: other.statement, isTrusted: mismatches.length === 0 };
  });
  return supersedingStatements(statement, known);
}

function comparisonOf({ statement }: PublishedStatement, { report, messages }: VerifyOptions): ReportComparison {
  if (report !== null) return compareWithReport(statement, report, messages);
  return { mismatches: [], notes: ["No report was given, so nothing was compared with it."] };
}
