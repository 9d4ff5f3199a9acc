import { spawnSync } from "node:child_process";

import { describe, expect, it } from "vitest";

import { signatureVectors } from "./event.ts";

const hasOpenSsl = spawnSync("openssl", ["version"]).status === 0;

/** Computes an HMAC-SHA256 with OpenSSL. */
function opensslHmac(signed: Buffer, secret: string): string {
  const key = Buffer.from(secret, "utf8").toString("hex");
  const args = ["dgst", "-sha256", "-mac", "HMAC", "-macopt", `hexkey:${key}`, "-r"];
  return spawnSync("openssl", args, { input: signed, encoding: "utf8" }).stdout.slice(0, 64);
}

describe.skipIf(!hasOpenSsl)("signature vectors agree with what openssl computes", () => {
  const { deliveries, requests } = signatureVectors();
  it.each([...deliveries, ...requests])("$name: $signature", ({ secret, signed, signature }) => {
    expect(opensslHmac(Buffer.from(signed, "base64"), secret)).toBe(signature);
  });
});
