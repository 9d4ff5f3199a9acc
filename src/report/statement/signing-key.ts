import { createPrivateKey, createPublicKey, type KeyObject, sign, verify } from "node:crypto";

import type { Parsed } from "../../base/parsing.ts";
import { sha256Of } from "./statement.ts";

/** A private key that signs statements. Its fields do not reveal the key, so the key cannot get into a report. */
export interface SigningKey {
  readonly keyId: string;
  readonly sign: (bytes: Uint8Array) => Buffer;
}

/** Parses a private key in PEM: PKCS#8, or SEC 1 for ECDSA. The problem is a predicate, and never quotes the PEM text. */
export function parseSigningKey(pem: string): Parsed<SigningKey> {
  const key = parsePrivateKey(pem);
  if (key.kind === "problem") return key;
  const { value } = key;
  return { kind: "value", value: { keyId: keyIdOf(createPublicKey(value)), sign: (bytes) => signBytes(value, bytes) } };
}

/** Returns the public key of a PEM text that holds a public or a private key. The problem never quotes the PEM text. */
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

/** Returns the key if it can sign statements, and otherwise a problem: the given one for `null`, or that its kind is not supported. */
export function supportedKey(key: KeyObject | null, problem: string): Parsed<KeyObject> {
  if (key === null) return { kind: "problem", problem };
  if (digestAlgorithmOf(key) !== null) return { kind: "value", value: key };
  const kind = key.asymmetricKeyDetails?.namedCurve ?? key.asymmetricKeyType ?? "another";
  return { kind: "problem", problem: `is of the kind ${kind}. Statements are signed with Ed25519 or ECDSA P-256` };
}

/** Returns the key that `parse` returns; `null` if it throws. The error is dropped, because it may quote the key. */
export function tryParseKey(parse: () => KeyObject): KeyObject | null {
  try {
    return parse();
  } catch {
    return null;
  }
}

/** Returns the digest algorithm for a key: `undefined` for Ed25519, which includes its own; `null` for an unsupported kind. */
function digestAlgorithmOf({ asymmetricKeyType, asymmetricKeyDetails }: KeyObject): "sha256" | undefined | null {
  if (asymmetricKeyType === "ed25519") return undefined;
  return asymmetricKeyType === "ec" && asymmetricKeyDetails?.namedCurve === "prime256v1" ? "sha256" : null;
}

const signBytes = (key: KeyObject, bytes: Uint8Array): Buffer => sign(digestAlgorithmOf(key), bytes, key);

/** Whether a public key verifies a signature over bytes. A signature of ECDSA must be in DER, as other implementations of DSSE write it. */
export const isSignedBy = (key: KeyObject, bytes: Uint8Array, signature: Uint8Array): boolean =>
  verify(digestAlgorithmOf(key), bytes, key, signature);

/** The id of a public key: the SHA-256 of its SubjectPublicKeyInfo in DER, which any tool can compute. */
export const keyIdOf = (key: KeyObject): string => sha256Of(key.export({ type: "spki", format: "der" }));
