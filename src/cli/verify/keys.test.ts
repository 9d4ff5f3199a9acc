import { createPublicKey } from "node:crypto";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { afterAll, beforeAll, describe, expect, it } from "vitest";

import { listenOnLoopback } from "../../base/network/network.ts";
import { commandLineIn } from "../testing/command.ts";

const folder = mkdtempSync(join(tmpdir(), "keys-"));
const run = commandLineIn(folder);
const report = new URL("../testing/saved-by-0.1.0/run", import.meta.url).pathname;
const textOf = (name: string): string => readFileSync(join(folder, name), "utf8");
const save = (name: string, content: unknown): string => {
  writeFileSync(join(folder, name), typeof content === "string" ? content : JSON.stringify(content));
  return name;
};

interface ListFile {
  readonly vendor: string;
  readonly keys: readonly { readonly keyid: string; readonly pem: string }[];
}

/** The list of Acme's key, and of another one. */
let acme: ListFile;
let other: ListFile;

const server = createServer((request, response) => {
  const [status, body] = responses[request.url ?? ""] ?? [404, ""];
  response.writeHead(status, status === 302 ? { location: "/keys.json" } : {}).end(body);
});
const responses: Record<string, [number, string]> = {
  "/moved.json": [302, ""],
  "/huge.json": [200, " ".repeat(2 ** 21)],
};
let port: number;
const url = (path: string): string => `http://127.0.0.1:${port}${path}`;

beforeAll(async () => {
  port = await listenOnLoopback(server);
  await run(["key", "new", "acme"]);
  await run(["key", "new", "other", "--algorithm", "p256"]);
  // The list is made of the private key. It must contain only the public one.
  acme = JSON.parse((await run(["key", "list", "acme.key.pem", "--vendor", "Acme"])).out) as ListFile;
  other = JSON.parse((await run(["key", "list", "other.pub.pem", "--vendor", "Other"])).out) as ListFile;
  save("keys.json", acme);
  responses["/keys.json"] = [200, JSON.stringify(acme)];
  await run(["report", report, "--statement", "s.json", "--sign-key", "acme.key.pem", "--valid-days", "3650"]);
  await run(["report", report, "--statement", "unsigned.json"]);
});
afterAll(() => {
  server.close();
  rmSync(folder, { recursive: true });
});

const verifyWith = (keys: string, statement = "s.json") => run(["verify", statement, "--keys", keys]);

describe("verify --keys", () => {
  it("names the vendor whose key has signed, from a file and from an address", async () => {
    for (const place of ["keys.json", url("/keys.json")]) {
      const { code, out } = await verifyWith(place);
      expect(out).toMatch(/^verified: .*, signed by Acme \(key [0-9a-f]{16}\)$/m);
      expect(code).toBe(0);
    }
  });

  it("accepts a key in a JSON Web Key, and several lists", async () => {
    const keys = acme.keys.map(({ keyid, pem }) => ({ keyid, jwk: createPublicKey(pem).export({ format: "jwk" }) }));
    save("jwk.json", { ...acme, keys });
    save("other.json", other);
    const { code, out } = await run(["verify", "s.json", "--keys", "other.json", "--keys", "jwk.json", "--json"]);
    expect([code, JSON.parse(out)]).toMatchObject([
      0,
      { verified: true, signature: "valid", signers: [{ vendor: "Acme", keyId: acme.keys[0]?.keyid }] },
    ]);
  });

  it("says that no report was given", async () => {
    expect((await verifyWith("keys.json")).out).toContain("No report was given, so nothing was compared with it.");
    expect((await run(["verify", "s.json", report, "--keys", "keys.json"])).out).not.toContain("No report was given");
  });

  it("counts one signature of two, and says whose key is unknown", async () => {
    const signed = JSON.parse(textOf("s.json")) as { signatures: object[] };
    save("two.json", { ...signed, signatures: [...signed.signatures, { keyid: "ff00", sig: "AAAA" }] });
    const { code, out } = await verifyWith("keys.json", "two.json");
    expect([code, out]).toEqual([0, expect.stringMatching(/^signature: no list has the key ff00$/m)]);
  });

  const revoked = (): ListFile => ({ ...acme, keys: acme.keys.map((key) => ({ ...key, revoked: "2026-05-01" })) });
  it.each<[string, () => unknown, RegExp]>([
    ["an unknown key", () => other, /^✗ signature: no list has the key [0-9a-f]{16}$/m],
    ["a revoked key", revoked, /^✗ signature: the key [0-9a-f]{16} of Acme was revoked on 2026-05-01$/m],
  ])("refuses %s", async (_, list, line) => {
    const { code, out } = await verifyWith(save("refused.json", list()));
    expect([code, out]).toEqual([1, expect.stringMatching(line)]);
  });

  it("refuses an unsigned statement", async () => {
    const { code, out } = await verifyWith("keys.json", "unsigned.json");
    expect([code, out]).toEqual([1, expect.stringContaining("✗ signature: the statement is unsigned")]);
  });

  const first = () => acme.keys[0] ?? { keyid: "", pem: "" };
  it.each<[string, () => string, RegExp]>([
    ["a missing file", () => "none.json", /The list of keys cannot be read: none\.json \(ENOENT\)\./],
    ["a missing page", () => url("/none.json"), /The list of keys cannot be read: http:.* answers 404\./],
    ["an address that moved", () => url("/moved.json"), /answers 302\. Give the address that it leads to, if it is/],
    ["a page without an end", () => url("/huge.json"), /The list of keys at http:.* exceeds 1 MiB\./],
    ["http elsewhere", () => "http://acme.example/k", /Give a file or an https URL: over http, somebody on the way/],
    ["no list", () => save("no-list.json", []), /no-list\.json is not a list of keys: the file: /],
    ["an empty list", () => save("a.json", { ...acme, keys: [] }), /a\.json is not a list of keys: keys: /],
    [
      "a private key",
      () => save("b.json", { ...acme, keys: [{ ...first(), pem: textOf("acme.key.pem") }] }),
      /keys\.0 has a private key\. Revoke it, and publish only public ones\./,
    ],
    [
      "a key under another id",
      () => save("c.json", { ...acme, keys: [{ ...first(), pem: other.keys[0]?.pem }] }),
      /keys\.0\.keyid is not the SHA-256 of its key\./,
    ],
    ["a key twice", () => save("d.json", { ...acme, keys: [first(), first()] }), /keys\.1\.keyid occurs twice\./],
    ["no key", () => save("e.json", { ...acme, keys: [{ keyid: "00" }] }), /keys\.0 needs either a pem or a jwk\./],
    [
      "a jwk that is none",
      () => save("f.json", { ...acme, keys: [{ keyid: "00", jwk: { kty: "EC" } }] }),
      /keys\.0 has no key in its jwk\./,
    ],
  ])("ends with 2 and one line for %s", async (_, place, line) => {
    const { code, out, err } = await verifyWith(place());
    expect([code, out]).toEqual([2, ""]);
    expect(err).toMatch(line);
    expect(err.trim().split("\n")).toHaveLength(1);
  });

  it("needs a report or keys", async () => {
    expect(await run(["verify", "s.json"])).toMatchObject({
      code: 2,
      err: expect.stringMatching(/^Give the folder of/),
    });
  });
});

it("a list of keys has no private key", () => {
  expect(JSON.stringify(acme)).not.toContain("PRIVATE");
  expect(acme.keys[0]?.pem).toBe(textOf("acme.pub.pem"));
});
