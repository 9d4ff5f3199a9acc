import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";

import { describe, expect, it } from "vitest";

import { scenarios } from "../load/scenarios.ts";
import { evidenceOf, sample } from "../load/testing/samples.ts";
import { readReport } from "../report/model/report-file.ts";
import { commandLineIn } from "./testing/command.ts";

const folder = mkdtempSync(join(tmpdir(), "load-"));
const conformance = commandLineIn(folder);

const file = (name: string, content: unknown): string => {
  const path = join(folder, name);
  writeFileSync(path, typeof content === "string" ? content : JSON.stringify(content));
  return path;
};
const address = ["--base-url", "http://127.0.0.1:9", "--api-key", "pk_1"];
const here = (...more: string[]): string[] => ["load", ...more, ...address];

describe("conformance load, where something is wrong", () => {
  it.each<[string, string[], RegExp]>([
    ["an unknown scenario", ["load", "brust"], /There is no load scenario "brust"\. Near: burst\./],
    ["names beside --all", ["load", "burst", "--all"], /--all runs every scenario/],
    ["an unknown engine", ["load", "--engine", "jmeter"], /--engine is "jmeter"; there are k6 and autocannon/],
    ["no segments", ["load", "--segments", "0"], /--segments is "0"; give a whole number/],
    ["segments of autocannon", ["load", "--segments", "2", "--engine", "autocannon"], /--segments is k6's/],
    ["a page of autocannon", ["load", "--k6-dashboard", "a.html", "--engine", "autocannon"], /--k6-dashboard is k6's/],
    ["an unknown tier", ["load", "--tier", "gold"], /--tier is "gold"; allowed: free, pro, team, enterprise/],
    [
      "a scenario that is not for the tier",
      ["load", "far-over", "--tier", "free"],
      /nothing to send: far-over is for pro/,
    ],
    ["no requests at all", ["load", "--max-requests", "0"], /--max-requests is "0"/],
    ["an unknown fault", ["load", "--fault", "zzz"], /There is no fault "zzz"/],
    [
      "a fault of a foreign target",
      here("burst", "--fault", "keys-share"),
      /--fault and --variant change the embedded/,
    ],
    ["something unknown to emit", ["load", "burst", "--emit", "helm"], /--emit is "helm"; there is k6-operator/],
    [
      "pods that cannot reach the target",
      ["load", "burst", "--emit", "k6-operator"],
      /--emit needs a target that pods/,
    ],
    [
      "a manifest of several runs",
      here("burst", "recovery", "--tier", "pro", "--emit", "k6-operator"),
      /name one scenario/,
    ],
    ["a key for a manifest whose tier is unknown", here("burst", "--emit", "k6-operator"), /No key has a known tier/],
    ["evidence that is not there", ["load", "judge", "none.json"], /cannot be read: none\.json \(ENOENT\)/],
    ["evidence that is none", ["load", "judge", file("other.json", {})], /other\.json is no load evidence: format/],
    ["a log that is none", ["load", "judge", file("pod.log", "hello")], /pod\.log is no load evidence\. .*last line/],
    ["a folder without evidence", ["load", "judge", folder], /cannot be read: .* \(ENOENT\)/],
    ["an output folder where none can be made", ["load", "--out", "/proc/none"], /output folder cannot be written/],
  ])("%s: one line, exit 2", async (_, args, message) => {
    const { code, err, out } = await conformance(args);
    expect(err).toMatch(message);
    expect(err.trim().split("\n")).toHaveLength(1);
    expect([code, out]).toEqual([2, ""]);
  });

  it("says that nobody answers, exit 3", async () => {
    const { code, err } = await conformance(here("far-over", "--agent", "echo", "--tier", "pro"));
    expect(err).toMatch(/^unreachable: No answer from http:\/\/127\.0\.0\.1:9\/v1: .* Is the server running/m);
    expect(code).toBe(3);
  });
});

describe("load on a target that is not this machine", () => {
  it("is not sent without --yes where nobody can be asked", async () => {
    const seen: string[] = [];
    const server = createServer((incoming, response) => {
      seen.push(incoming.url ?? "");
      response.end();
    });
    server.listen(0, "0.0.0.0");
    await once(server, "listening");
    const { port } = server.address() as AddressInfo;
    const args = ["load", "far-over", "--base-url", `http://0.0.0.0:${port}`, "--api-key", "pk_1", "--tier", "pro"];
    const { code, err } = await conformance(args);
    server.close();
    expect(err).toMatch(/is not this machine, and there is no terminal .* --yes .* Nothing was sent\.\n$/);
    expect(err.trim().split("\n")).toHaveLength(1);
    expect([code, seen]).toEqual([2, []]);
  });
});

describe("conformance load list", () => {
  it("shows every scenario, with what it needs and how long it takes", async () => {
    const { code, out } = await conformance(["load", "list"]);
    for (const { name } of scenarios) expect(out).toContain(name);
    expect(code).toBe(0);
  });

  it("is JSON where that was asked for", async () => {
    const { out } = await conformance(["load", "list", "--json"]);
    const listed = JSON.parse(out) as { name: string; claims: string[]; seconds: { embedded: number; real: number } }[];
    expect(listed.map(({ name }) => name)).toEqual(scenarios.map(({ name }) => name));
    expect(listed.every(({ claims, seconds }) => claims.length > 0 && seconds.embedded <= seconds.real)).toBe(true);
  });
});

/** Creates recorded requests of a Free key, which may send 10 a minute: first the admitted ones, then the refused ones. */
const history = (admitted: number, refused: number) =>
  Array.from({ length: admitted + refused }, (_, at) => {
    const isAdmitted = at < admitted;
    const sentMs = 1_900_000_020_000 + at * 10;
    return sample({
      sentMs,
      headMs: sentMs + 2,
      endMs: sentMs + 3,
      status: isAdmitted ? 200 : 429,
      remaining: Math.max(0, 9 - at),
      reset: 1_900_000_080,
      resetAfter: 60,
      retryAfterSeconds: isAdmitted ? null : 60,
      date: 1_900_000_020,
    });
  });
const [minuteLimit] = scenarios;
const evidence = (admitted: number, other: Parameters<typeof evidenceOf>[1] = {}) => {
  const requests = history(admitted, 3);
  return evidenceOf(requests, { flows: [...(minuteLimit?.flows(evidenceOf([]).limits) ?? [])], ...other });
};

describe("conformance load judge", () => {
  it("judges kept evidence, and shows it as a run does", async () => {
    const { code, out } = await conformance(["load", "judge", file("kept.json", evidence(10))]);
    expect(out).toMatch(/minute-limit +free +k6 +13 /);
    expect(out).toMatch(/\npartial under load: nothing broken, /);
    expect(code).toBe(0);
  });

  it("fails for what the evidence breaks, with the commands to see it again", async () => {
    const { code, out } = await conformance(["load", "judge", file("broken.json", evidence(80))]);
    expect(out).toContain("FAIL  LIM-1");
    expect(out).toContain("conformance load minute-limit --tier free --engine k6");
    expect(out).toContain("k6 run k6/minute-limit.ts");
    expect(code).toBe(1);
  });

  it("takes a baseline, and writes every format", async () => {
    const known = file("known.json", { known: [{ check: "LIM-1/minute-limit", reason: "fixed in 2.3" }] });
    const path = file("known-broken.json", evidence(80));
    const flags = [
      "-q",
      "--baseline",
      known,
      "--junit",
      join(folder, "judged.xml"),
      "--html",
      join(folder, "judged.html"),
    ];
    const { code, out } = await conformance(["load", "judge", path, ...flags]);
    const junit = readFileSync(join(folder, "judged.xml"), "utf8");
    expect(junit).toContain('message="known failure: fixed in 2.3"');
    expect(readFileSync(join(folder, "judged.html"), "utf8")).toMatch(/^<!doctype html>/);
    expect(out).toMatch(/known failures? (?:is|are) excused by the baseline\./);
    // The baseline excuses one finding. If others fail, the exit code is 1.
    expect(code).toBe(/<failure /.test(junit) ? 1 : 0);
  });

  it("merges segments, and says what is missing of a load that is not whole", async () => {
    const half = { generator: { planned: 13, sent: 13, dropped: 0, late: 0, busiest: 0.1 } };
    const first = file("half-1.json", evidence(10, { ...half, segments: ["0:1/2"] }));
    const second = file("half-2.json", evidence(10, { ...half, segments: ["1/2:1"] }));
    const both = await conformance(["load", "judge", first, second, "--json"]);
    expect(readReport(both.out, "out").load?.runs).toMatchObject([
      { segments: ["0:1/2", "1/2:1"], requests: { sent: 26 } },
    ]);
    const one = await conformance(["load", "judge", first]);
    expect(one.out).toContain("the evidence has only the segments 0:1/2");
  });

  it("takes no part twice", async () => {
    const path = file("twice.json", evidence(10));
    const { code, err } = await conformance(["load", "judge", path, path]);
    expect(err).toMatch(/The segment 0:1 is there twice/);
    expect(code).toBe(2);
  });

  it("exits with 3 where the generator was the bottleneck", async () => {
    const generator = { planned: 20, sent: 13, dropped: 7, late: 0, busiest: 0.1 };
    const { code, err } = await conformance(["load", "judge", "-q", file("invalid.json", evidence(10, { generator }))]);
    expect(err).toMatch(
      /^Invalid, and no verdict on the target: minute-limit \(free, k6\): the load generator could not start 7/,
    );
    expect(code).toBe(3);
  });
});

const main = new URL("main.ts", import.meta.url).pathname;

describe("conformance load on the embedded server", () => {
  it("sends, judges, and keeps what it has when it is interrupted", async () => {
    const out = join(folder, "interrupted");
    const junit = join(folder, "interrupted.xml");
    const args = [main, "load", "far-over", "soak", "--engine", "autocannon", "--out", out, "--junit", junit];
    const child = spawn(process.execPath, args, { env: { PATH: process.env["PATH"], NO_COLOR: "1" }, cwd: folder });
    let shown = "";
    child.stdout.on("data", (text: Buffer) => (shown += text.toString()));
    for await (const line of createInterface(child.stderr)) if (line.startsWith("far-over")) break;
    child.kill("SIGINT");
    const [code] = (await once(child, "close")) as [number];
    const report = readReport(readFileSync(join(out, "report.json"), "utf8"), "report.json");
    expect(report).toMatchObject({ verdict: "incomplete", stopped: "interrupted" });
    expect(report.load?.runs[0]).toMatchObject({
      scenario: "far-over",
      tier: "pro",
      engine: "autocannon",
      stopped: null,
    });
    expect(report.load?.runs[0]?.requests.admitted).toBeGreaterThanOrEqual(100);
    expect(readdirSync(join(out, "load"))).toContain("far-over-pro-autocannon.json");
    expect(shown).toMatch(/\nincomplete under load: stopped early \(interrupted\), nothing broken by then/);
    expect(code).toBe(130);
    expect(readFileSync(junit, "utf8")).toContain('name="verdict" value="incomplete"');
    expect((await conformance(["report", out, "--junit", "-"])).out).toBe(readFileSync(junit, "utf8"));
    // Judging the saved evidence again must give the same findings as before.
    const again = await conformance(["load", "judge", out, "-q"]);
    expect(again.out).toMatch(/under load/);
    expect(existsSync(join(out, "evidence.json"))).toBe(false);
    const rejudged = await conformance(["rejudge", out]);
    expect(rejudged.err).toMatch(/is the report of a load run: `conformance load judge/);
  });

  it("tells where k6 is to be had, and sends what autocannon can", async () => {
    const variables = { K6_BINARY: join(folder, "no-k6") };
    const refused = await conformance(["load", "concurrency", "--tier", "free", "--engine", "k6"], variables);
    expect(refused).toMatchObject({ code: 2, err: expect.stringMatching(/^K6_BINARY is .*no-k6, which is not k6/) });
    const args = [
      "load",
      "concurrency",
      "sustained",
      "--tier",
      "free",
      "--json",
      "-",
      "--out",
      join(folder, "no-k6-here"),
    ];
    const { code, out } = await conformance(args, variables);
    const report = readReport(out, "out");
    expect(report.load?.runs.map(({ engine }) => engine)).toEqual(["autocannon"]);
    expect(report.findings.find(({ check }) => check === "LIM-2/sustained")).toMatchObject({
      outcome: "skipped",
      needs: expect.stringContaining("K6_BINARY"),
    });
    expect(code).toBe(0);
  });
});
