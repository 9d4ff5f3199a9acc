import { execFileSync, spawn, spawnSync } from "node:child_process";
import {
  existsSync,
  linkSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";

import { describe, expect, it } from "vitest";

import { checkFolderWritable, checkWritable, temporaryName } from "./output-folders.ts";
import { replaceFile, stageFile } from "./replace-file.ts";

const newFolder = (): string => mkdtempSync(join(tmpdir(), "replace-"));

function* failing(): Generator<string> {
  yield "x".repeat(300_000);
  throw new Error("no more");
}

describe("a file that is replaced", () => {
  it("is as before, with nothing beside it, if its text cannot be written", () => {
    const file = join(newFolder(), "a.json");
    writeFileSync(file, "before");
    expect(() => replaceFile(file, failing())).toThrow("no more");
    expect(readFileSync(file, "utf8")).toBe("before");
    expect(readdirSync(join(file, ".."))).toEqual(["a.json"]);
  });

  it("has its old text until the new one is on disk, and never a part of it", () => {
    const file = join(newFolder(), "a.json");
    writeFileSync(file, "before");
    const staged = stageFile(file, ["af", "ter"]);
    expect(readFileSync(file, "utf8")).toBe("before");
    staged.commit();
    expect(readFileSync(file, "utf8")).toBe("after");
    expect(readdirSync(join(file, ".."))).toEqual(["a.json"]);
  });

  it("keeps its permissions, unless others are wanted", () => {
    const file = join(newFolder(), "a.json");
    writeFileSync(file, "before", { mode: 0o640 });
    replaceFile(file, "after");
    expect(statSync(file).mode & 0o777).toBe(0o640);
    replaceFile(file, "after", 0o600);
    expect(statSync(file).mode & 0o777).toBe(0o600);
  });

  it.each([true, false])("may be named by a link, which stays (the file exists: %s)", (exists) => {
    const folder = newFolder();
    mkdirSync(join(folder, "real"));
    const [link, real] = [join(folder, "link"), join(folder, "real", "a.json")];
    if (exists) writeFileSync(real, "before");
    symlinkSync(join("real", "a.json"), link);
    replaceFile(link, "after");
    expect([readFileSync(real, "utf8"), lstatSync(link).isSymbolicLink()]).toEqual(["after", true]);
  });

  it("may be a pipe or a device, which is written in place", async () => {
    const pipe = join(newFolder(), "pipe");
    execFileSync("sh", ["-c", `mkfifo "$1"`, "sh", pipe]);
    const reader = spawn("cat", [pipe]);
    checkWritable(pipe);
    replaceFile(pipe, ["a page", " in pieces"]);
    expect(await text(reader.stdout)).toBe("a page in pieces");
    expect(() => replaceFile("/dev/full", "x")).toThrow(expect.objectContaining({ code: "ENOSPC" }));
    expect(statSync("/dev/full").isCharacterDevice()).toBe(true);
  });

  it("may be a socket that the process has inherited, as /dev/stdout often is", () => {
    const module = new URL("replace-file.ts", import.meta.url).href;
    const code = `import { replaceFile } from ${JSON.stringify(module)}; replaceFile("/dev/stdout", "x".repeat(400_000));`;
    // Node connects the standard streams of its child processes by sockets.
    const { stdout, status } = spawnSync(process.execPath, ["--input-type=module", "-e", code], { encoding: "utf8" });
    expect([status, stdout.length]).toEqual([0, 400_000]);
  });

  it("does not change other names of the file that it was", () => {
    const folder = newFolder();
    const [one, other] = [join(folder, "one"), join(folder, "other")];
    writeFileSync(one, "before");
    linkSync(one, other);
    replaceFile(one, "after");
    expect([readFileSync(one, "utf8"), readFileSync(other, "utf8")]).toEqual(["after", "before"]);
  });
});

describe("a probe", () => {
  it("changes nothing, and finds what cannot be written", () => {
    const folder = newFolder();
    writeFileSync(join(folder, "there"), "text");
    for (const name of ["there", "new", "deep/er/new"]) checkWritable(join(folder, name));
    expect(readFileSync(join(folder, "there"), "utf8")).toBe("text");
    expect(existsSync(join(folder, "new"))).toBe(false);
    expect(() => checkWritable(folder)).toThrow(expect.objectContaining({ code: "EISDIR" }));
    expect(() => checkWritable(join(folder, "there", "new"))).toThrow(expect.objectContaining({ code: "ENOTDIR" }));
    expect(() => checkFolderWritable(join(folder, "none"))).toThrow(expect.objectContaining({ code: "ENOENT" }));
  });

  it("sweeps what killed processes left, and leaves what others are writing", () => {
    const folder = newFolder();
    const { pid } = spawnSync(process.execPath, ["-e", ""]);
    const own = temporaryName();
    const ofKilled = own.replace(`-${process.pid}-`, `-${pid}-`);
    const ofOthers = [own, own.replace(/-[0-9a-f]{8}-/, "-01234567-"), ".tmp-of-another-program"];
    const old = own.replace(/-[0-9a-f]{8}-/, "-89abcdef-");
    for (const name of [ofKilled, ...ofOthers, old]) writeFileSync(join(folder, name), "");
    utimesSync(join(folder, old), 0, 0);
    checkFolderWritable(folder);
    expect(readdirSync(folder).toSorted()).toEqual(ofOthers.toSorted());
  });
});
