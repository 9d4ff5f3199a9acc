import { createPublicKey, type JsonWebKey, type KeyObject } from "node:crypto";
import { z } from "zod";

import type { Parsed } from "../../base/parsing.ts";
import { keyIdOf, parsePublicKey, tryParseKey, supportedKey } from "./signing-key.ts";

const keySchema = z.strictObject({
  keyid: z.string().describe("SHA-256 of the public key (SubjectPublicKeyInfo in DER), in lower-case hex."),
  name: z.string().describe("What the key is for.").exactOptional(),
  pem: z.string().describe("The public key in PEM; or `jwk`.").exactOptional(),
  jwk: z.record(z.string(), z.unknown()).describe("The public key as a JSON Web Key; or `pem`.").exactOptional(),
  revoked: z.iso.date().describe("Since when nobody should accept the key, such as 2026-05-01.").exactOptional(),
});

/** Schema of the file in which a vendor publishes the public keys that sign its statements. */
export const keyListSchema = z
  .strictObject({
    $schema: z.string().exactOptional(),
    vendor: z.string().min(1),
    keys: z.array(keySchema).min(1),
  })
  .describe("The keys with which a vendor signs conformance statements. `conformance verify --keys` reads it.");

type KeyListFile = z.infer<typeof keyListSchema>;

/** A public key of a vendor. */
export interface VendorKey {
  readonly keyId: string;
  readonly vendor: string;
  readonly key: KeyObject;
  /** Day since which the key is revoked; `null` if it is not. */
  readonly revoked: string | null;
}

/** Parses the keys of a list. The problem names the first key that cannot be used. */
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

/** Creates the key list that a vendor publishes, from its public keys. */
export const createKeyList = (vendor: string, keys: readonly KeyObject[]): KeyListFile => ({
  vendor,
  keys: keys.map((key) => ({ keyid: keyIdOf(key), pem: String(key.export({ type: "spki", format: "pem" })) })),
});
