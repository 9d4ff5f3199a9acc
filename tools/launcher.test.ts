import { execFile } from "node:child_process";
import { cp, mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, describe, expect, it } from "vitest";

const launcher = fileURLToPath(new URL("../bin/conformance.js", import.meta.url));

describe("the command of an installed package", () => {
  let folder: string;

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), "launcher-"));
    await mkdir(join(folder, "bin"));
    await cp(launcher, join(folder, "bin", "conformance.js"));
    await writeFile(join(folder, "package.json"), `{ "type": "module" }`);
  });

  afterEach(() => rm(folder, { recursive: true, force: true }));

  async function built(main: string): Promise<void> {
    await mkdir(join(folder, "dist", "cli"), { recursive: true });
    await writeFile(join(folder, "dist", "cli", "main.js"), main);
  }

  function launch(...args: string[]): Promise<{ code: number | null; stdout: string; stderr: string }> {
    return new Promise((resolve) => {
      const child = execFile(
        process.execPath,
        [join(folder, "bin", "conformance.js"), ...args],
        (_error, stdout, stderr) => resolve({ code: child.exitCode, stdout, stderr }),
      );
    });
  }

  it("hands its arguments to the built command and leaves the exit code to it", async () => {
    await built(`console.log(process.argv.slice(2).join(" ")); process.exitCode = 3;`);
    expect(await launch("run", "--quiet")).toEqual({ code: 3, stdout: "run --quiet\n", stderr: "" });
  });

  it("says in one line with exit code 2 that the built command is missing", async () => {
    const { code, stdout, stderr } = await launch("run");
    expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
    expect(stderr).toMatch(/^conformance: \S+main\.js is missing: install the package again\.\n$/);
  });

  it("ends with exit code 4 where the built command does not load", async () => {
    await built(`import "./gone.js";`);
    const { code, stderr } = await launch("run");
    expect(code).toBe(4);
    expect(stderr).toContain("conformance: it cannot start: Error [ERR_MODULE_NOT_FOUND]");
  });
});
