import { generateKeyPairSync } from "node:crypto";
import { closeSync, openSync, writeSync } from "node:fs";

import { errorCodeOrText } from "../base/errors.ts";
import { line, UsageError } from "../base/line.ts";
import { replaceFile } from "../base/files/replace-file.ts";
import { keyIdOf, parsePublicKey, createKeyList, parseKeyList } from "../report/statement/signatures.ts";
import { readTextFile } from "../base/read-file.ts";

export const keyAlgorithms = ["ed25519", "p256"] as const;
export type KeyAlgorithm = (typeof keyAlgorithms)[number];

/** Generates a key pair. Writes `NAME.key.pem` (private, readable only by this user) and `NAME.pub.pem`. */
export function createKeyPair(name: string, algorithm: KeyAlgorithm) {
  const { privateKey, publicKey } =
    algorithm === "ed25519" ? generateKeyPairSync("ed25519") : generateKeyPairSync("ec", { namedCurve: "P-256" });
  const [privateFile, publicFile] = [`${name}.key.pem`, `${name}.pub.pem`];
  writeNewPrivateFile(privateFile, String(privateKey.export({ type: "pkcs8", format: "pem" })));
  try {
    replaceFile(publicFile, String(publicKey.export({ type: "spki", format: "pem" })));
  } catch (error) {
    throw new UsageError(line`The public key cannot be written: ${publicFile} (${errorCodeOrText(error)}).`);
  }
  return { keyId: keyIdOf(publicKey), privateFile, publicFile };
}

/** Writes a private key into a new file. Never replaces a file, which could hold another private key. */
function writeNewPrivateFile(file: string, pem: string): void {
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

/** Returns a vendor's public keys as a JSON list. If a file holds a private key, derives its public key. */
export function keyListJson(files: readonly string[], vendor: string): string {
  const list = createKeyList(
    vendor,
    files.map((file) => {
      const key = parsePublicKey(readTextFile(file, "The key"));
      if (key.kind === "value") return key.value;
      throw new UsageError(line`The key in ${file} ${key.problem}.`);
    }),
  );
  const checked = parseKeyList(list);
  if (checked.kind === "problem") throw new UsageError(line`The list cannot be made: ${checked.problem}.`);
  return `${JSON.stringify(list, null, 2)}\n`;
}
