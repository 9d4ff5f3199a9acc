import { createPrivateKey, createPublicKey, type JsonWebKey, type KeyObject, sign, verify } from "node:crypto";
import { z } from "zod";
import type { Parsed } from "../../base/parsing.ts";
import { sha256Of } from "./statement.ts";
import { sanitizeLine } from "../../base/sanitize.ts";

/** A private key that signs statements. No field contains the key itself, so that the key cannot get into a report. */
export interface SigningKey {
  readonly keyId: string;
  readonly sign: (bytes: Uint8Array) => Buffer;
}

/** Parses a private key in PEM (PKCS#8, or SEC 1 for ECDSA). An error message never quotes the PEM text. */
export function parseSigningKey(pem: string): Parsed<SigningKey> {
  const key = parsePrivateKey(pem);
  if (key.kind === "problem") return key;
  const { value } = key;
  return { kind: "value", value: { keyId: keyIdOf(createPublicKey(value)), sign: (bytes) => signBytes(value, bytes) } };
}

/** Returns the public key of a PEM text with a public or private key. An error message never quotes the PEM text. */
export function parsePublicKey(pem: string): Parsed<KeyObject> {
  if (/PRIVATE KEY/.test(pem)) {
    const key = parsePrivateKey(pem);
    return key.kind === "value" ? { kind: "value", value: createPublicKey(key.value) } : key;
  }
  return supportedKey(
    tryParseKey(() => createPublicKey(pem)),
    "is not a key in PEM",
  );
}

function parsePrivateKey(pem: string): Parsed<KeyObject> {
  if (/ENCRYPTED/.test(pem))
    return { kind: "problem", problem: "is encrypted. Decrypt it first, for example with `openssl pkey`" };
  if (/PUBLIC KEY/.test(pem))
    return { kind: "problem", problem: "is a public key. A statement is signed with the private key" };
  return supportedKey(
    tryParseKey(() => createPrivateKey(pem)),
    "is not a private key in PEM",
  );
}

/**
 * Returns the key if it is an Ed25519 or ECDSA P-256 key, and an error message otherwise. For a `null` key, the message
 * is `problem`.
 */
function supportedKey(key: KeyObject | null, problem: string): Parsed<KeyObject> {
  if (key === null) return { kind: "problem", problem };
  if (digestAlgorithmOf(key) !== null) return { kind: "value", value: key };
  const kind = key.asymmetricKeyDetails?.namedCurve ?? key.asymmetricKeyType ?? "another";
  return { kind: "problem", problem: `is of the kind ${kind}. Statements are signed with Ed25519 or ECDSA P-256` };
}

/** Returns the parsed key; `null` if `parse` throws. The error is dropped, because it may quote the key. */
function tryParseKey(parse: () => KeyObject): KeyObject | null {
  try {
    return parse();
  } catch {
    return null;
  }
}

/**
 * Returns the digest algorithm of a key's signatures: `undefined` for Ed25519, which needs none, and `null` for an
 * unsupported kind of key.
 */
function digestAlgorithmOf({ asymmetricKeyType, asymmetricKeyDetails }: KeyObject): "sha256" | undefined | null {
  if (asymmetricKeyType === "ed25519") return undefined;
  return asymmetricKeyType === "ec" && asymmetricKeyDetails?.namedCurve === "prime256v1" ? "sha256" : null;
}

const signBytes = (key: KeyObject, bytes: Uint8Array): Buffer => sign(digestAlgorithmOf(key), bytes, key);

/** Whether a public key verifies a signature. An ECDSA signature must be in DER. */
export const isSignedBy = (key: KeyObject, bytes: Uint8Array, signature: Uint8Array): boolean =>
  verify(digestAlgorithmOf(key), bytes, key, signature);

/** Returns the id of a public key: the SHA-256 of its SubjectPublicKeyInfo in DER, which any tool can compute. */
export const keyIdOf = (key: KeyObject): string => sha256Of(key.export({ type: "spki", format: "der" }));

const keySchema = z.strictObject({
  keyid: z.string().describe("SHA-256 of the public key (SubjectPublicKeyInfo in DER), in lower-case hex."),
  name: z.string().describe("What the key is for.").exactOptional(),
  pem: z.string().describe("The public key in PEM; or `jwk`.").exactOptional(),
  jwk: z.record(z.string(), z.unknown()).describe("The public key as a JSON Web Key; or `pem`.").exactOptional(),
  revoked: z.iso.date().describe("Since when nobody should accept the key, such as 2026-05-01.").exactOptional(),
});

/** Schema of a key list: the file in which a vendor publishes the public keys that verify its statements. */
export const keyListSchema = z
  .strictObject({
    $schema: z.string().exactOptional(),
    vendor: z.string().min(1),
    keys: z.array(keySchema).min(1),
  })
  .describe("The keys with which a vendor signs conformance statements. `conformance verify --keys` reads it.");

type KeyListFile = z.infer<typeof keyListSchema>;

export interface VendorKey {
  readonly keyId: string;
  readonly vendor: string;
  readonly key: KeyObject;
  readonly revoked: string | null;
}

/** Parses a vendor's list of public keys. Returns an error message for an invalid or repeated key or a wrong key id. */
export function parseKeyList({ vendor, keys }: KeyListFile): Parsed<readonly VendorKey[]> {
  const found: VendorKey[] = [];
  for (const [at, { keyid, pem, jwk, revoked = null }] of keys.entries()) {
    const parsed = parseListedKey(pem, jwk);
    if (parsed.kind === "problem") return { kind: "problem", problem: `keys.${at} ${parsed.problem}` };
    if (keyIdOf(parsed.value) !== keyid)
      return { kind: "problem", problem: `keys.${at}.keyid is not the SHA-256 of its key` };
    if (found.some(({ keyId }) => keyId === keyid))
      return { kind: "problem", problem: `keys.${at}.keyid occurs twice` };
    found.push({ keyId: keyid, vendor, key: parsed.value, revoked });
  }
  return { kind: "value", value: found };
}

function parseListedKey(pem: string | undefined, jwk: KeyListFile["keys"][number]["jwk"]): Parsed<KeyObject> {
  if ((pem === undefined) === (jwk === undefined)) return { kind: "problem", problem: "needs either a pem or a jwk" };
  if (/PRIVATE KEY/.test(pem ?? "") || (jwk !== undefined && "d" in jwk))
    return { kind: "problem", problem: "has a private key. Revoke it, and publish only public ones" };
  if (pem !== undefined) return parsePublicKey(pem);
  const key = tryParseKey(() => createPublicKey({ key: jwk as JsonWebKey, format: "jwk" }));
  return supportedKey(key, "has no key in its jwk");
}

export const createKeyList = (vendor: string, keys: readonly KeyObject[]): KeyListFile => ({
  vendor,
  keys: keys.map((key) => ({ keyid: keyIdOf(key), pem: String(key.export({ type: "spki", format: "pem" })) })),
});

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

export function sealEnvelope(payload: string, key: SigningKey): Envelope {
  const bytes = Buffer.from(payload);
  return {
    payloadType,
    payload: bytes.toString("base64"),
    signatures: [{ keyid: key.keyId, sig: key.sign(signedBytes(bytes)).toString("base64") }],
  };
}

export const payloadOf = ({ payload }: Envelope): Buffer => Buffer.from(payload, "base64");

/** Returns the bytes to sign for a payload: its pre-authentication encoding (PAE) of DSSE 1.0.2. */
export const signedBytes = (payload: Uint8Array): Buffer =>
  Buffer.concat([Buffer.from(`DSSEv1 ${payloadType.length} ${payloadType} ${payload.length} `), payload]);

interface SignatureCheck {
  /** Keys with a valid signature in the envelope. Each of these keys is in a key list and not revoked. */
  readonly signers: readonly VendorKey[];
  /** Messages about invalid signatures and revoked keys. If no signature is valid, also about unknown keys. */
  readonly problems: readonly string[];
  /** Messages about unknown keys. Empty if no signature is valid: then `problems` contains these messages. */
  readonly notes: readonly string[];
}

/**
 * Checks the signatures of an envelope. A signature by a revoked key never counts, because whoever stole the key can
 * backdate signatures.
 */
export function checkSignatures(envelope: Envelope, keys: readonly VendorKey[]): SignatureCheck {
  const bytes = signedBytes(payloadOf(envelope));
  const checked = envelope.signatures.map(({ keyid, sig }) => {
    const known = keys.filter(({ keyId }) => keyId === keyid);
    // A key counts as revoked if at least one key list revokes it.
    const key = known.find(({ revoked }) => revoked !== null) ?? known[0];
    if (key === undefined)
      return { kind: "unknown" as const, says: `signature: no list has the key ${shortKeyId(keyid)}` };
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

export const shortKeyId = (keyId: string): string => sanitizeLine(keyId.slice(0, 16), 16);
