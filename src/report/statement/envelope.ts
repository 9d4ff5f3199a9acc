import { sanitizeLine } from "../../base/sanitize.ts";
import { type VendorKey, isSignedBy, type SigningKey } from "./keys.ts";
import { z } from "zod";

/** The DSSE payload type of an in-toto Statement. */
const payloadType = "application/vnd.in-toto+json";

/** Whether a text is base64, in the standard or the URL-safe alphabet. DSSE allows both. */
const isBase64 = (text: string): boolean => {
  const standard = text.replaceAll("-", "+").replaceAll("_", "/").replace(/=+$/, "");
  return standard !== "" && Buffer.from(text, "base64").toString("base64").replace(/=+$/, "") === standard;
};

const base64Schema = z.string().refine(isBase64, "must be base64");

/** Schema of a signed statement: a DSSE envelope around an in-toto Statement. */
export const envelopeSchema = z
  .strictObject({
    payloadType: z.literal(payloadType),
    payload: base64Schema.describe("The statement, in base64."),
    signatures: z
      .array(
        z.strictObject({
          keyid: z.string().describe("SHA-256 of the public key (SubjectPublicKeyInfo in DER)."),
          sig: base64Schema.describe("Signature over the pre-authentication encoding, in base64; ECDSA in DER."),
        }),
      )
      .min(1)
      .max(10),
  })
  .describe("A signed conformance statement, in a DSSE envelope. `conformance verify` checks it.");

export type Envelope = z.infer<typeof envelopeSchema>;

export function sealEnvelope(payload: string, { keyId, sign }: SigningKey): Envelope {
  const bytes = Buffer.from(payload);
  return {
    payloadType,
    payload: bytes.toString("base64"),
    signatures: [{ keyid: keyId, sig: sign(signedBytes(bytes)).toString("base64") }],
  };
}

export const payloadOf = ({ payload }: Envelope): Buffer => Buffer.from(payload, "base64");

/** Returns the bytes that are signed: the pre-authentication encoding (PAE) of DSSE 1.0.2. */
export const signedBytes = (payload: Uint8Array): Buffer =>
  Buffer.concat([Buffer.from(`DSSEv1 ${payloadType.length} ${payloadType} ${payload.length} `), payload]);

export interface SignatureCheck {
  /** Keys that validly signed the envelope. Each is in a key list and not revoked. */
  readonly signers: readonly VendorKey[];
  /** A line for each invalid signature and revoked key. Lists unknown keys too if no signature is valid. */
  readonly problems: readonly string[];
  /** A line for each signature by an unknown key. If no signature is valid, `problems` contains these lines instead. */
  readonly notes: readonly string[];
}

/** Checks the signatures of an envelope. A revoked key never counts, because a thief can backdate signatures. */
export function checkSignatures(envelope: Envelope, keys: readonly VendorKey[]): SignatureCheck {
  const bytes = signedBytes(payloadOf(envelope));
  const checked = envelope.signatures.map(({ keyid, sig }) => {
    const known = keys.filter(({ keyId }) => keyId === keyid);
    // A key counts as revoked if at least one key list revokes it.
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

export const shortKeyId = (keyId: string): string => sanitizeLine(keyId.slice(0, 16), 16);
