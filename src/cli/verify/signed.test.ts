import { generateKeyPairSync } from "node:crypto";
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { afterAll, beforeAll, describe, expect, it } from "vitest";

import { commandLineIn } from "../testing/command.ts";

const folder = mkdtempSync(join(tmpdir(), "signed-"));
const run = commandLineIn(folder);
const report = new URL("../testing/saved-by-0.1.0/run", import.meta.url).pathname;
const textOf = (name: string): string => readFileSync(join(folder, name), "utf8");
const app = `app=sha256:${"a".repeat(64)}`;

/** Signs the statement of the report with the flags. */
const sign = (name: string, ...flags: string[]) => run(["report", report, "--statement", name, ...flags]);

beforeAll(async () => {
  await run(["key", "new", "acme"]);
  await sign("signed.json", "--sign-key", "acme.key.pem", "--subject", app, "--valid-days", "3650");
});
afterAll(() => {
  rmSync(folder, { recursive: true });
});

describe("conformance key new", () => {
  it("writes a private key that only its owner can read, and never replaces one", async () => {
    expect(statSync(join(folder, "acme.key.pem")).mode & 0o777).toBe(0o600);
    const before = textOf("acme.key.pem");
    const { code, err } = await run(["key", "new", "acme"]);
    expect([code, err]).toEqual([2, expect.stringContaining("acme.key.pem exists, and a key is never replaced.")]);
    expect(textOf("acme.key.pem")).toBe(before);
  });

  it("prints the id of the key, and no key", async () => {
    const { code, out, err } = await run(["key", "new", "second", "--algorithm", "p256"]);
    expect([code, out]).toEqual([0, expect.stringMatching(/^[0-9a-f]{64}\n$/)]);
    expect(err).not.toContain(textOf("second.key.pem").split("\n")[1]);
  });

  it("names an algorithm that is none, and a folder that is missing", async () => {
    expect((await run(["key", "new", "a", "--algorithm", "rsa"])).err).toMatch(
      /--algorithm is "rsa"; there are ed25519/,
    );
    expect((await run(["key", "new", "none/a"])).err).toMatch(/cannot be written: none\/a\.key\.pem \(ENOENT\)/);
  });
});

describe("a signed statement", () => {
  it("is verified against its report, with its key and subjects", async () => {
    const { code, out } = await run(["verify", "signed.json", report, "--json"]);
    const [{ keyid }] = (JSON.parse(textOf("signed.json")) as { signatures: [{ keyid: string }] }).signatures;
    expect([code, JSON.parse(out)]).toMatchObject([
      0,
      { verified: true, signature: "unchecked", keyIds: [keyid], subjects: [{ name: "app" }], mismatches: [] },
    ]);
  });

  it("is signed by the key in the environment, too", async () => {
    const { code } = await run(["report", report, "--statement", "by-environment.json"], {
      CONFORMANCE_SIGNING_KEY: textOf("acme.key.pem"),
    });
    expect(code).toBe(0);
    expect(JSON.parse(textOf("by-environment.json"))).toMatchObject({ payloadType: "application/vnd.in-toto+json" });
  });

  it("expires", async () => {
    await sign("short.json", "--sign-key", "acme.key.pem", "--valid-days", "1");
    const { code, out } = await run(["verify", "short.json", report]);
    expect(out).toContain("✗ expires: the statement expired on 2026-11-24. Ask for a newer one");
    expect(code).toBe(1);
  });

  it("is written as unsigned without a key, and shown so", async () => {
    await sign("unsigned.json");
    const { code, out } = await run(["verify", "unsigned.json", report]);
    expect([code, out]).toEqual([0, expect.stringMatching(/^verified: .*, unsigned$/m)]);
  });
});

describe("a key that cannot sign: one line, exit code 2, and the key is not repeated", () => {
  const rsa = String(
    generateKeyPairSync("rsa", { modulusLength: 2048 }).privateKey.export({ type: "pkcs8", format: "pem" }),
  );
  writeFileSync(join(folder, "rsa.pem"), rsa);
  writeFileSync(join(folder, "text.pem"), "hunter2hunter2hunter2");

  it.each<[string, string[], RegExp]>([
    ["a missing file", ["--sign-key", "none.pem"], /The signing key cannot be read: none\.pem \(ENOENT\)\./],
    ["no PEM", ["--sign-key", "text.pem"], /The signing key in text\.pem is not a private key in PEM\./],
    ["a key of another kind", ["--sign-key", "rsa.pem"], /rsa\.pem is of the kind rsa\. Statements are signed with/],
    ["the public key", ["--sign-key", "acme.pub.pem"], /acme\.pub\.pem is a public key\./],
    ["the key itself", ["--sign-key", rsa], /--sign-key has a key in place of a file\./],
    ["no key", ["--subject", app], /--subject is for a signed statement: give --sign-key FILE, or set/],
    ["no statement", ["--sign-key", "acme.key.pem"], /--sign-key is for a signed statement: give --statement FILE too/],
    ["a subject that is none", ["--sign-key", "acme.key.pem", "--subject", "app"], /--subject must be NAME=ALGORITHM/],
    [
      "a digest that is too short",
      ["--sign-key", "acme.key.pem", "--subject", "app=sha256:00"],
      /--subject must be NAME=ALGORITHM:DIGEST/,
    ],
    ["too many days", ["--sign-key", "acme.key.pem", "--valid-days", "99999"], /--valid-days is 99999; give at most/],
  ])("%s", async (name, flags, line) => {
    const statement = name === "no statement" ? [] : ["--statement", "out.json"];
    const { code, out, err } = await run(["report", report, ...statement, ...flags]);
    expect([code, out]).toEqual([2, ""]);
    expect(err).toMatch(line);
    expect(err.trim().split("\n")).toHaveLength(1);
    expect(err).not.toMatch(/hunter2|PRIVATE KEY|MII/);
  });
});
