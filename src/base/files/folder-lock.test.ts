import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, readFileSync, readdirSync, realpathSync, writeFileSync } from "node:fs";
import { hostname, tmpdir } from "node:os";
import { join } from "node:path";

import { afterEach, describe, expect, it, onTestFinished, vi } from "vitest";

import { assertLocked, FolderInUse, lockFolder, lockName, releaseFolders } from "./folder-lock.ts";
import { thisProcess } from "./output-folders.ts";

const newFolder = (): string => realpathSync(mkdtempSync(join(tmpdir(), "lock-")));
const secondsAgo = (seconds: number): string => new Date(Date.now() - seconds * 1000).toISOString();

const readLock = (folder: string): Record<string, unknown> =>
  JSON.parse(readFileSync(join(folder, lockName), "utf8")) as Record<string, unknown>;

function leaveLock(folder: string, lock: Readonly<Record<string, unknown>>): void {
  const since = "2026-01-31T02:00:00.000Z";
  const whole = { host: hostname(), machine: thisProcess.machine, pid: 1, since, renewed: since, ...lock };
  writeFileSync(join(folder, lockName), JSON.stringify(whole));
}

const endedPid = (): number => spawnSync(process.execPath, ["-e", ""]).pid;

afterEach(() => {
  releaseFolders();
  vi.useRealTimers();
});

describe("the lock of a folder", () => {
  it("names its process, is renewed every 5 s, and is gone when it is released", () => {
    vi.useFakeTimers();
    const folder = newFolder();
    lockFolder(folder);
    const first = readLock(folder);
    expect(first).toMatchObject({ host: hostname(), pid: process.pid });
    vi.advanceTimersByTime(5000);
    expect(readLock(folder)).toEqual({ ...first, renewed: new Date().toISOString() });
    releaseFolders();
    expect(readdirSync(folder)).toEqual([]);
  });

  it("is not taken twice, and does not keep the process alive", async () => {
    const folder = newFolder();
    const module = new URL("folder-lock.ts", import.meta.url).href;
    const code = `import { lockFolder } from ${JSON.stringify(module)}; lockFolder(${JSON.stringify(folder)});`;
    const run = (more: string) => spawn(process.execPath, ["--input-type=module", "-e", code + more]);
    const holder = run("console.log('locked'); setInterval(() => {}, 1000);");
    onTestFinished(() => void holder.kill("SIGKILL"));
    await once(holder.stdout, "data");
    expect(() => lockFolder(folder)).toThrow(FolderInUse);
    expect(() => lockFolder(folder)).toThrow(`${folder} is in use by process ${holder.pid} on ${hostname()}, since 20`);
    holder.kill("SIGKILL");
    await once(holder, "exit");
    // The killed process could not remove its lock.
    expect(existsSync(join(folder, lockName))).toBe(true);
    const [exit] = (await once(run(""), "exit")) as [number];
    expect([exit, readdirSync(folder)]).toEqual([0, []]);
  });

  it("ends its process quietly where it cannot be removed", () => {
    const folder = newFolder();
    const module = new URL("folder-lock.ts", import.meta.url).href;
    // The tests may run as root, who can write to every folder. So a failing `rmSync` simulates a folder that cannot be
    // written.
    const code = [
      'import fs from "node:fs"; import { syncBuiltinESMExports } from "node:module";',
      `import { lockFolder } from ${JSON.stringify(module)}; lockFolder(${JSON.stringify(folder)});`,
      'fs.rmSync = () => { throw Object.assign(new Error("EACCES"), { code: "EACCES" }); }; syncBuiltinESMExports();',
    ];
    const { status, stderr } = spawnSync(process.execPath, ["--input-type=module", "-e", code.join("\n")]);
    expect([status, stderr.toString()]).toEqual([0, ""]);
    lockFolder(folder);
  });

  it.each([
    ["of a process of this machine that runs", { renewed: secondsAgo(20) }, true],
    ["of a process of this machine that has ended", { renewed: secondsAgo(1), pid: endedPid() }, false],
    ["that was not renewed for 30 s", { renewed: secondsAgo(31) }, false],
    ["of another machine", { renewed: secondsAgo(20), machine: "another", host: "other" }, true],
    ["of another machine, not renewed for 30 s", { renewed: secondsAgo(31), machine: "another" }, false],
  ])("%s", (_, lock, isHeld) => {
    const folder = newFolder();
    leaveLock(folder, lock);
    const take = (): string => {
      try {
        lockFolder(folder);
        return "taken";
      } catch (error) {
        return error instanceof FolderInUse ? "held" : String(error);
      }
    };
    expect(take()).toBe(isHeld ? "held" : "taken");
    expect(readLock(folder)["pid"] === process.pid).toBe(!isHeld);
    expect(readdirSync(folder)).toEqual([lockName]);
  });

  it("that has no text yet is held", () => {
    const folder = newFolder();
    writeFileSync(join(folder, lockName), "");
    expect(() => lockFolder(folder)).toThrow(`${folder} is in use by another process`);
  });

  it("tells, for the folder and those in it, if another process has taken it over, and leaves it that one's", () => {
    const folder = newFolder();
    lockFolder(folder);
    assertLocked(join(folder, "one"));
    leaveLock(folder, { renewed: secondsAgo(0), host: "other", machine: "another" });
    expect(() => assertLocked(join(folder, "one"))).toThrow(`${folder} is in use by process 1 on other`);
    releaseFolders();
    expect(readLock(folder)["host"]).toBe("other");
  });
});
