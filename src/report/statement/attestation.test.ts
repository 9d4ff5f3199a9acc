import { createPublicKey, generateKeyPairSync, type KeyObject } from "node:crypto";

import { describe, expect, it } from "vitest";

import { sampleFinding, sampleReport } from "../testing/sample.ts";
import { attestationDifferences, attestationSchema, partsOfAttestation, serializeSigned } from "./attestation.ts";
import {
  envelopeSchema,
  isSignedBy,
  keyIdOf,
  parsePublicKey,
  parseSigningKey,
  payloadOf,
  signedBytes,
  type SigningKey,
} from "./signatures.ts";
import { statementOf } from "./statement.ts";

const pem = (key: KeyObject, type: "pkcs8" | "spki" = "pkcs8"): string => String(key.export({ type, format: "pem" }));

const pairs = {
  Ed25519: generateKeyPairSync("ed25519"),
  "ECDSA P-256": generateKeyPairSync("ec", { namedCurve: "P-256" }),
};
const pairNames = Object.keys(pairs) as (keyof typeof pairs)[];

function signingKey(key: KeyObject): SigningKey {
  const parsed = parseSigningKey(pem(key));
  if (parsed.kind === "problem") throw new Error(parsed.problem);
  return parsed.value;
}

const statement = statementOf(
  {
    report: sampleReport(
      [
        sampleFinding({ outcome: "fail", instance: "free" }),
        sampleFinding({ outcome: "fail", instance: "pro" }),
        sampleFinding({ clause: "INV-3", level: "should", outcome: "warning" }),
      ],
      { verdict: "nonconformant" },
    ),
  },
  {},
);
const subjects = [{ name: "app", digest: { sha256: "a".repeat(64) } }];

describe("a signed statement", () => {
  it.each(pairNames)("is a DSSE envelope around an in-toto test result, signed with %s", (name) => {
    const { privateKey, publicKey } = pairs[name];
    const envelope = envelopeSchema.parse(
      JSON.parse(serializeSigned(statement, { key: signingKey(privateKey), subjects, validDays: 10 })),
    );
    const [signature] = envelope.signatures;
    expect(signature?.keyid).toBe(keyIdOf(publicKey));
    const payload = payloadOf(envelope);
    expect(isSignedBy(publicKey, signedBytes(payload), Buffer.from(signature?.sig ?? "", "base64"))).toBe(true);
    const attestation = attestationSchema.parse(JSON.parse(payload.toString()));
    expect(attestation).toMatchObject({
      subject: [{ name: statement.target.baseUrl }, subjects[0]],
      predicate: { result: "FAILED", failedTests: ["SSE-5"], warnedTests: ["INV-3"] },
    });
    expect(partsOfAttestation(attestation)).toEqual({
      statement,
      subjects,
      expires: new Date(Date.parse(statement.finished) + 10 * 86_400_000).toISOString(),
    });
    expect(attestationDifferences(attestation)).toEqual([]);
  });

  it("signs the pre-authentication encoding of DSSE, whose lengths count bytes", () => {
    expect(signedBytes(Buffer.from("é")).toString()).toBe("DSSEv1 28 application/vnd.in-toto+json 2 é");
  });

  it.each([
    ["conformant", "PASSED"],
    ["partial", "WARNED"],
    ["incomplete", "FAILED"],
    ["unreachable", "FAILED"],
  ] as const)("of a %s deployment has the result %s", (verdict, result) => {
    const text = serializeSigned({ ...statement, verdict }, { key: signingKey(pairs.Ed25519.privateKey) });
    const payload = attestationSchema.parse(JSON.parse(payloadOf(envelopeSchema.parse(JSON.parse(text))).toString()));
    expect(payload.predicate.result).toBe(result);
  });

  it("accepts base64 in both alphabets, and nothing else", () => {
    const text = serializeSigned(statement, { key: signingKey(pairs.Ed25519.privateKey) });
    const envelope = envelopeSchema.parse(JSON.parse(text));
    const withPayload = (payload: string) => envelopeSchema.safeParse({ ...envelope, payload }).success;
    const urlSafe = payloadOf(envelope).toString("base64url");
    expect([urlSafe, `${envelope.payload}!`, "", "a"].map(withPayload)).toEqual([true, false, false, false]);
  });
});

describe("the keys of statements", () => {
  const rsa = generateKeyPairSync("rsa", { modulusLength: 2048 }).privateKey;
  const other = generateKeyPairSync("ec", { namedCurve: "P-384" });
  const encrypted = pairs.Ed25519.privateKey.export({
    type: "pkcs8",
    format: "pem",
    cipher: "aes-256-cbc",
    passphrase: "p",
  });

  it.each([
    ["no PEM", "secret", /^is not a private key in PEM$/],
    ["a broken PEM", pem(pairs.Ed25519.privateKey).slice(0, 60), /^is not a private key in PEM$/],
    ["an RSA key", pem(rsa), /^is of the kind rsa\. /],
    ["a key of another curve", pem(other.privateKey), /^is of the kind secp384r1\. /],
    ["a public key", pem(pairs.Ed25519.publicKey, "spki"), /^is a public key\. /],
    ["an encrypted key", String(encrypted), /^is encrypted\. /],
  ])("refuse %s, with a line that does not repeat it", (_, text, problem) => {
    expect(parseSigningKey(text)).toEqual({ kind: "problem", problem: expect.stringMatching(problem) });
  });

  it("accept ECDSA in SEC 1 as well, which OpenSSL writes", () => {
    const { privateKey, publicKey } = pairs["ECDSA P-256"];
    const text = String(privateKey.export({ type: "sec1", format: "pem" }));
    expect(parseSigningKey(text)).toMatchObject({ kind: "value", value: { keyId: keyIdOf(publicKey) } });
  });

  it("have an id that follows from the public key alone", () => {
    const { privateKey, publicKey } = pairs.Ed25519;
    expect(parsePublicKey(pem(publicKey, "spki"))).toEqual({ kind: "value", value: publicKey });
    expect(keyIdOf(createPublicKey(privateKey))).toBe(keyIdOf(publicKey));
    expect(JSON.stringify(signingKey(privateKey))).toBe(JSON.stringify({ keyId: keyIdOf(publicKey) }));
  });
});
