import { execFileSync, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";

import { describe, expect, it, onTestFinished } from "vitest";

import { readEvidence, readReport } from "../report/model/report-file.ts";
import { commandLineIn } from "./testing/command.ts";

const root = mkdtempSync(join(tmpdir(), "lost-outputs-"));
const conformance = commandLineIn(root);
const main = new URL("main.ts", import.meta.url).pathname;
const env = { PATH: process.env["PATH"], NO_COLOR: "1" };
const short = ["run", "--only", "INV-10", "--quiet"];
const faulty = [...short, "--fault", "missing-query-other-code"];

/** Code of a module that makes every long write fail, as a full disk does. */
const fullDisk = `
import fs from "node:fs";
import { syncBuiltinESMExports } from "node:module";
const { writeSync } = fs;
fs.writeSync = (descriptor, data, ...rest) => {
  if (data.length > 1000) throw Object.assign(new Error("no space left on device, write"), { code: "ENOSPC" });
  return writeSync(descriptor, data, ...rest);
};
syncBuiltinESMExports();`;

function onFullDisk(args: readonly string[]) {
  const preload = `data:text/javascript,${encodeURIComponent(fullDisk)}`;
  return spawnSync(process.execPath, ["--import", preload, main, ...args], { env, cwd: root, encoding: "utf8" });
}

/** Asserts that report and evidence in a folder were written completely. */
function assertComplete(folder: string): void {
  readReport(readFileSync(join(folder, "report.json"), "utf8"), "report.json");
  readEvidence(readFileSync(join(folder, "evidence.json"), "utf8"), "evidence.json");
  expect(readdirSync(folder).toSorted()).toEqual(["evidence.json", "report.json"]);
}

describe("an output that cannot be written", () => {
  it.each([
    ["nothing is broken", short, 4, /^partial: nothing broken/m],
    ["a must clause is broken", faulty, 1, /^nonconformant: 1 must clause broken/m],
  ])("costs no verdict, is told in one line, and counts: %s", async (_, args, code, verdict) => {
    const ended = await conformance([...args, "--junit", "/dev/full", "--out", `lost-${code}`]);
    expect(ended.out).toMatch(verdict);
    expect(ended.err).toBe("--junit could not be written: /dev/full (ENOSPC).\n");
    expect(ended.code).toBe(code);
    assertComplete(join(root, `lost-${code}`));
  });

  it("is no loss if a reader of standard output had enough", async () => {
    const folder = join(root, "head");
    const child = spawn(process.execPath, [main, ...short, "--json", "-", "--out", folder], { env });
    child.stdout.destroy();
    const [code] = (await once(child, "exit")) as [number];
    expect(code).toBe(0);
    assertComplete(folder);
  });
});

describe("a full disk", () => {
  it.each([
    ["run", faulty, 1, /^nonconformant: 1 must clause broken/m],
    ["load", ["load", "concurrency", "--engine", "autocannon", "--tier", "free", "--quiet"], 4, /nothing broken/],
    ["nightly", ["nightly", "--history", "full/nights", "--no-load", "--only", "INV-10", "--quiet"], 4, /INV|night/i],
  ])("hides no verdict of %s, and leaves the files as they were", (name, args, code, verdict) => {
    const folder = join(root, "full", name);
    mkdirSync(folder, { recursive: true });
    for (const file of ["report.json", "evidence.json"]) writeFileSync(join(folder, file), "before");
    const { stdout, stderr, status } = onFullDisk([...args, ...(name === "nightly" ? [] : ["--out", folder])]);
    expect(stdout).toMatch(verdict);
    expect(stderr).toMatch(/could not be written \(ENOSPC\), nor could .* \(ENOSPC\)\. Lost: /);
    expect(stderr).not.toMatch(/^\s+at /m);
    expect(status).toBe(code);
    expect(readFileSync(join(folder, "report.json"), "utf8")).toBe("before");
    expect(readdirSync(folder, { recursive: true }).filter((file) => String(file).includes(".tmp-"))).toEqual([]);
  });
});

describe("a signal while results are written", () => {
  it.each(["SIGINT", "SIGTERM", "SIGHUP"] as const)("lets them be finished: %s", async (signal) => {
    const folder = join(root, signal);
    const pipe = join(root, `${signal}.pipe`);
    execFileSync("sh", ["-c", `mkfifo "$1"`, "sh", pipe]);
    const child = spawn(process.execPath, [main, ...short, "--html", pipe, "--out", folder], { env });
    onTestFinished(() => void child.kill("SIGKILL"));
    const out = text(child.stdout);
    // When the verdict is printed, the command begins to wait until somebody opens the pipe for reading.
    await once(child.stdout, "data");
    child.kill(signal);
    const reader = spawn("cat", [pipe]);
    onTestFinished(() => void reader.kill());
    const page = await text(reader.stdout);
    const [code] = (await once(child, "exit")) as [number];
    expect(page).toMatch(/<\/html>\s*$/);
    expect([code, await out]).toEqual([130, expect.stringContaining("partial")]);
    assertComplete(folder);
  });

  it("ends the command at once if it is the second", async () => {
    const moduleAt = (path: string): string => JSON.stringify(new URL(path, import.meta.url).href);
    const code = `import { withSignals, writeResults } from ${moduleAt("signals.ts")};
      import { handlePendingSignals } from ${moduleAt("../base/process-end.ts")};
      await withSignals(() => writeResults(async () => { console.log("writing"); while (true) await handlePendingSignals(); }));`;
    const child = spawn(process.execPath, ["--input-type=module", "-e", code], { env });
    await once(child.stdout, "data");
    const again = setInterval(() => void child.kill("SIGINT"), 50);
    onTestFinished(() => clearInterval(again));
    expect(await once(child, "exit")).toEqual([130, null]);
  });
});

describe("a folder that another command writes", () => {
  it("is refused with exit code 2 and one line that says who writes it", async () => {
    const pipe = join(root, "slow.pipe");
    execFileSync("sh", ["-c", `mkfifo "$1"`, "sh", pipe]);
    const folder = join(root, "shared");
    const first = spawn(process.execPath, [main, ...short, "--html", pipe, "--out", folder], { env });
    onTestFinished(() => void first.kill("SIGKILL"));
    await once(first.stdout, "data");
    const second = await conformance([...short, "--out", folder]);
    expect(second.err).toMatch(
      new RegExp(
        `^${folder} is in use by process ${first.pid} on .*, since .*\\. Wait for its end, or give another with --out\\.\n$`,
      ),
    );
    expect([second.code, second.out]).toEqual([2, ""]);
    const reader = spawn("cat", [pipe]);
    onTestFinished(() => void reader.kill());
    await text(reader.stdout);
    expect(await once(first, "exit")).toEqual([0, null]);
    assertComplete(folder);
  });
});

describe("an empty path", () => {
  it.each([
    ["--out", [...short, "--out", ""]],
    ["--out", ["load", "--out", ""]],
    ["--history", ["nightly", "--history", ""]],
    ["--html", [...short, "--html", ""]],
    ["--html", ["trend", "--history", ".", "--html", ""]],
    ["--out", ["init", "--base-url", "http://127.0.0.1:9", "--api-key", "k", "--yes", "--out", ""]],
  ])("is refused for %s: %j", async (flag, args) => {
    const { code, err, out } = await conformance(args);
    expect([code, out]).toEqual([2, ""]);
    expect(err).toMatch(new RegExp(`^${flag} is empty\\. Give a (file|folder)\\.\n$`));
  });
});
