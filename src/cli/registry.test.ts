import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";

import { XMLValidator } from "fast-xml-parser";
import { afterAll, beforeAll, describe, expect, it } from "vitest";

import { commandLineIn } from "./testing/command.ts";

const folder = mkdtempSync(join(tmpdir(), "registry-"));
const run = commandLineIn(folder);
const example = new URL("../../examples/registry/vendors", import.meta.url).pathname;
const report = new URL("testing/saved-by-0.1.0/run", import.meta.url).pathname;
const place = (path: string): string => join(folder, path);
const textOf = (path: string): string => readFileSync(place(path), "utf8");
const build = (registry: string, ...flags: string[]) => run(["registry", registry, "--out", "site", ...flags]);
/** Names of everything in the test's folder that a failed build could leave. */
const leftOvers = (): string[] => readdirSync(folder).filter((name) => name === "site" || name.startsWith("."));

/** Copies the example into a new registry, and changes it. */
function changed(name: string, change: (path: (below: string) => string) => void): string {
  cpSync(example, place(name), { recursive: true });
  change((below) => join(folder, name, below));
  return name;
}

beforeAll(async () => {
  await run(["key", "new", "delta"]);
  const signed = (file: string, ...flags: string[]) =>
    run(["report", report, "--statement", file, "--sign-key", "delta.key.pem", ...flags]);
  await signed("delta.json", "--valid-days", "3650");
  await signed("expired.json", "--valid-days", "1");
  await run(["report", report, "--statement", "unsigned.json"]);
  writeFileSync(place("delta-keys.json"), (await run(["key", "list", "delta.pub.pem", "--vendor", "Delta"])).out);
});
afterAll(() => {
  rmSync(folder, { recursive: true });
});

describe("the site of the example", () => {
  let first: Awaited<ReturnType<typeof build>>;
  beforeAll(async () => {
    first = await build(example, "--url", "https://registry.example/x");
  });

  it("is built, and the command says that each statement is verified", () => {
    expect(first).toMatchObject({ code: 0, out: "site  site: 3 statements, all verified\n" });
  });

  it("has a page and the statement of each vendor, byte by byte", () => {
    for (const name of ["acme/1.2.0", "borealis/2.0.0", "cumulus/0.9.0"]) {
      expect(textOf(`site/${name}.json`)).toBe(readFileSync(join(example, `${name}.json`), "utf8"));
      expect(textOf(`site/${name}.html`)).toContain("Conformance statement");
    }
    expect(existsSync(place("site/acme/keys.json"))).toBe(true);
  });

  it("shows each verdict, the profiles that are not offered, and who signed", () => {
    const index = textOf("site/index.html");
    const rows = index.split("<tr").slice(2);
    expect(rows.map((row) => /✓ conformant|✕ nonconformant|◐ partial/.exec(row)?.[0])).toEqual([
      "✓ conformant",
      "✕ nonconformant",
      "◐ partial",
    ]);
    expect(rows.map((row) => row.match(/not offered/g)?.length ?? 0)).toEqual([0, 0, 5]);
    expect(index.match(/signed by the vendor/g)).toHaveLength(3);
  });

  it("links only to files that are there", () => {
    const pages = ["index.html", "acme/1.2.0.html"];
    const links = pages.flatMap((page) =>
      [...textOf(`site/${page}`).matchAll(/href="([^"#:]+)"/g)].map(([, href = ""]) =>
        join("site", dirname(page), href),
      ),
    );
    expect(links.length).toBeGreaterThan(6);
    expect(links.filter((link) => !existsSync(place(link)))).toEqual([]);
  });

  it("has a feed of the statements, the newest first", () => {
    const feed = textOf("site/feed.xml");
    expect(XMLValidator.validate(feed)).toBe(true);
    expect(feed).toContain('xml:base="https://registry.example/x/"');
    const updated = [...feed.matchAll(/<updated>(.*)<\/updated>/g)].map(([, time = ""]) => Date.parse(time));
    expect(updated).toHaveLength(4);
    expect(updated.slice(1)).toEqual(updated.slice(1).toSorted((one, other) => other - one));
    expect(feed).toContain("<title>Borealis 2.0.0: nonconformant</title>");
  });

  it("is replaced by the next build, with nothing of the old one left", async () => {
    writeFileSync(place("site/old.html"), "");
    expect(await build(example)).toMatchObject({ code: 0 });
    expect(existsSync(place("site/old.html"))).toBe(false);
  });
});

describe("a registry with more than the example", () => {
  it("shows expired and unsigned statements, those of an unknown key, and the report", async () => {
    const name = changed("more", (path) => {
      for (const vendor of ["delta", "epsilon"]) mkdirSync(path(vendor));
      cpSync(place("expired.json"), path("delta/0.1.0.json"));
      cpSync(place("delta-keys.json"), path("delta/keys.json"));
      cpSync(report, path("delta/0.1.0"), { recursive: true });
      cpSync(place("unsigned.json"), path("epsilon/a.json"));
      cpSync(place("delta.json"), path("epsilon/b.json"));
    });
    const { code, out } = await build(name);
    expect([code, out]).toEqual([0, expect.stringMatching(/^site {2}site: 6 statements, all verified, \d expired/)]);
    const index = textOf("site/index.html");
    for (const text of ["expired on 20", "unsigned", "signed by an unknown key", 'href="delta/0.1.0/report.html"'])
      expect(index).toContain(text);
    expect(textOf("site/delta/0.1.0.html")).toContain("No longer counts: expired on");
    expect(textOf("site/delta/0.1.0/report.html")).toContain("conformance report");
    for (const file of ["report.json", "evidence.json"])
      expect(textOf(`site/delta/0.1.0/${file}`)).toBe(readFileSync(join(report, file), "utf8"));
  });
});

const edited = (file: string, from: string | RegExp, to: string): void =>
  writeFileSync(file, readFileSync(file, "utf8").replace(from, to));

describe("a registry with something broken", () => {
  it.each<[string, (path: (below: string) => string) => void, RegExp]>([
    [
      "a wrong signature",
      (path) => edited(path("acme/1.2.0.json"), /"sig": "...../, '"sig": "AAAAA'),
      /^✗ acme\/1\.2\.0\.json: signature: it is not by the key/,
    ],
    [
      "a damaged envelope",
      (path) => edited(path("acme/1.2.0.json"), '"payloadType"', '"type"'),
      /^✗ acme\/1\.2\.0\.json: .* is not a conformance statement/,
    ],
    ["no JSON", (path) => writeFileSync(path("acme/1.2.0.json"), "{"), /^✗ acme\/1\.2\.0\.json: /],
    [
      "the key of another",
      (path) => cpSync(path("borealis/keys.json"), path("acme/keys.json")),
      /^✗ acme\/1\.2\.0\.json: signature: no list has the key/,
    ],
    [
      "a revoked key",
      (path) => edited(path("acme/keys.json"), '"keyid"', '"revoked": "2026-05-01", "keyid"'),
      /^✗ acme\/1\.2\.0\.json: signature: the key .* was revoked on 2026-05-01/,
    ],
    [
      "a list that is none",
      (path) => writeFileSync(path("acme/keys.json"), "[]"),
      /^✗ acme\/keys\.json: .* is not a list of keys/,
    ],
    [
      "an unsigned statement next to keys",
      (path) => cpSync(place("unsigned.json"), path("acme/1.3.0.json")),
      /^✗ acme\/1\.3\.0\.json: signature: the statement is unsigned/,
    ],
    [
      "a report of another statement",
      (path) => cpSync(report, path("acme/1.2.0"), { recursive: true }),
      /^✗ acme\/1\.2\.0\.json: .* \(and \d+ more: `conformance verify` lists them\)/,
    ],
    [
      "a report without its statement",
      (path) => mkdirSync(path("acme/1.3.0")),
      /^✗ acme\/1\.3\.0: is a report without its statement/,
    ],
    ["a vendor without a statement", (path) => rmSync(path("acme/1.2.0.json")), /^✗ acme: holds no statement/],
    [
      "a name that is no address",
      (path) => mkdirSync(path("Acme Ltd")),
      /^✗ Acme Ltd: the name of a vendor's folder has small letters/,
    ],
    [
      "a version that would be a page",
      (path) => cpSync(path("acme/1.2.0.json"), path("acme/a.html.json")),
      /^✗ acme\/a\.html\.json: the name of a version/,
    ],
    [
      "a link out of the folder",
      (path) => symlinkSync("/etc/hostname", path("acme/notes")),
      /^✗ acme\/notes: is neither a file nor a folder/,
    ],
  ])("ends with 1 and one line for %s, and leaves nothing", async (what, change, line) => {
    rmSync(place("site"), { recursive: true, force: true });
    const { code, out } = await build(changed(what.replaceAll(" ", "-"), change));
    const lines = out.trim().split("\n");
    expect([code, lines]).toEqual([1, [expect.stringMatching(line), "not built: no site was written, or changed"]]);
    expect(leftOvers()).toEqual([]);
  });

  it("has a line for each of two, and keeps the earlier site", async () => {
    await build(example);
    const before = textOf("site/index.html");
    const name = changed("two", (path) => {
      writeFileSync(path("acme/1.2.0.json"), "{}");
      writeFileSync(path("cumulus/0.9.0.json"), "{}");
    });
    const { code, out } = await build(name);
    expect([code, out.match(/^✗ /gm)?.length]).toEqual([1, 2]);
    expect([textOf("site/index.html"), leftOvers()]).toEqual([before, ["site"]]);
  });
});

describe("wrong usage", () => {
  it.each<[string, readonly string[], RegExp]>([
    ["a missing folder", ["none"], /^none is no folder\./],
    ["a folder without vendors", ["bare"], /^bare holds no folder of a vendor\./],
    ["a site in the registry", [".", "--out", "site"], /are in each other/],
    ["a registry in the site", ["bare/in", "--out", "bare"], /are in each other/],
    ["a folder with other files", [example, "--out", "full"], /full has other files, which would be lost\./],
    ["an address that is none", [example, "--url", "registry.example"], /--url is registry\.example\. Give an http/],
    ["an empty folder", [example, "--out", ""], /--out is empty/],
  ])("ends with 2 for %s", async (_, args, line) => {
    for (const name of ["bare", "full"]) mkdirSync(place(name), { recursive: true });
    writeFileSync(place("full/notes.txt"), "");
    const { code, out, err } = await run(["registry", ...args]);
    expect([code, out]).toEqual([2, ""]);
    expect(err).toMatch(line);
  });
});
