import { sanitizeLine } from "../../base/sanitize.ts";
import { type Envelope, payloadOf, signedBytes } from "./envelope.ts";
import type { VendorKey } from "./key-list.ts";
import { isSignedBy } from "./signing-key.ts";

/** The result of checking the signatures of an envelope by the keys of vendors. */
export interface SignatureCheck {
  /** Keys that signed the statement, and that count. */
  readonly signers: readonly VendorKey[];
  /** A line for each signature that does not count, and why. */
  readonly problems: readonly string[];
  /** A line for each signature by a key that no list has, if another signature counts. */
  readonly notes: readonly string[];
}

/**
 * Checks every signature of an envelope. A revoked key never counts, whatever date the statement has: who stole a key can write any date.
 */
export function checkSignatures(envelope: Envelope, keys: readonly VendorKey[]): SignatureCheck {
  const bytes = signedBytes(payloadOf(envelope));
  const checked = envelope.signatures.map(({ keyid, sig }) => {
    const known = keys.filter(({ keyId }) => keyId === keyid);
    // Of two lists with the same key, the one that revokes it counts.
    const key = known.find(({ revoked }) => revoked !== null) ?? known[0];
    if (key === undefined) return { kind: "unknown" as const, says: unknownKey(keyid) };
    const problem = problemWith(key, bytes, Buffer.from(sig, "base64"));
    return problem === null ? { kind: "valid" as const, key } : { kind: "refused" as const, says: problem };
  });
  const signers = checked.flatMap((each) => (each.kind === "valid" ? [each.key] : []));
  const refused = checked.flatMap((each) => (each.kind === "refused" ? [each.says] : []));
  const unknown = checked.flatMap((each) => (each.kind === "unknown" ? [each.says] : []));
  return signers.length > 0
    ? { signers, problems: refused, notes: unknown }
    : { signers, problems: [...refused, ...unknown], notes: [] };
}

function problemWith({ key, keyId, vendor, revoked }: VendorKey, bytes: Buffer, signature: Buffer): string | null {
  const name = `the key ${shortKeyId(keyId)} of ${sanitizeLine(vendor, 80)}`;
  if (revoked !== null) return `signature: ${name} was revoked on ${revoked}`;
  return isSignedBy(key, bytes, signature) ? null : `signature: it is not by ${name} over this statement`;
}

const unknownKey = (keyId: string): string => `signature: no list has the key ${shortKeyId(keyId)}`;

/** Returns the start of a key's id, to show to people. */
export const shortKeyId = (keyId: string): string => sanitizeLine(keyId.slice(0, 16), 16);
