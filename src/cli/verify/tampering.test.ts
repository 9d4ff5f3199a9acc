import { createPrivateKey, sign } from "node:crypto";
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { afterAll, beforeAll, describe, expect, it } from "vitest";

import { digestsOfSaved, readReportDocument } from "../../app/report-folder/saved-report.ts";
import {
  type Envelope,
  parseSigningKey,
  payloadOf,
  sealEnvelope,
  type SigningKey,
} from "../../report/statement/signatures.ts";
import { serializeSigned } from "../../report/statement/attestation.ts";
import { serializeStatement, statementOf } from "../../report/statement/statement.ts";
import { commandLineIn } from "../testing/command.ts";

const root = mkdtempSync(join(tmpdir(), "tampering-"));
const run = commandLineIn(root);
const saved = new URL("../testing/saved-by-0.1.0/", import.meta.url).pathname;
const honest = join(root, "honest");
const textOf = (folder: string, name: string): string => readFileSync(join(folder, name), "utf8");

/** Changes files of an honest folder: `statement.json`, `run/`, `keys.json` and `policy.yaml`. */
type Tampering = (folder: string) => void;

const edit =
  (name: string, change: (text: string) => string): Tampering =>
  (folder) =>
    writeFileSync(join(folder, name), change(textOf(folder, name)));
const replace = (name: string, from: string | RegExp, to: string): Tampering =>
  edit(name, (text) => text.replace(from, to));
const inEnvelope = (change: (envelope: Envelope) => object): Tampering =>
  edit("statement.json", (text) => JSON.stringify(change(JSON.parse(text) as Envelope)));
/** Changes the signed text, and keeps the signature. */
const inPayload = (from: string | RegExp, to: string): Tampering =>
  inEnvelope((envelope) => ({ ...envelope, payload: base64(decode(envelope).replace(from, to)) }));
const inSignature = (change: (signature: Envelope["signatures"][number], envelope: Envelope) => object): Tampering =>
  inEnvelope((envelope) => ({ ...envelope, signatures: envelope.signatures.map((each) => change(each, envelope)) }));

const base64 = (bytes: string | Uint8Array): string => Buffer.from(bytes).toString("base64");
const decode = (envelope: Envelope): string => payloadOf(envelope).toString("utf8");

function keyOf(name: string): SigningKey {
  const key = parseSigningKey(textOf(root, `${name}.key.pem`));
  if (key.kind === "problem") throw new Error(key.problem);
  return key.value;
}
/** Changes the signed text, and signs it again by a key. */
const signedAnew = (by: string, from: string | RegExp = "", to = ""): Tampering =>
  inEnvelope((envelope) => sealEnvelope(decode(envelope).replace(from, to), keyOf(by)));
/** Signs the statement of the report as it is now. */
const signReport = (folder: string, validDays = 3650): void => {
  const path = join(folder, "run");
  const document = readReportDocument(path);
  const statement = statementOf(document, digestsOfSaved(path, document));
  writeFileSync(
    join(folder, "statement.json"),
    serializeSigned(statement, { key: keyOf("acme"), subjects, validDays }),
  );
};
const subjects = [{ name: "app", digest: { sha256: "a".repeat(64) } }];
const flipped = (text: string): string =>
  base64(Buffer.from(text, "base64").map((byte, at) => (at === 9 ? byte ^ 1 : byte)));

const policy = `
signers: [{ keys: keys.json }]
subjects: [app=sha256:${"a".repeat(64)}]
verdicts: [partial]
exceptions: [{ check: INV-2, until: 2999-12-31, reason: known }]
report: true
`;

beforeAll(async () => {
  for (const name of ["acme", "second", "thief"]) await run(["key", "new", name]);
  cpSync(join(saved, "run"), join(honest, "run"), { recursive: true });
  const list = await run(["key", "list", "acme.pub.pem", "second.pub.pem", "--vendor", "Acme"]);
  writeFileSync(join(honest, "keys.json"), list.out);
  writeFileSync(join(honest, "policy.yaml"), policy);
  signReport(honest);
});
afterAll(() => {
  rmSync(root, { recursive: true });
});

const forged = /✗ signature: it is not by the key [0-9a-f]{16} of Acme over this statement/;
const unknown = /✗ signature: no list has the key [0-9a-f]{16}/;

const tamperings: readonly (readonly [string, Tampering, RegExp])[] = [
  // The signed text, under the old signature.
  ["payload: another verdict", inPayload('"verdict":"nonconformant"', '"verdict":"conformant"'), forged],
  ["payload: another result", inPayload('"FAILED"', '"PASSED"'), forged],
  ["payload: an exception less", inPayload('"failedTests":["INV-2"]', '"failedTests":[]'), forged],
  ["payload: another digest", inPayload(/"sha256":"[0-9a-f]{8}/, '"sha256":"00000000'), forged],
  ["payload: a space more", inPayload("{", "{ "), forged],
  ["payload: a field twice", inPayload('"subject"', '"predicateType":"x","subject"'), /payload\) has a duplicate name/],
  ["payload: cut off", inPayload(/.{20}$/, ""), /statement\.json \(payload\) is not JSON/],
  [
    "payload: another type",
    inPayload("test-result/v0.1", "test-result/v9"),
    /payload\) is not a conformance statement/,
  ],
  [
    "payload: an unknown field",
    inPayload('"_type"', '"seal":"ok","_type"'),
    /payload\) is not a conformance statement/,
  ],
  // The envelope.
  [
    "envelope: another type",
    inEnvelope((given) => ({ ...given, payloadType: "text/plain" })),
    /statement: payloadType: /,
  ],
  [
    "envelope: no base64",
    inEnvelope((given) => ({ ...given, payload: `${given.payload}*` })),
    /payload: must be base64/,
  ],
  ["envelope: an unknown field", inEnvelope((given) => ({ ...given, seal: "ok" })), /Unrecognized key: "seal"/],
  ["envelope: no signature", inEnvelope((given) => ({ ...given, signatures: [] })), /statement: signatures: /],
  ["envelope: a field twice", replace("statement.json", "{", '{"payload":"e30=",'), /duplicate name "payload"/],
  ["envelope: taken off", unsign, /✗ signers: the statement is unsigned/],
  // The signature.
  ["signature: a bit flipped", inSignature((given) => ({ ...given, sig: flipped(given.sig) })), forged],
  [
    "signature: cut off",
    inSignature((given) => ({ ...given, sig: base64(Buffer.from(given.sig, "base64").subarray(1)) })),
    forged,
  ],
  ["signature: empty", inSignature((given) => ({ ...given, sig: "" })), /sig: must be base64/],
  [
    "signature: of another text",
    inSignature((given, { payload }) => ({ ...given, sig: withoutEncoding(payload) })),
    forged,
  ],
  [
    "signature: under another key of the vendor",
    inSignature((given) => ({ ...given, keyid: keyOf("second").keyId })),
    forged,
  ],
  ["signature: under no key", inSignature((given) => ({ ...given, keyid: "" })), /✗ signature: no list has the key/],
  // The key.
  ["key: a thief's", signedAnew("thief"), unknown],
  [
    "key: a thief's, under the vendor's id",
    inEnvelope((given) => underAcme(sealEnvelope(decode(given), keyOf("thief")))),
    forged,
  ],
  // The time.
  ["expiry: passed", (folder) => signReport(folder, 1), /✗ expires: the statement expired on 2026-11-24/],
  ["expiry: put off", inPayload(/"expires":"20\d\d/, '"expires":"2999'), forged],
  // Contradictions that the vendor signs.
  ["vendor: a better result", signedAnew("acme", '"FAILED"', '"PASSED"'), /✗ predicate\.result: .*"PASSED".*"FAILED"/],
  ["vendor: no failed test", signedAnew("acme", '["INV-2"]', "[]"), /✗ predicate\.failedTests: /],
  ["vendor: another set", signedAnew("acme", "requirements:1.0", "requirements:1.2"), /✗ predicate\.configuration\.1/],
  // The subject.
  [
    "subject: another image",
    signedAnew("acme", /a{64}/, "b".repeat(64)),
    /✗ subjects: it is not about app=sha256:aaaa/,
  ],
  [
    "subject: another deployment",
    signedAnew("acme", /(Fingerprint":")\w/, "$1_"),
    /subject\.0\.digest\.deploymentFing/,
  ],
  // The report.
  [
    "report: a figure",
    replace("run/report.json", /"durationMs": ?\d/, '"durationMs": 9'),
    /✗ report\.json: its SHA-256 is/,
  ],
  [
    "report: another",
    (folder) => cpSync(join(saved, "newer"), join(folder, "run"), { recursive: true }),
    /✗ .*the statement says/,
  ],
  ["report: another address, signed anew", moved, /✗ target\.baseUrl: the report says .*, its evidence is of/],
  ["report: none", (folder) => rmSync(join(folder, "run/report.json")), /The report cannot be read: .*report\.json/],
  // The evidence.
  [
    "evidence: another status",
    replace("run/evidence.json", '"status":200', '"status":500'),
    /✗ evidence\.json: its SHA/,
  ],
  ["evidence: none", (folder) => rmSync(join(folder, "run/evidence.json")), /✗ The evidence could not be judged: /],
  // The policy.
  ["policy: a rule that is none", edit("policy.yaml", (text) => `${text}lenient: true\n`), /not a policy: .*"lenient"/],
  ["policy: a rule twice", edit("policy.yaml", (text) => `${text}report: true\n`), /policy\.yaml:\d+:\d+: the policy /],
  ["policy: without the exception", replace("policy.yaml", /exceptions.*/, ""), /✗ exceptions: INV-2 fails/],
  // The list of keys.
  ["keys: another key under the id", putThiefIn, /keyid is not the SHA-256 of/],
  [
    "keys: revoked",
    replace("keys.json", '"keyid"', '"revoked":"2026-01-01","keyid"'),
    /of Acme was revoked on 2026-01-01/,
  ],
  ["keys: without the key", replace("keys.json", /\{\s*"keyid[^}]*\},/, ""), unknown],
  ["keys: a name twice", replace("keys.json", '"vendor"', '"vendor":"Thief","vendor"'), /duplicate name "vendor"/],
];

/** Leaves the statement without its envelope. */
function unsign(folder: string): void {
  const path = join(folder, "run");
  const document = readReportDocument(path);
  const text = serializeStatement(statementOf(document, digestsOfSaved(path, document)));
  writeFileSync(join(folder, "statement.json"), text);
}

/** Gives the report another address, and signs its statement. */
function moved(folder: string): void {
  replace("run/report.json", /"baseUrl": ?"[^"]*"/, '"baseUrl": "https://acme.example/v1"')(folder);
  signReport(folder);
}

/** Signs a payload without the encoding of DSSE around it. */
const withoutEncoding = (payload: string): string =>
  base64(sign(null, Buffer.from(payload, "base64"), createPrivateKey(textOf(root, "acme.key.pem"))));

const underAcme = (envelope: Envelope): Envelope => ({
  ...envelope,
  signatures: envelope.signatures.map((each) => ({ ...each, keyid: keyOf("acme").keyId })),
});

/** Puts the thief's key under the vendor's id. */
function putThiefIn(folder: string): void {
  const [, key = ""] = textOf(root, "thief.pub.pem").split("\n");
  replace("keys.json", /MCow[^\\]*/, key)(folder);
}

describe("a signed statement with its report, keys and policy", () => {
  const verify = (folder: string) => {
    const path = (name: string): string => join(folder, name);
    return run(["verify", path("statement.json"), path("run"), "--policy", path("policy.yaml")]);
  };

  it("is verified as it is", async () => {
    const { code, out } = await verify(honest);
    expect(out).toMatch(/^verified: .*, signed by Acme/m);
    expect(code).toBe(0);
  });

  it("is tampered with in more than 30 ways", () => {
    expect(tamperings.length).toBeGreaterThan(30);
  });

  it.each(tamperings)("is refused with %s", async (name, tamper, line) => {
    const folder = join(root, name.replaceAll(/\W+/g, "-"));
    cpSync(honest, folder, { recursive: true });
    tamper(folder);
    const { code, out, err } = await verify(folder);
    expect(`${out}${err}`).toMatch(line);
    expect([1, 2]).toContain(code);
    expect(out).not.toMatch(/^verified: /m);
  });
});
