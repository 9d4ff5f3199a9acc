import { sanitizeLine } from "../../base/sanitize.ts";
import { type Envelope, payloadOf, signedBytes } from "./envelope.ts";
import type { VendorKey } from "./key-list.ts";
import { isSignedBy } from "./signing-key.ts";

/** The result of checking the signatures of an envelope by the keys of vendors. */
export interface SignatureCheck {
  /** Keys with a valid signature, known from a key list and not revoked. */
  readonly signers: readonly VendorKey[];
  /** A line for each invalid signature and each revoked key. Without a valid signature, also a line for each unknown key. */
  readonly problems: readonly string[];
  /** A line for each key that is in no key list, if another signature is valid. */
  readonly notes: readonly string[];
}

/**
 * Checks every signature of an envelope. A signature by a revoked key is never valid, whatever its date, because a thief of the key can
 * write any date.
 */
export function checkSignatures(envelope: Envelope, keys: readonly VendorKey[]): SignatureCheck {
  const bytes = signedBytes(payloadOf(envelope));
  const checked = envelope.signatures.map(({ keyid, sig }) => {
    const known = keys.filter(({ keyId }) => keyId === keyid);
    // If one key is in two lists, and one of the lists revokes the key, it is revoked.
    const key = known.find(({ revoked }) => revoked !== null) ?? known[0];
    if (key === undefined) return { kind: "unknown" as const, says: formatUnknownKey(keyid) };
    const problem = signatureProblem(key, bytes, Buffer.from(sig, "base64"));
    return problem === null ? { kind: "valid" as const, key } : { kind: "refused" as const, says: problem };
  });
  const signers = checked.flatMap((each) => (each.kind === "valid" ? [each.key] : []));
  const refused = checked.flatMap((each) => (each.kind === "refused" ? [each.says] : []));
  const unknown = checked.flatMap((each) => (each.kind === "unknown" ? [each.says] : []));
  return signers.length > 0
    ? { signers, problems: refused, notes: unknown }
    : { signers, problems: [...refused, ...unknown], notes: [] };
}

function signatureProblem({ key, keyId, vendor, revoked }: VendorKey, bytes: Buffer, signature: Buffer): string | null {
  const name = `the key ${shortKeyId(keyId)} of ${sanitizeLine(vendor, 80)}`;
  if (revoked !== null) return `signature: ${name} was revoked on ${revoked}`;
  return isSignedBy(key, bytes, signature) ? null : `signature: it is not by ${name} over this statement`;
}

const formatUnknownKey = (keyId: string): string => `signature: no list has the key ${shortKeyId(keyId)}`;

/** Returns the start of a key's id, to show to people. */
export const shortKeyId = (keyId: string): string => sanitizeLine(keyId.slice(0, 16), 16);
