import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { describe, expect, it } from "vitest";

import type { Night } from "../report/history/night.ts";
import { coverageSeedOfNight } from "../run/plan/bounds.ts";
import { commandLineIn } from "./testing/command.ts";

const folder = mkdtempSync(join(tmpdir(), "nightly-"));
const conformance = commandLineIn(folder);

const fault = ["--fault", "missing-query-other-code"] as const;
const nightly = (history: string, ...flags: readonly string[]) =>
  conformance(["nightly", "--history", history, "--only", "Invoke", "--no-load", "-q", ...flags]);
const nightsOf = (history: string): string[] => readdirSync(join(folder, history, "nights"));

describe("conformance nightly", () => {
  it("keeps each night, its report and the trend page, and finds nothing worse on a server that stays as it is", async () => {
    const first = await nightly("calm");
    expect([first.code, first.out]).toEqual([
      0,
      expect.stringContaining("the first night: nothing to compare with yet"),
    ]);
    const second = await nightly("calm");
    expect([second.code, second.out]).toEqual([0, expect.stringContaining("nothing became worse")]);
    const [name = ""] = nightsOf("calm");
    const report = join(folder, "calm", "reports", name.replace(".json", ""), "run");
    expect(nightsOf("calm")).toHaveLength(2);
    expect(readdirSync(report).toSorted()).toEqual(["evidence.json", "report.html", "report.json"]);
    expect(readFileSync(join(folder, "calm", "trend.html"), "utf8")).toContain(`reports/${name.replace(".json", "")}/`);
  });

  it("exits 1 on the night that breaks something, and after it for what is broken, or with --only-regressions not", async () => {
    await nightly("broken");
    const worse = await nightly("broken", ...fault, "--only-regressions");
    expect(worse.code).toBe(1);
    expect(worse.out).toMatch(/regression +INV-10/);
    const still = await nightly("broken", ...fault);
    expect([still.code, still.out]).toEqual([1, expect.stringContaining("nothing became worse")]);
    expect(worse.out).toMatch(/^nonconformant: INV-10 since tonight; \d regression/);
    expect(still.out).toMatch(
      /^nonconformant: INV-10 since \d{4}-\d\d-\d\d; nothing became worse\nbroken +INV-10, since/,
    );
    expect((await nightly("broken", ...fault, "--only-regressions")).code).toBe(0);
    const summary = await nightly("broken", ...fault, "--markdown", "-");
    expect(summary.out).toMatch(/^## ❌ .*nonconformant: INV-10 since \d{4}.*\n\n\| broken \|\n.*\n\| INV-10, since/);
    const mended = await nightly("broken");
    expect(mended.out).toMatch(/^conformant; |^partial; /);
    expect([mended.code, mended.out]).toEqual([0, expect.stringMatching(/fixed +INV-10/)]);
  });

  it("draws requests by the day of the night, by the variable, or by the flag, and adds up their pairs", async () => {
    const args = ["nightly", "--history", "seeds", "--only", "AUTH-3/*", "--no-load", "-q"];
    const variable = { CONFORMANCE_COVERAGE_SEED: "5" };
    const days = [new Date()];
    const { out } = await conformance(args);
    days.push(new Date());
    await conformance(args, variable);
    const last = await conformance([...args, "--coverage-seed", "7"], variable);
    const nights = nightsOf("seeds")
      .toSorted()
      .map((name) => JSON.parse(readFileSync(join(folder, "seeds", "nights", name), "utf8")) as Night);
    const [first, ...others] = nights.map(({ pairs }) => pairs?.seed);
    expect(days.map(coverageSeedOfNight)).toContain(first);
    expect(others).toEqual([5, 7]);
    expect(out).toMatch(new RegExp(`^pairs +\\S+ on the last night \\(seed ${first}\\)`, "m"));
    expect(last.out).toMatch(/^pairs .*\(seed 7\), \S+ of 2,355 in 3 nights$/m);
    expect(readFileSync(join(folder, "seeds", "trend.html"), "utf8")).toMatch(/3 nights combined [\d,]+ of 2,355\s/);
  });

  it("names a damaged entry, leaves it where it is, and goes on", async () => {
    await nightly("damaged");
    const file = join(folder, "damaged", "nights", "2030-01-01T02-00-00-000Z-00000000.json");
    writeFileSync(file, '{"format":');
    const next = await nightly("damaged");
    expect([next.code, next.err]).toEqual([
      0,
      expect.stringContaining("2030-01-01T02-00-00-000Z-00000000.json: it is not JSON"),
    ]);
    expect(existsSync(file)).toBe(true);
  });

  it("says that the suites changed since the night before", async () => {
    await nightly("suites");
    const [name = ""] = nightsOf("suites");
    const file = join(folder, "suites", "nights", name);
    writeFileSync(
      file,
      readFileSync(file, "utf8").replace(/("suite":\{"version":")[^"]*/, (_, before: string) => `${before}0.0.1`),
    );
    expect((await nightly("suites")).out).toMatch(/^other suite +version 0\.0\.1 → .* may be the suite's$/ms);
  });

  it("prints JSON and nothing else, writes Markdown, and keeps as many nights as it is told", async () => {
    await nightly("kept");
    await nightly("kept");
    const { out } = await nightly(
      "kept",
      ...fault,
      "--json",
      "-",
      "--markdown",
      "night.md",
      "--keep",
      "2",
      "--keep-reports",
      "1",
    );
    expect(JSON.parse(out)).toMatchObject({
      format: "agent-hosting-conformance/nightly/1",
      isWorse: true,
      regressions: ["INV-10", "INV-10/in a session", "INV-10/in a session that has begun", "INV-10/every"].map(
        (check) => ({
          finding: { check },
          isFlaky: false,
        }),
      ),
    });
    expect(readFileSync(join(folder, "night.md"), "utf8")).toContain("4 regressions");
    expect([nightsOf("kept").length, readdirSync(join(folder, "kept", "reports")).length]).toEqual([2, 1]);
  });

  it("sends load, and keeps its figures", async () => {
    const args = ["nightly", "--history", "loaded", "--only", "Invoke", "--scenario", "burst", "-q"];
    const { code } = await conformance(args);
    const [name = ""] = nightsOf("loaded");
    const night = JSON.parse(readFileSync(join(folder, "loaded", "nights", name), "utf8")) as {
      readonly load: readonly { readonly scenario: string; readonly requests: { readonly admitted: number } }[];
    };
    expect(code).toBe(0);
    expect(night.load.map(({ scenario }) => scenario)).toEqual(["burst", "burst", "burst"]);
    expect(night.load.every(({ requests }) => requests.admitted > 0)).toBe(true);
    expect(readdirSync(join(folder, "loaded", "reports", name.replace(".json", ""), "load"))).toContain("report.json");
  });

  it("keeps a night on which the target did not answer, and exits 3", async () => {
    const args = ["nightly", "--history", "gone", "--no-load", "-q", "--base-url", "http://127.0.0.1:9"];
    const { code, out, err } = await conformance(args, { CONFORMANCE_API_KEY: "pk_none" });
    expect([code, err]).toEqual([3, expect.stringContaining("127.0.0.1:9")]);
    expect(out).toContain("nothing could be judged");
    expect(out).toMatch(/^report/m);
    expect(nightsOf("gone")).toHaveLength(1);
  });

  it("sends nothing where its page cannot be written", async () => {
    mkdirSync(join(folder, "blocked", "trend.html"), { recursive: true });
    const { code, out, err } = await nightly("blocked");
    expect([code, out, err]).toEqual([2, "", expect.stringContaining("--history cannot be written")]);
    expect(nightsOf("blocked")).toEqual([]);
  });

  it.each([
    { name: "no history", args: ["nightly"], says: "--history" },
    {
      name: "a history that is a file",
      args: ["nightly", "--history", "night.md"],
      says: "Give another with --history",
    },
    { name: "another target's history", args: ["nightly", "--history", "gone"], says: "is the history of" },
    { name: "an unknown scenario", args: ["nightly", "--history", "x", "--scenario", "brust"], says: "Near: burst" },
    {
      name: "load that is none",
      args: ["nightly", "--history", "x", "--scenario", "burst", "--no-load"],
      says: "exclude each other",
    },
    { name: "no seed", args: ["nightly", "--history", "x", "--coverage-seed", "0"], says: "--coverage-seed" },
    { name: "no number of nights", args: ["nightly", "--history", "x", "--keep", "0"], says: "--keep" },
    {
      name: "an unknown kind of regression",
      args: ["nightly", "--history", "x", "--regression", "bad"],
      says: "--regression",
    },
    {
      name: "two things to print",
      args: ["nightly", "--history", "x", "--json", "-", "--markdown", "-"],
      says: "cannot both be printed",
    },
    {
      name: "a server of somebody's without consent",
      args: ["nightly", "--history", "x", "--base-url", "https://acme.example"],
      says: "give --yes",
    },
    {
      name: "a page to nowhere",
      args: ["trend", "--history", "calm", "--html", "night.md/x"],
      says: "--html cannot be written",
    },
  ])("exits 2 on $name, before anything is sent", async ({ args, says }) => {
    const { code, err } = await conformance(args, { CONFORMANCE_API_KEY: "pk_none" });
    expect([code, err]).toEqual([2, expect.stringContaining(says)]);
    expect(err.trim().split("\n")).toHaveLength(1);
  });
});

describe("conformance trend", () => {
  it("writes the page of a history, and says where there is none", async () => {
    const { code, out } = await conformance(["trend", "--history", "calm", "--html", "-"]);
    expect([code, out]).toEqual([0, expect.stringContaining("<h1>embedded reference server</h1>")]);
    const none = await conformance(["trend", "--history", "nowhere", "--html", "none.html"]);
    expect([none.code, none.err]).toEqual([3, expect.stringContaining("holds no night")]);
    expect(existsSync(join(folder, "none.html"))).toBe(false);
  });
});
