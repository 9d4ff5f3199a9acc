import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";

import { type EmbeddedServer, startEmbedded } from "../../reference/embedded/embedded-server.ts";
import { patchesByName } from "../../reference/catalogue.ts";
import { startAnsweringServer } from "../../wire/testing/hostile.ts";
import type { VendorComparison } from "../../report/vendors/comparison.ts";
import { commandLineIn } from "../testing/command.ts";

const root = mkdtempSync(join(tmpdir(), "vendors-"));
const command = commandLineIn(root);
let fine: EmbeddedServer;
let faulty: EmbeddedServer;
let nonsense: Awaited<ReturnType<typeof startAnsweringServer>>;

beforeAll(async () => {
  fine = await startEmbedded();
  faulty = await startEmbedded(patchesByName(["done-twice"], ["form-b"]));
  nonsense = await startAnsweringServer((_, response) => void response.writeHead(200).end("<h1>Welcome!</h1>"));
});
afterAll(async () => {
  nonsense.close();
  await Promise.all([fine.close(), faulty.close()]);
  rmSync(root, { recursive: true });
});

const targetOf = ({ target }: EmbeddedServer): object => ({
  baseUrl: target.baseUrl,
  keys: { pro: { key: target.keys["pro"]?.key, tier: "pro" } },
  agents: { answering: "echo", streaming: "echo" },
});

function fileOf(name: string, vendors: readonly object[]): string {
  const file = join(root, name);
  writeFileSync(file, JSON.stringify({ vendors }));
  return file;
}

const part = ["--only", "SSE-5", "--only", "ERR-2", "--only", "INV-10", "--only", "LST-9"];

describe("conformance vendors", () => {
  it("judges targets side by side, keeps a report of each, and ends with 1 where one is nonconformant", async () => {
    const file = fileOf("two.json", [
      { name: "Fine", target: targetOf(fine) },
      { name: "Faulty", target: targetOf(faulty) },
    ]);
    const { code, out, err } = await command([
      "vendors",
      file,
      ...part,
      "--out",
      "two",
      "--html",
      "two.html",
      "--markdown",
      "two.md",
    ]);
    expect(code).toBe(1);
    expect(out).toMatch(/^SSE-5 +✓ pass +✗ fail$/m);
    expect(out).toMatch(/^ERR-2 +form-a +form-b$/m);
    expect(err).toMatch(/^Faulty {2}nonconformant: /m);
    for (const each of ["two/fine/report.json", "two/faulty/evidence.json", "two/vendors.json", "two.html", "two.md"])
      expect(existsSync(join(root, each))).toBe(true);
    const written = ["two.html", "two.md", "two/vendors.json"].map((each) => readFileSync(join(root, each), "utf8"));
    expect([...written, out, err].join("\n")).not.toContain(fine.target.keys["pro"]?.key);
  });

  it("shows kept reports without sending anything, by paths relative to the file", async () => {
    const file = fileOf("kept.json", [
      { name: "Then", report: "two/fine" },
      { name: "Now", report: "two/faulty/report.json" },
    ]);
    const { code, out, err } = await command(["vendors", file, "--json", "-", "--out", "kept"]);
    const all = JSON.parse(out) as VendorComparison;
    expect([code, all.vendors]).toMatchObject([
      1,
      [
        { name: "Then", isKept: true },
        { name: "Now", verdict: "nonconformant" },
      ],
    ]);
    expect(err).toContain("Reports of earlier runs: Then of");
  });

  it("ends with 3 where one was not judged to its end, and nothing is broken", async () => {
    const report = JSON.parse(readFileSync(join(root, "two/fine/report.json"), "utf8")) as object;
    const stopped = "the target was lost after 0.65 s, and refused connections from then on";
    writeFileSync(
      join(root, "lost.json"),
      JSON.stringify({ ...report, profiles: undefined, verdict: "incomplete", stopped }),
    );
    const file = fileOf("lost-one.json", [
      { name: "Lost", report: "lost.json" },
      { name: "Fine", report: "two/fine" },
    ]);
    const { code, out } = await command(["vendors", file]);
    expect(out).toMatch(/^verdict +incomplete +(?:partial|conformant)/m);
    expect(code).toBe(3);
  });

  it("gives each vendor that cannot be judged a column that says why, and finishes the others", async () => {
    // A server whose clock stands still. The requests that one minute allows must suffice for the whole test.
    const unused = await startEmbedded();
    onTestFinished(unused.close);
    const key = { keys: { pro: { key: "ab_wrong", tier: "pro" } } };
    const file = fileOf("bad.json", [
      { name: "Down", target: { baseUrl: "http://127.0.0.1:9/v1", ...key } },
      { name: "Wrong key", target: { baseUrl: fine.target.baseUrl, ...key } },
      { name: "Nonsense", target: { baseUrl: nonsense.baseUrl, ...key } },
      { name: "No variable", target: { baseUrl: "http://127.0.0.1:9", keys: { pro: { key: "${NOT_SET}" } } } },
      { name: "No file", target: "none.json" },
      { name: "Misspelt", target: { baseUrl: "http://127.0.0.1:9", keys: {}, agent: "x" } },
      { name: "No report", report: "nowhere" },
      { name: "Fine", target: targetOf(unused) },
    ]);
    const { code, out } = await command(["vendors", file, ...part, "--json", "-", "--out", "bad"]);
    const reasons = (JSON.parse(out) as VendorComparison).vendors.map((head) =>
      head.kind === "unjudged" ? head.reason : head.verdict,
    );
    expect(reasons).toEqual([
      "partial",
      expect.stringMatching(/^No answer from http:\/\/127\.0\.0\.1:9\/v1/),
      expect.stringMatching(/refuses the API key \(401/),
      expect.any(String),
      expect.stringMatching(/keys\.pro\.key takes \$NOT_SET, which is not set/),
      expect.stringMatching(/cannot be read: .*none\.json \(ENOENT\)/),
      expect.stringMatching(/agent/),
      expect.stringMatching(/cannot be read: .*nowhere \(ENOENT\)/),
    ]);
    expect(code).toBe(3);
  });

  it.each([
    ["no file", ["none.json"], /The vendors file cannot be read: none\.json \(ENOENT\)/],
    ["no vendor", [fileOf("none-in.json", [])], /vendors: at least one vendor is needed/],
    [
      "a name twice",
      [
        fileOf("twice.json", [
          { name: "A", report: "a" },
          { name: "A", report: "b" },
        ]),
      ],
      /same name/,
    ],
    [
      "both",
      [fileOf("both.json", [{ name: "A", report: "a", target: "b" }])],
      /vendors\.0: must have `name`, and either/,
    ],
    [
      "a vendor to leave that is not in the file",
      [fileOf("a.json", [{ name: "A", report: "a" }]), "--from", "B"],
      /No vendor is named "B"\. The file has A\./,
    ],
    [
      "no load scenario",
      [fileOf("a.json", [{ name: "A", report: "a" }]), "--load", "brust"],
      /There is no load scenario "brust"/,
    ],
    [
      "load that nobody can agree to",
      [
        fileOf("far.json", [{ name: "A", target: { baseUrl: "https://acme.example", keys: { k: { key: "a" } } } }]),
        "--load",
        "burst",
      ],
      /give --yes if its owner agrees/,
    ],
    ["no check", [fileOf("b.json", [{ name: "A", report: "a" }]), "--only", "nope"], /nope/],
    ["no concurrency", [fileOf("c.json", [{ name: "A", report: "a" }]), "--concurrency", "0"], /--concurrency is "0"/],
  ])("ends with 2 and one line for %s", async (_, args, line) => {
    const { code, out, err } = await command(["vendors", ...args]);
    expect([code, out]).toEqual([2, ""]);
    expect(err).toMatch(line);
    expect(err.trim().split("\n")).toHaveLength(1);
  });

  it("has examples in its help", async () => {
    const { code, out } = await command(["vendors", "--help"]);
    expect([code, out.includes("conformance vendors vendors.json --html vendors.html")]).toEqual([0, true]);
  });
});
