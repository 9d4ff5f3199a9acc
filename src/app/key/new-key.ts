import { generateKeyPairSync } from "node:crypto";
import { closeSync, openSync, writeSync } from "node:fs";

import { errorCodeOrText } from "../../base/errors.ts";
import { replaceFile } from "../../base/files/replace-file.ts";
import { line } from "../../base/line.ts";
import { UsageError } from "../../base/usage-error.ts";
import { keyIdOf } from "../../report/statement/signing-key.ts";

/** Algorithms of keys that sign statements, by their names on the command line. */
export const keyAlgorithms = ["ed25519", "p256"] as const;
export type KeyAlgorithm = (typeof keyAlgorithms)[number];

/** Files of a new key pair, and its id. */
export interface NewKey {
  readonly keyId: string;
  readonly privateFile: string;
  readonly publicFile: string;
}

/**
 * Makes a key pair, and writes `NAME.key.pem`, which only this user can read, and `NAME.pub.pem`.
 *
 * @throws {UsageError} if the private key's file exists, or a file cannot be written
 */
export function newKey(name: string, algorithm: KeyAlgorithm): NewKey {
  const { privateKey, publicKey } =
    algorithm === "ed25519" ? generateKeyPairSync("ed25519") : generateKeyPairSync("ec", { namedCurve: "P-256" });
  const [privateFile, publicFile] = [`${name}.key.pem`, `${name}.pub.pem`];
  writePrivate(privateFile, String(privateKey.export({ type: "pkcs8", format: "pem" })));
  try {
    replaceFile(publicFile, String(publicKey.export({ type: "spki", format: "pem" })));
  } catch (error) {
    throw new UsageError(line`The public key cannot be written: ${publicFile} (${errorCodeOrText(error)}).`);
  }
  return { keyId: keyIdOf(publicKey), privateFile, publicFile };
}

/** Writes a new file. Never replaces one: a statement's key that is lost cannot be made again. */
function writePrivate(file: string, pem: string): void {
  try {
    const descriptor = openSync(file, "wx", 0o600);
    try {
      writeSync(descriptor, pem);
    } finally {
      closeSync(descriptor);
    }
  } catch (error) {
    const code = errorCodeOrText(error);
    if (code === "EEXIST") throw new UsageError(line`${file} exists, and a key is never replaced. Give another name.`);
    throw new UsageError(line`The private key cannot be written: ${file} (${code}).`);
  }
}
