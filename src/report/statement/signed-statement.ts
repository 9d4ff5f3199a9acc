import { attestationOf, defaultValidDays, expiryOf, type Subject } from "./attestation.ts";
import { sealEnvelope } from "./envelope.ts";
import type { SigningKey } from "./signing-key.ts";
import type { Statement } from "./statement-schema.ts";

/** How to sign a statement: with which key, about what, and for how long. */
export interface StatementSigning {
  readonly key: SigningKey;
  /** Deployed images, packages and commits. Default: nothing but the deployment itself. */
  readonly subjects?: readonly Subject[];
  /** Days after the end of the run for which the statement counts. Default: 90. */
  readonly validDays?: number;
}

/** Returns the text of a signed statement: a DSSE envelope on one line, with a line feed at the end. */
export function serializeSigned(
  statement: Statement,
  { key, subjects = [], validDays = defaultValidDays }: StatementSigning,
): string {
  const expires = expiryOf(statement.finished, validDays).toISOString();
  return `${JSON.stringify(sealEnvelope(JSON.stringify(attestationOf(statement, { subjects, expires })), key))}\n`;
}
