import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { afterAll, beforeAll, describe, expect, it } from "vitest";

import { defaultBounds } from "../run/plan/bounds.ts";
import { startAnsweringServer } from "../wire/testing/hostile.ts";
import type { FormattedPlan } from "./plan/plan-text.ts";
import { commandLineIn } from "./testing/command.ts";

const folder = mkdtempSync(join(tmpdir(), "plan-"));
const conformance = commandLineIn(folder);
let server: { baseUrl: string; close: () => void };
let requests = 0;

beforeAll(async () => {
  server = await startAnsweringServer((_, response) => {
    requests += 1;
    response.end();
  });
});
afterAll(() => {
  server.close();
  rmSync(folder, { recursive: true, force: true });
});

async function planned(args: readonly string[]): Promise<FormattedPlan> {
  const { code, out, err } = await conformance(["plan", "--json", ...args], { CONFORMANCE_API_KEY: "pk_secret-4471" });
  expect([code, err]).toEqual([0, ""]);
  return JSON.parse(out) as FormattedPlan;
}

const targetFile = (content: object): string => {
  const path = join(folder, "target.json");
  writeFileSync(
    path,
    JSON.stringify({ baseUrl: server.baseUrl, keys: { main: { key: "pk_1", tier: "free" } }, ...content }),
  );
  return path;
};

const needsOf = (pairs: FormattedPlan["pairs"]): string[] | undefined => pairs?.cut.map(({ needs }) => needs);

describe("plan", () => {
  it("shows the limits of the run", async () => {
    const { readOnly: _, requestIds: _ids, ...bounds } = defaultBounds;
    const named = await planned(["--only", "HLT-1", "--max-requests", "9", "--max-wait", "5s", "--read-only"]);
    expect(named.bounds).toEqual({
      ...bounds,
      maxRequests: 9,
      maxWaitMs: 5000,
      maxTimeMs: 185_000,
      isReadOnly: true,
    });
    const standard = await planned(["--only", "HLT-1", "--base-url", "https://api.example.com/v1"]);
    expect(standard.bounds).toEqual({ ...bounds, maxRequests: 1000, maxTimeMs: 300_000, isReadOnly: false });
  });

  it("says of the embedded server that all is exercised, and that nothing is waited for", async () => {
    const { totals, target, skipped } = await planned([]);
    expect(target.movesClock).toBe(true);
    expect(totals.waitSeconds).toBe(0);
    expect(totals.requests).toBeGreaterThan(1000);
    expect(skipped.flatMap(({ checks }) => checks).filter((id) => /^(INV|SSE|HLT|LIM|ERR)-/.test(id))).toEqual([]);
  });

  it("says how many pairs of properties requests will combine, and what would bring the others", async () => {
    const pairsOf = async (...args: string[]) => (await planned(args)).pairs;
    const whole = await pairsOf("--coverage-seed", "7");
    expect(whole).toMatchObject({ cut: [], isMinimum: false, triples: { cut: [] }, seed: 7 });
    expect([whole?.covered, whole?.triples?.covered]).toEqual([whole?.total, whole?.triples?.total]);
    expect(needsOf(await pairsOf("--read-only"))).toEqual(["a run without `--read-only`"]);
    expect(needsOf(await pairsOf("--max-requests", "300"))).toEqual(["a larger `--max-requests`"]);
    const ofFile = await pairsOf("--target", targetFile({ agents: { answering: "echo" } }));
    expect(ofFile?.isMinimum).toBe(true);
    expect(needsOf(ofFile)).toContain('a key with `"scope": "read-only"` under `keys` in the target file');
    expect(await pairsOf("--only", "INV-12")).toBeNull();
  });

  it("prints the pairs, with a line for each setting that would bring others", async () => {
    const { out } = await conformance(["plan", "--target", targetFile({ agents: { answering: "echo" } })]);
    expect(out).toMatch(/^Pairs of properties that requests combine: at least \d+ of 2,355 \(\d+ %\); .*; seed 1$/m);
    expect(out).toMatch(
      /^ +`keys` in the target file: a key of the tier pro → up to \d+ pairs \(\d+ %\), \d+ triples \(\d+ %\)$/m,
    );
  });

  it("sends nothing, and never shows the key", async () => {
    const { code, out } = await conformance(["plan", "--base-url", server.baseUrl], {
      CONFORMANCE_API_KEY: "pk_secret-4471",
    });
    expect([code, requests]).toEqual([0, 0]);
    expect(out).not.toContain("4471");
    expect(out).toMatch(/nothing was sent/);
    expect(out).toMatch(/Known only once something is sent\n\s+Which agent answers/);
    expect(out).toMatch(/If the headers show free: \d+ requests more/);
    expect(out).toMatch(/^Total {2}\d+ probes for \d+ checks, \d+ requests/m);
  });

  it("says which line of the target file would enable what is skipped", async () => {
    const { skipped } = await planned(["--target", targetFile({ agents: { answering: "echo" } })]);
    const failing = skipped.find(({ enabledBy }) => enabledBy.startsWith("`agents.failing` in the target file"));
    expect(failing?.checks).toContain("ERR-13");
  });

  it("says that a longer wait, or a clock, would enable an hour's window, and drops that where there is a clock", async () => {
    const hour = async (content: object) =>
      (await planned(["--only", "LIM-3", "--target", targetFile(content)])).skipped.map(({ enabledBy }) => enabledBy);
    expect(await hour({ agents: { answering: "echo" } })).toEqual([
      "a longer `--max-wait`, or `clock.advance` in the target file",
    ]);
    const clock = { advance: { url: `${server.baseUrl}/clock`, body: { seconds: "${seconds}" } } };
    expect(await hour({ agents: { answering: "echo" }, clock })).toEqual([]);
  });

  it("plans nothing but reads with --read-only, and creates nothing", async () => {
    const all = await planned(["--base-url", server.baseUrl]);
    const read = await planned(["--base-url", server.baseUrl, "--read-only"]);
    expect(read.probes.length).toBeLessThan(all.probes.length);
    expect(read.creates).toEqual({ webhooks: 0, alerts: 0, operations: 0 });
    expect(read.skipped.map(({ enabledBy }) => enabledBy)).toContain("a run without `--read-only`");
    expect(read.look.sends.join()).not.toContain("POST");
  });

  it("plans no waits, no limits, no retries and no generated requests with --fast, and says what that leaves out", async () => {
    const { bounds, probes, skipped, pairs, totals } = await planned([
      "--base-url",
      server.baseUrl,
      "--tier",
      "pro",
      "--fast",
    ]);
    expect(bounds).toMatchObject({ fast: true, maxWaitMs: 0 });
    expect(totals.waitSeconds).toBe(0);
    expect(totals.requests).toBeLessThan(100);
    const leftOut = skipped.find(({ enabledBy }) => enabledBy === "a run without `--fast`");
    expect(leftOut?.checks).toEqual(expect.arrayContaining(["LIM-2", "HOOK-22", "SSE-27", "AUTH-2/in every corner"]));
    expect(probes.flatMap(({ checks }) => checks)).toEqual(expect.arrayContaining(["INV-10", "SSE-4", "WHK-1"]));
    expect(needsOf(pairs) ?? []).toContain("a run without `--fast`");
  });

  it("waits in a run with --fast only if it is told to", async () => {
    const { bounds } = await planned(["--base-url", server.baseUrl, "--fast", "--max-wait", "5s"]);
    expect(bounds).toMatchObject({ fast: true, maxWaitMs: 5000 });
  });

  it("says why there is nothing to plan where no key is of general use", async () => {
    const keys = { old: { key: "pk_1", expired: true } };
    const { code, out, err } = await conformance(["plan", "--target", targetFile({ keys })]);
    expect(err).toMatch(/^The target has no key for general use: .*\n$/);
    expect([code, out]).toEqual([3, ""]);
  });
});
