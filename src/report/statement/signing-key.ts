import { createPrivateKey, createPublicKey, type KeyObject, sign, verify } from "node:crypto";

import type { Parsed } from "../../base/parsing.ts";
import { sha256Of } from "./statement.ts";

/** A private key that signs statements. The key itself cannot be read from it, so it cannot get into a report. */
export interface SigningKey {
  readonly keyId: string;
  readonly sign: (bytes: Uint8Array) => Buffer;
}

/** Parses a private key in PEM: PKCS#8, or SEC 1 for ECDSA. The problem is a predicate that does not repeat the text. */
export function parseSigningKey(pem: string): Parsed<SigningKey> {
  const key = parsePrivateKey(pem);
  if (key.kind === "problem") return key;
  const { value } = key;
  return { kind: "value", value: { keyId: keyIdOf(createPublicKey(value)), sign: (bytes) => signBytes(value, bytes) } };
}

/** Returns the public key of a PEM that holds a public or a private key. The problem does not repeat the text. */
export function parsePublicKey(pem: string): Parsed<KeyObject> {
  if (/PRIVATE KEY/.test(pem)) {
    const key = parsePrivateKey(pem);
    return key.kind === "value" ? { kind: "value", value: createPublicKey(key.value) } : key;
  }
  return usable(
    tryKey(() => createPublicKey(pem)),
    "is not a key in PEM",
  );
}

function parsePrivateKey(pem: string): Parsed<KeyObject> {
  if (/ENCRYPTED/.test(pem))
    return { kind: "problem", problem: "is encrypted. Decrypt it first, for example with `openssl pkey`" };
  if (/PUBLIC KEY/.test(pem))
    return { kind: "problem", problem: "is a public key. A statement is signed with the private key" };
  return usable(
    tryKey(() => createPrivateKey(pem)),
    "is not a private key in PEM",
  );
}

/** Returns a key, or the problem that it cannot sign statements. */
export function usable(key: KeyObject | null, problem: string): Parsed<KeyObject> {
  if (key === null) return { kind: "problem", problem };
  if (algorithmOf(key) !== null) return { kind: "value", value: key };
  const kind = key.asymmetricKeyDetails?.namedCurve ?? key.asymmetricKeyType ?? "another";
  return { kind: "problem", problem: `is of the kind ${kind}. Statements are signed with Ed25519 or ECDSA P-256` };
}

/** Returns what a parser of keys returns; `null` if it throws. Its error may quote the key. */
export function tryKey(parse: () => KeyObject): KeyObject | null {
  try {
    return parse();
  } catch {
    return null;
  }
}

/** Returns the digest that the algorithm of a key needs; `undefined` for Ed25519, which has its own. `null`: not supported. */
function algorithmOf({ asymmetricKeyType, asymmetricKeyDetails }: KeyObject): "sha256" | undefined | null {
  if (asymmetricKeyType === "ed25519") return undefined;
  return asymmetricKeyType === "ec" && asymmetricKeyDetails?.namedCurve === "prime256v1" ? "sha256" : null;
}

const signBytes = (key: KeyObject, bytes: Uint8Array): Buffer => sign(algorithmOf(key), bytes, key);

/** Whether a signature over bytes is of a public key. A signature of ECDSA is in DER, as other implementations of DSSE write it. */
export const isSignedBy = (key: KeyObject, bytes: Uint8Array, signature: Uint8Array): boolean =>
  verify(algorithmOf(key), bytes, key, signature);

/** The id of a public key: the SHA-256 of its SubjectPublicKeyInfo in DER, which any tool can compute. */
export const keyIdOf = (key: KeyObject): string => sha256Of(key.export({ type: "spki", format: "der" }));
