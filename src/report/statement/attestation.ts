import { sealEnvelope, type SigningKey } from "./signatures.ts";
import { type Statement, statementSchema } from "./statement-schema.ts";
import { dayMs } from "../../base/duration.ts";
import { firstRequirementSet } from "../../spec/clause.ts";
import type { Verdict } from "../model/report.ts";
import { differencesIn } from "./differences.ts";
import { z } from "zod";

/** Name of the in-toto extension field that contains the statement. The name is a URI to avoid name collisions. */
const statementField = "urn:agent-hosting-conformance:statement:1";

/** Digest algorithms for a deployed image, package or commit, with the length of a digest in hex digits. */
export const subjectAlgorithms = { sha256: 64, sha512: 128, gitCommit: 40 } as const;

const subjectSchema = z.strictObject({
  name: z.string(),
  digest: z.record(z.string(), z.string().regex(/^[0-9a-f]+$/, "must be lower-case hex digits")),
});

/** The subject of a signed statement: the deployment, or an image, package or commit that the deployment runs. */
export type Subject = z.infer<typeof subjectSchema>;

const inTotoResults = {
  conformant: "PASSED",
  partial: "WARNED",
  nonconformant: "FAILED",
  incomplete: "FAILED",
  unreachable: "FAILED",
} as const satisfies Record<Verdict, string>;

/** Schema of the text that is signed: an in-toto Statement v1 with the predicate "test result". */
export const attestationSchema = z
  .strictObject({
    _type: z.literal("https://in-toto.io/Statement/v1"),
    subject: z.array(subjectSchema).min(1).describe("The deployment by its fingerprint, then what was deployed."),
    predicateType: z.literal("https://in-toto.io/attestation/test-result/v0.1"),
    predicate: z.strictObject({
      result: z.enum(["PASSED", "WARNED", "FAILED"]).describe("PASSED: conformant; WARNED: partial; FAILED: else."),
      configuration: z
        .array(z.strictObject({ name: z.string(), uri: z.string() }))
        .describe("The harness and the requirement set that judged."),
      warnedTests: z.array(z.string()).describe("Checks with a warning."),
      failedTests: z.array(z.string()).describe("Checks that failed."),
      [statementField]: z.strictObject({
        expires: z.iso.datetime().describe("Nobody should rely on the statement after this time."),
        statement: statementSchema,
      }),
    }),
  })
  .describe("The payload of a signed conformance statement: an in-toto Statement v1.");

type Attestation = z.infer<typeof attestationSchema>;

interface AttestationParts {
  readonly subjects: readonly Subject[];
  readonly expires: string;
}

export interface PageSignature extends AttestationParts {
  readonly keyId: string;
}

export function attestationOf(statement: Statement, { subjects, expires }: AttestationParts): Attestation {
  const { target, suite, verdict, exceptions } = statement;
  const checks = (wanted: string): string[] =>
    [...new Set(exceptions.filter(({ outcome }) => outcome === wanted).map(({ check }) => check))].toSorted();
  return {
    _type: "https://in-toto.io/Statement/v1",
    subject: [{ name: target.baseUrl, digest: { deploymentFingerprint: target.fingerprint } }, ...subjects],
    predicateType: "https://in-toto.io/attestation/test-result/v0.1",
    predicate: {
      result: inTotoResults[verdict],
      configuration: [
        { name: "harness", uri: `pkg:npm/agent-hosting-conformance@${suite.version}` },
        {
          name: "requirements",
          uri: `urn:agent-hosting-conformance:requirements:${suite.requirements ?? firstRequirementSet}`,
        },
      ],
      warnedTests: checks("warning"),
      failedTests: checks("fail"),
      [statementField]: { expires, statement },
    },
  };
}

export function partsOfAttestation({ subject, predicate }: Attestation): AttestationParts & {
  readonly statement: Statement;
} {
  const { expires, statement } = predicate[statementField];
  return { statement, expires, subjects: subject.slice(1) };
}

export function attestationDifferences(attestation: Attestation): string[] {
  const { statement, ...parts } = partsOfAttestation(attestation);
  const words = ["the statement says", "from its findings follows"] as const;
  return differencesIn(attestation, attestationOf(statement, parts), [], words);
}

const defaultValidDays = 90;

/**
 * Returns the time at which a signed statement about a run expires.
 *
 * @param finished end of the run, ISO 8601
 */
export const expiryOf = (finished: string, validDays = defaultValidDays): Date =>
  new Date(Date.parse(finished) + validDays * dayMs);

/** Options for signing a statement: the key, the subjects, and the number of days for which the statement is valid. */
export interface StatementSigning {
  readonly key: SigningKey;
  /** Images, packages and commits that the statement names in addition to the deployment. Default: none. */
  readonly subjects?: readonly Subject[];
  /** Number of days after the end of the run for which the statement is valid. Default: 90. */
  readonly validDays?: number;
}

const partsFor = ({ finished }: Statement, { subjects = [], validDays }: StatementSigning): AttestationParts => ({
  subjects,
  expires: expiryOf(finished, validDays).toISOString(),
});

export const pageSignatureOf = (statement: Statement, signing: StatementSigning): PageSignature => ({
  keyId: signing.key.keyId,
  ...partsFor(statement, signing),
});

/** Returns the text of a signed statement: a DSSE envelope on one line, with a line feed at the end. */
export function serializeSigned(statement: Statement, signing: StatementSigning): string {
  const payload = JSON.stringify(attestationOf(statement, partsFor(statement, signing)));
  return `${JSON.stringify(sealEnvelope(payload, signing.key))}\n`;
}
