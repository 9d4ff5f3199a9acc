import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { afterAll, describe, expect, it } from "vitest";

import {
  compare,
  exitCodeOf,
  judge,
  type JudgeOptions,
  readReport,
  startServer,
  type TargetDescription,
  UsageProblem,
  writeReport,
} from "./index.ts";

const folder = mkdtempSync(join(tmpdir(), "library-"));
afterAll(() => rmSync(folder, { recursive: true }));

describe("judge", () => {
  it("judges the embedded server, and finds a fault of it by its clause", async () => {
    const fine = await judge({ embedded: true }, { only: ["INV-2"] });
    expect([fine.verdict, fine.report.totals.pass, exitCodeOf(fine.report)]).toEqual(["partial", 1, 0]);
    const broken = await judge({ embedded: true, faults: ["result-is-text"] }, { only: ["INV-2"] });
    expect([broken.verdict, exitCodeOf(broken.report)]).toEqual(["nonconformant", 1]);
    const baseline = [{ check: "INV-2", reason: "known" }];
    expect(compare(fine.document, broken.document).regressions).toMatchObject([{ kind: "failing" }]);
    expect(compare(fine.document, fine.document).regressions).toEqual([]);
    expect(() => compare(fine.document, fine.document, "speed")).toThrow(UsageProblem);
    expect([exitCodeOf(broken.report, { baseline }), exitCodeOf(fine.report, { baseline })]).toEqual([0, 1]);
  });

  it("judges a server of this process, with its clock and keys", async () => {
    await using server = await startServer({ clock: "virtual", variants: ["form-b"] });
    const { report, document } = await judge(server, { only: ["ERR-2", "LIM-1", "HOOK-21"] });
    expect(report.totals).toMatchObject({ fail: 0, skipped: 0 });
    expect(report.findings.find(({ check }) => check === "ERR-2")?.reading).toBe("form-b");
    expect(JSON.stringify(document.evidence)).not.toContain(server.keys.pro);
  });

  it.each<[string, (baseUrl: string, key: string) => TargetDescription]>([
    ["a base URL and a key", (baseUrl, apiKey) => ({ baseUrl, apiKey, agent: "echo", tier: "pro" })],
    ["an object in the form of a target file", (baseUrl, key) => ({ baseUrl, keys: { pro: { key, tier: "pro" } } })],
    [
      "a target file",
      (baseUrl, key) => {
        const file = join(folder, "target.json");
        writeFileSync(file, JSON.stringify({ baseUrl, keys: { pro: { key, tier: "pro" } } }));
        return { file };
      },
    ],
  ])("takes %s", async (_, describeTarget) => {
    await using server = await startServer();
    const { report } = await judge(describeTarget(server.baseUrl, server.keys.pro), {
      only: ["AUTH-3"],
    });
    expect(report.totals).toMatchObject({ pass: 7, fail: 0, error: 0 });
  });

  const unusable: readonly [string, TargetDescription, JudgeOptions, RegExp][] = [
    ["no URL", { baseUrl: "here", apiKey: "ah_1" }, {}, /^The base URL is not a URL: "here"/],
    [
      "an empty key",
      { baseUrl: "http://127.0.0.1:1", apiKey: "" },
      {},
      /apiKey is empty: is the environment variable set/,
    ],
    [
      "a typo",
      { baseUrl: "http://127.0.0.1:1", apikey: "x" } as never,
      {},
      /^The target cannot be used: apiKey .*apikey/,
    ],
    ["text", "embedded" as never, {}, /^The target is no object/],
    [
      "a typo of a fault",
      { embedded: true, faults: ["result-is-txt"] },
      {},
      /no fault "result-is-txt".*Near: .*result-is-text/,
    ],
    ["a file that is not there", { file: "/nowhere.json" }, {}, /cannot be read: \/nowhere.json \(ENOENT\)/],
    ["a typo in an object", { baseUrl: "http://a", keys: {}, agent: {} } as never, {}, /^the target: .*"agent"/],
    ["a pattern that matches nothing", { embedded: true }, { only: ["NOPE-1"] }, /^only "NOPE-1" matches no clause/],
    ["one pattern alone", { embedded: true }, { only: "INV-1" } as never, /^only is not a list of patterns/],
    ["a number as text", { embedded: true }, { maxRequests: "5" } as never, /^maxRequests is 5; give a number/],
    ["no requests", { embedded: true }, { maxRequests: 0 }, /^maxRequests is 0/],
    ["no time", { embedded: true }, { maxWaitMs: Number.NaN }, /^maxWaitMs is NaN/],
  ];

  it.each(unusable)("says of %s what is wrong", async (_, target, options, message) => {
    await expect(judge(target, options)).rejects.toMatchObject({
      name: "UsageProblem",
      message: expect.stringMatching(message),
    });
  });

  it("says that a target cannot be reached", async () => {
    await expect(judge({ baseUrl: "http://127.0.0.1:1", apiKey: "ah_1" })).rejects.toMatchObject({
      name: "NothingToJudge",
    });
  });

  it("names options, not flags, where it has judged nothing", async () => {
    await expect(judge({ embedded: true }, { only: ["INV-1"], maxRequests: 1 })).rejects.toMatchObject({
      name: "NothingToJudge",
      message: "Nothing was judged: maxRequests 1 is used up.",
    });
  });

  it("judges what was seen until a signal came", async () => {
    const aborter = new AbortController();
    let requests = 0;
    const onRequest = (): void => {
      requests += 1;
      if (requests === 9) aborter.abort();
    };
    await using server = await startServer({ onRequest });
    const target = { baseUrl: server.baseUrl, apiKey: server.keys.free };
    const { verdict, report } = await judge(target, { signal: aborter.signal });
    expect([verdict, report.stopped]).toEqual(["incomplete", expect.any(String)]);
    expect(exitCodeOf(report)).toBe(3);
  });

  it("writes a report that is read back, without the secrets of webhooks", async () => {
    const { report, evidence } = await judge({ embedded: true }, { only: ["HOOK-21"] });
    writeReport({ report, evidence }, join(folder, "kept"));
    const kept = readReport(join(folder, "kept"));
    expect(kept.report).toEqual(report);
    expect(kept.evidence?.exchanges.length).toBe(evidence.exchanges.length);
    expect(readFileSync(join(folder, "kept", "evidence.json"), "utf8")).toMatch(/"secret\\":\\"conformance/);
    expect(JSON.stringify(kept)).not.toMatch(/"secret\\":\\"conformance/);
  });
});
