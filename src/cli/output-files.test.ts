import { execFileSync, spawn, spawnSync } from "node:child_process";
import { linkSync, mkdtempSync, openSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";

import { describe, expect, it } from "vitest";

import { writeOutput } from "../app/report-folder/write-files.ts";
import { prepareFiles } from "./output-files.ts";

const folder = mkdtempSync(join(tmpdir(), "outputs-"));
const main = new URL("main.ts", import.meta.url).pathname;

describe("files that flags ask for", () => {
  it("may be pipes, whose reader gets everything", async () => {
    const pipe = join(folder, "pipe");
    execFileSync("sh", ["-c", `mkfifo "$1"`, "sh", pipe]);
    const reader = spawn("cat", [pipe]);
    const { files } = prepareFiles(["html"], { html: pipe });
    expect(files.flatMap((output) => writeOutput(output, () => "page"))).toEqual([]);
    expect(await text(reader.stdout)).toBe("page");
  });

  it("are told apart by what they are, not by their names", () => {
    const [one, other] = [join(folder, "one"), join(folder, "other")];
    writeFileSync(one, "");
    linkSync(one, other);
    expect(() => prepareFiles(["a", "b"], { a: one, b: other })).toThrow(
      `--a and --b name the same file: ${one}. Give each its own.`,
    );
  });
});

describe("standard error", () => {
  it("that is full costs nothing but what stood there", () => {
    const { status, stdout } = spawnSync(process.execPath, [main, "list", "--no-such-flag"], {
      stdio: ["ignore", "pipe", openSync("/dev/full", "w")],
      encoding: "utf8",
    });
    expect({ status, stdout }).toEqual({ status: 2, stdout: "" });
  });
});

describe("standard output", () => {
  it("that is full is told in one line, and is a loss", () => {
    const { status, stderr } = spawnSync(process.execPath, [main, "list"], {
      stdio: ["ignore", openSync("/dev/full", "w"), "pipe"],
      encoding: "utf8",
    });
    expect({ status, stderr }).toEqual({ status: 4, stderr: "Standard output cannot be written (ENOSPC).\n" });
  });
});
