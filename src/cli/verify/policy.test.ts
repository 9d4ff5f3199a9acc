import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { afterAll, beforeAll, describe, expect, it } from "vitest";

import { serializeStatement } from "../../report/statement/statement.ts";
import type { Statement } from "../../report/statement/statement-schema.ts";
import { serializeSigned } from "../../report/statement/attestation.ts";
import { parseSigningKey } from "../../report/statement/signatures.ts";
import { commandLineIn } from "../testing/command.ts";

const folder = mkdtempSync(join(tmpdir(), "policy-"));
const run = commandLineIn(folder);
const report = new URL("../testing/saved-by-0.1.0/run", import.meta.url).pathname;
const textOf = (name: string): string => readFileSync(join(folder, name), "utf8");
const save = (name: string, text: string): string => {
  writeFileSync(join(folder, name), text);
  return name;
};

const statement = JSON.parse(readFileSync(join(report, "statement.json"), "utf8")) as Statement;
const green: Statement = { ...statement, verdict: "conformant", exceptions: [] };
const later = (days: number): string => new Date(Date.parse(statement.finished) + days * 86_400_000).toISOString();

/** Signs a statement, and returns the name of its file. */
function signed(name: string, content: Statement, by = "acme"): string {
  const key = parseSigningKey(textOf(`${by}.key.pem`));
  if (key.kind === "problem") throw new Error(key.problem);
  return save(name, serializeSigned(content, { key: key.value, validDays: 3650 }));
}

const policy = `
signers:
  - keys: keys.json
verdicts: [conformant, partial]
exceptions:
  - { check: INV-2, until: "2999-12-31", reason: they mend it }
requirements: "1.0"
excessPercent: 5
`;

beforeAll(async () => {
  await run(["key", "new", "acme"]);
  await run(["key", "new", "thief"]);
  save("keys.json", (await run(["key", "list", "acme.pub.pem", "--vendor", "Acme"])).out);
  signed("red.json", statement);
  signed("green.json", green);
  save("policy.yaml", `${policy}optional: [excessPercent]\n`);
  save("strict.yaml", policy);
});
afterAll(() => {
  rmSync(folder, { recursive: true });
});

describe("verify --policy", () => {
  it("prints a line for each rule, and ends with 0 if all are met", async () => {
    const { code, out } = await run(["verify", "red.json", report, "--policy", "policy.yaml"]);
    expect(out).toMatch(/^✓ signers: signed by Acme$/m);
    expect(out).toMatch(/^✓ verdicts: partial$/m);
    expect(out).toMatch(/^✓ exceptions: nothing fails that may not$/m);
    expect(out).toMatch(/^✓ requirements: 1\.0$/m);
    expect(out).toMatch(/^– excessPercent: cannot be checked: the statement shows no tested rate limit \(optional\)$/m);
    expect(out).toMatch(/^verified: /m);
    expect(code).toBe(0);
  });

  it("fails for a rule that cannot be checked, and prints the rules as JSON", async () => {
    const { code, out } = await run(["verify", "green.json", "--policy", "strict.yaml", "--json"]);
    expect(code).toBe(1);
    expect(JSON.parse(out)).toMatchObject({
      verified: false,
      mismatches: [],
      rules: expect.arrayContaining([expect.objectContaining({ rule: "excessPercent", outcome: "unchecked" })]),
    });
  });

  it("refuses an unsigned statement, unless the policy accepts it", async () => {
    save("unsigned.json", serializeStatement(green));
    const refused = await run(["verify", "unsigned.json", "--policy", "policy.yaml"]);
    expect([refused.code, refused.out]).toEqual([1, expect.stringContaining("✗ signers: the statement is unsigned")]);
    save("lenient.yaml", `unsigned: true\n`);
    const accepted = await run(["verify", "unsigned.json", "--policy", "lenient.yaml"]);
    expect([accepted.code, accepted.out]).toEqual([
      0,
      expect.stringContaining("✓ signers: unsigned, which the policy"),
    ]);
  });

  it.each([
    ["a missing file", () => "none.yaml", /The policy cannot be read: none\.yaml \(ENOENT\)\./],
    ["a file of another kind", () => save("p.txt", ""), /p\.txt ends in none of \.json, \.yaml and \.yml/],
    ["a syntax error", () => save("p1.yaml", "signers: [\n"), /p1\.yaml:\d+:\d+: the policy /],
    ["a rule that is none", () => save("p2.yaml", "unsigned: true\nmaxAge: 3\n"), /p2\.yaml is not a policy: .*maxAge/],
    ["a set without quotes", () => save("p3.yaml", "unsigned: true\nrequirements: 1.1\n"), /requirements: .*"1\.1"/],
    [
      "a policy that accepts nobody",
      () => save("p4.json", "{}"),
      /p4\.json is not a policy: .*needs signers, or unsigned/,
    ],
    ["a signer without a key", () => save("p5.yaml", "signers: [{}]\n"), /signers\.0: needs keys, keyid or both/],
    ["a list that is missing", () => save("p6.yaml", "signers: [{ keys: no.json }]\n"), /list of keys cannot be read/],
  ])("ends with 2 and one line for %s", async (_, file, line) => {
    const { code, out, err } = await run(["verify", "green.json", "--policy", file()]);
    expect([code, out]).toEqual([2, ""]);
    expect(err).toMatch(line);
    expect(err.trim().split("\n")).toHaveLength(1);
  });
});

describe("verify --also", () => {
  const verify = (...also: string[]) =>
    run(["verify", "green.json", "--keys", "keys.json", ...also.flatMap((file) => ["--also", file])]);

  it("refuses a green statement if a newer one of the deployment is red", async () => {
    signed("newer.json", { ...statement, finished: later(2) });
    const { code, out } = await verify("newer.json");
    expect([code, out]).toEqual([
      1,
      expect.stringMatching(/^✗ superseded: newer\.json is newer, of 2026-11-25, and non/m),
    ]);
  });

  it.each<[string, Partial<Statement>]>([
    ["an older one", { finished: later(-2) }],
    ["a newer green one", { finished: later(2), verdict: "conformant" }],
    ["one of another deployment", { finished: later(2), target: { ...statement.target, baseUrl: "http://other" } }],
    ["one of a later set", { finished: later(2), suite: { ...statement.suite, requirements: "1.2" } }],
    ["one of another party", { finished: later(2), party: "receiver" }],
  ])("goes by no other: %s", async (_, change) => {
    expect(await verify(signed("other.json", { ...statement, ...change }))).toMatchObject({ code: 0 });
  });

  it("refuses to go by a statement that it cannot trust, because a forger may have made it green", async () => {
    const stolen = await verify(signed("stolen.json", { ...green, finished: later(2) }, "thief"));
    expect([stolen.code, stolen.out]).toEqual([
      1,
      expect.stringContaining("✗ stolen.json: its signature does not count"),
    ]);
    save("plain.json", serializeStatement(green));
    const plain = await verify("plain.json");
    expect([plain.code, plain.out]).toEqual([1, expect.stringContaining("✗ plain.json: its signature does not count")]);
  });
});
