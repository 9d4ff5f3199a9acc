import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { request } from "undici";
import { afterAll, describe, expect, it, onTestFinished } from "vitest";

import { listenOnLoopback } from "../base/network/network.ts";
import { startHarness } from "./testing/trouble/harness-process.ts";
import { problemsOf, type QuietResults } from "./testing/trouble/judge-trial.ts";
import { troubles } from "./testing/trouble/try-all.ts";
import { type LinkMode, startLink } from "./testing/trouble/link.ts";
import type { Interference } from "./testing/trouble/preload.ts";
import { inFolder, runTrial } from "./testing/trouble/trial.ts";
import type { Trouble } from "./testing/trouble/trouble.ts";
import { serializeEvidence, serializeReport } from "../report/model/report-file.ts";
import { sampleFinding, sampleReport } from "../report/testing/sample.ts";

const folder = mkdtempSync(join(tmpdir(), "trouble-"));
afterAll(() => rmSync(folder, { recursive: true }));
const options = { timeout: 120_000 };

const report = serializeReport(sampleReport([sampleFinding({ outcome: "pass" })]));
const redReport = serializeReport({
  ...sampleReport([sampleFinding({ outcome: "fail" })]),
  verdict: "nonconformant",
});
const slowReport = serializeReport({
  ...sampleReport([sampleFinding({ outcome: "fail", clause: "load/slow-refusals" })]),
  verdict: "nonconformant",
});
const evidence = serializeEvidence({ exchanges: [], deliveries: [], probes: [] });

/** Writes a stub: a module that runs in place of the command. Its code finds the output folder in the variable `out`. */
function stub(name: string, code: string): string {
  const path = join(folder, `${name}.mjs`);
  const head = [
    'import { spawn } from "node:child_process";',
    'import { readFileSync, writeFileSync } from "node:fs";',
    'const out = process.argv[process.argv.indexOf("--out") + 1];',
    'const target = process.argv[process.argv.indexOf("--target") + 1];',
    `const files = ${JSON.stringify({ report, redReport, slowReport, evidence })};`,
    "const write = (name, text) => writeFileSync(`${out}/${name}`, text);",
    'const save = (text) => (write("evidence.json", files.evidence), write("report.json", text));',
  ];
  writeFileSync(path, `${[...head, code].join("\n")}\n`);
  return path;
}

const calm: Trouble = { name: "calm", summary: "", commands: ["run"], codes: [0], maxSeconds: 8 };
const quiet: QuietResults = { passed: new Map(), red: [] };

/** Runs a trial with a stub in place of the command. Returns the kinds of the problems. */
const kindsOfProblems = (main: string, fault: string | null = null): Promise<readonly string[]> =>
  inFolder(async (root) => {
    const trial = { seed: 1, command: "run", trouble: calm, fault, atSeconds: 0, before: null, main } as const;
    const found = problemsOf(trial, await runTrial(trial, root), quiet);
    return [...new Set(found.map(({ kind }) => kind))];
  });

describe.concurrent("a harness in trouble", () => {
  it.each<readonly [string, string, readonly string[]]>([
    ["keeps its word", "save(files.report);", []],
    [
      "says falsely that a clause is broken",
      "save(files.redReport); process.exitCode = 1;",
      ["exit code", "false red"],
    ],
    ["hides a broken clause", "save(files.redReport);", ["exit code", "false red"]],
    ["ends with a code that the trouble does not allow", "save(files.report); process.exitCode = 3;", ["exit code"]],
    ["is well without a report", "", ["file"]],
    ["leaves half a report", "save(files.report.slice(0, files.report.length / 2));", ["file"]],
    ["leaves half a page", 'save(files.report); write("report.html", "<html><body>");', ["file"]],
    ["leaves a momentary file", 'save(files.report); write(".tmp-1", "");', ["left over"]],
    [
      "prints a key",
      'save(files.report); console.log(Object.values(JSON.parse(readFileSync(target, "utf8")).keys)[0].key);',
      ["key"],
    ],
    ["prints a stack trace", "save(files.report); console.error(new Error().stack);", ["stack trace"]],
    ["hangs", "save(files.report); setInterval(() => {}, 1000);", ["time"]],
    [
      "leaves a process",
      'save(files.report); spawn("sleep", ["60"], { stdio: "ignore", detached: true }).unref();',
      process.platform === "linux" ? ["left over"] : [],
    ],
  ])("that %s is judged by that alone", options, async (name, code, expected) => {
    expect(await kindsOfProblems(stub(name.replaceAll(" ", "-"), code))).toEqual(expected);
  });

  it("is right about what the target's fault breaks under load", options, async () => {
    const main = stub("slow", "save(files.slowReport); process.exitCode = 1;");
    expect(await kindsOfProblems(main, "slow-refusals")).toEqual([]);
    expect(await kindsOfProblems(main, "one-slot-too-many")).toEqual(["false red"]);
  });

  it.each<readonly [string, LinkMode, string]>([
    ["open", { kind: "open" }, "200 ah_key"],
    ["that refuses connections", { kind: "refusing", cutsOpen: true }, "ECONNREFUSED"],
    ["that resets connections", { kind: "resetting", share: 1 }, "ECONNRESET"],
    ["that delays", { kind: "delaying", maxMs: 50 }, "200 ah_key"],
    ["behind a gateway", { kind: "gateway", status: 503 }, "503 <html>"],
    ["that revokes a key", { kind: "revoking", key: "ah_key" }, "200 yek_ha"],
  ])("has a link %s", options, async (_, mode, expected) => {
    const server = createServer((incoming, response) => response.end(incoming.headers.authorization));
    const port = await listenOnLoopback(server);
    const link = await startLink(port, () => 0.5);
    onTestFinished(async () => {
      await link.close();
      server.close();
    });
    await link.setMode(mode);
    const came = await request(`http://127.0.0.1:${link.port}/`, { headers: { authorization: "ah_key" } }).then(
      async ({ statusCode, body }) => `${statusCode} ${(await body.text()).slice(0, 6)}`,
      (error: unknown) => String(Object(error).code),
    );
    expect(came).toBe(expected);
  });

  it.each<readonly [string, Interference, RegExp]>([
    [
      "the second write fails, after half of its data",
      { kind: "failing writes", from: 2, lasts: false, code: "ENOSPC", below: folder, log: join(folder, "log") },
      /^aaaa ENOSPC bb cccc jumped 0 0/,
    ],
    [
      "a full disk fails all later writes",
      { kind: "failing writes", from: 2, lasts: true, code: "EIO", below: folder, log: join(folder, "log") },
      /^aaaa EIO bb EIO cc jumped 0 0/,
    ],
    [
      "the wall clock jumps back",
      { kind: "jumping clocks", atMs: 0, byMs: -3_600_000, isMonotonicToo: false },
      /^aaaa bbbb cccc jumped -1 0/,
    ],
    [
      "all clocks jump after a sleep",
      { kind: "jumping clocks", atMs: 0, byMs: 3_600_000, isMonotonicToo: true },
      /^aaaa bbbb cccc jumped 1 1/,
    ],
  ])("meets a machine where %s", options, async (name, interference, expected) => {
    const main = stub(
      name.replaceAll(/\W+/g, "-"),
      `
      const said = [];
      for (const letter of "abc") {
        const path = ${JSON.stringify(join(folder, name))} + letter;
        try {
          writeFileSync(path, letter.repeat(4));
        } catch (error) {
          said.push(error.code);
        }
        said.push(readFileSync(path, "utf8"));
      }
      const hours = (ms) => Math.round(ms / 3_600_000);
      console.log(...said, "jumped", hours(Date.now() - ${Date.now()}), hours(performance.now()));
      `,
    );
    const { out } = await startHarness({
      main,
      args: [],
      folder,
      environment: {
        NODE_OPTIONS: `--import ${new URL("testing/trouble/preload.ts", import.meta.url).href}`,
        CONFORMANCE_TROUBLE: JSON.stringify(interference),
      },
      prefix: [],
      stdout: "read",
      maxSeconds: 60,
    }).ended;
    expect(out).toMatch(expected);
  });

  it("has kinds of trouble whose names are not parts of each other, so that one can be chosen", () => {
    const names = troubles.map(({ name }) => name);
    expect(names.filter((name) => names.filter((other) => other.includes(name)).length > 1)).toEqual([]);
  });
});
