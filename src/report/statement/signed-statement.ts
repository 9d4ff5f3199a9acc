import { attestationOf, defaultValidDays, expiryOf, type Subject } from "./attestation.ts";
import { sealEnvelope } from "./envelope.ts";
import type { PageSignature } from "./page.ts";
import type { SigningKey } from "./signing-key.ts";
import type { Statement } from "./statement-schema.ts";

/** How to sign a statement: with which key, about what, and for how long. */
export interface StatementSigning {
  readonly key: SigningKey;
  /** Deployed images, packages and commits. Default: nothing but the deployment itself. */
  readonly subjects?: readonly Subject[];
  /** Number of days after the end of the run for which the statement is valid. Default: 90. */
  readonly validDays?: number;
}

const expiresOf = ({ finished }: Statement, { validDays = defaultValidDays }: StatementSigning): string =>
  expiryOf(finished, validDays).toISOString();

/** Returns the facts about the signature that the HTML page of a statement shows. */
export const pageSignatureOf = (statement: Statement, signing: StatementSigning): PageSignature => ({
  keyId: signing.key.keyId,
  subjects: signing.subjects ?? [],
  expires: expiresOf(statement, signing),
});

/** Returns the text of a signed statement: a DSSE envelope on one line, with a line feed at the end. */
export function serializeSigned(statement: Statement, signing: StatementSigning): string {
  const { key, subjects = [] } = signing;
  const expires = expiresOf(statement, signing);
  return `${JSON.stringify(sealEnvelope(JSON.stringify(attestationOf(statement, { subjects, expires })), key))}\n`;
}
