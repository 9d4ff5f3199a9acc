import type { Network } from "../../base/network/network.ts";
import { checkSignatures, type VendorKey } from "../../report/statement/signatures.ts";
import { judgePolicy, type RuleResult } from "../../report/statement/judge-policy.ts";
import type { Policy } from "../../report/statement/policy-schema.ts";
import { compareWithReport, type ReportComparison, type PossibleMessages } from "./compare-with-report.ts";
import { readKeys, type PublishedStatement, readStatement } from "./read-inputs.ts";
import { sanitizeLine } from "../../base/sanitize.ts";
import { countsIn, firstRequirementSet } from "../../spec/clause.ts";
import type { Statement } from "../../report/statement/statement-schema.ts";
import { dayOf } from "../../base/duration.ts";

export interface VerifyOptions {
  readonly statementFile: string;
  readonly report: string | null;
  /** Files or URLs, each of which holds a vendor's published list of public keys. */
  readonly keys: readonly string[];
  readonly policy: Policy | null;
  /**
   * Files of other statements. The verification fails if one of them supersedes the statement, or has a signature that
   * cannot be verified: see {@link supersessionProblems}.
   */
  readonly also: readonly string[];
  readonly network: Network;
  readonly messages: PossibleMessages;
  readonly now: Date;
}

export interface Verification {
  readonly published: PublishedStatement;
  readonly signature: SignatureState;
  /** Problems with the statement, one line of text each. A verified statement has none. */
  readonly mismatches: readonly string[];
  readonly rules: readonly RuleResult[];
  readonly notes: readonly string[];
}

/** Whether a statement has no mismatch, and meets every required rule of the policy. */
export const isVerified = ({ mismatches, rules }: Verification): boolean =>
  mismatches.length === 0 && rules.every(({ outcome }) => outcome === "met" || outcome === "optional");

/** The result of checking a statement's signature. `unchecked`: signed, but no list of keys was given. */
export type SignatureState =
  | { readonly kind: "unsigned" | "unchecked" | "refused" }
  | { readonly kind: "valid"; readonly signers: readonly VendorKey[] };

export async function verifyStatement(options: VerifyOptions): Promise<Verification> {
  const { policy, now } = options;
  const published = readStatement(options.statementFile);
  const { keys, listedKeyIds } = await readKeyLists(options);
  const acceptsUnsigned = policy?.unsigned === true;
  const signature = checkSignature(published, keys, acceptsUnsigned);
  const compared = comparisonOf(published, options);
  const others = options.also.map((file) => {
    const other = readStatement(file);
    const isTrusted = checkSignature(other, keys, acceptsUnsigned).mismatches.length === 0;
    return { file, statement: other.statement, isTrusted };
  });
  const signers = signature.state.kind === "valid" ? signature.state.signers : [];
  const { statement, seal } = published;
  return {
    published,
    signature: signature.state,
    mismatches: [
      ...signature.mismatches,
      ...ownMismatches(published, now),
      ...supersessionProblems(statement, others),
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

async function readKeyLists({ keys, policy, network }: VerifyOptions) {
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

function checkSignature(
  { seal }: PublishedStatement,
  keys: readonly VendorKey[] | null,
  acceptsUnsigned: boolean,
): ReportComparison & { readonly state: SignatureState } {
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

function ownMismatches({ seal }: PublishedStatement, now: Date): string[] {
  if (seal === null) return [];
  const isExpired = now.getTime() >= Date.parse(seal.expires);
  return [
    ...(isExpired ? [`expires: the statement expired on ${dayOf(seal.expires)}. Ask for a newer one`] : []),
    ...seal.contradictions,
  ];
}

function comparisonOf({ statement }: PublishedStatement, { report, messages }: VerifyOptions): ReportComparison {
  if (report !== null) return compareWithReport(statement, report, messages);
  return { mismatches: [], notes: ["No report was given, so nothing was compared with it."] };
}

/** A statement that may supersede another statement. `isTrusted`: the check of its signature found no problem. */
interface KnownStatement {
  readonly file: string;
  readonly statement: Statement;
  readonly isTrusted: boolean;
}

/**
 * Returns a problem for each untrusted statement, and for each newer nonconformant statement about the same deployment.
 * A newer statement by a later requirement set is no problem, because that set may have more clauses.
 */
export function supersessionProblems(statement: Statement, known: readonly KnownStatement[]): string[] {
  return known.flatMap(({ file, statement: other, isTrusted }) => {
    const name = sanitizeLine(file, 120);
    if (!isTrusted)
      return [`${name}: its signature does not count, so nobody knows whether it supersedes the statement`];
    const isRed = other.verdict === "nonconformant" && countsIn(requirementSetOf(other), requirementSetOf(statement));
    if (!isRed || !isSameDeployment(statement, other) || Date.parse(other.finished) <= Date.parse(statement.finished))
      return [];
    return [`superseded: ${name} is newer, of ${dayOf(other.finished)}, and nonconformant`];
  });
}

const requirementSetOf = ({ suite }: Statement): string => suite.requirements ?? firstRequirementSet;

export const isSameDeployment = (one: Statement, other: Statement): boolean =>
  one.target.baseUrl === other.target.baseUrl && (one.party ?? "server") === (other.party ?? "server");
