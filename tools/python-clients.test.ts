import { execFile } from "node:child_process";
import { cp, mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, describe, expect, it } from "vitest";

const tools = fileURLToPath(new URL(".", import.meta.url));

describe("the set-up of the Python clients", () => {
  let folder: string;

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), "python-clients-"));
    await cp(tools, join(folder, "tools"), { recursive: true });
    await mkdir(join(folder, "bin"));
  });

  afterEach(() => rm(folder, { recursive: true, force: true }));

  function prepare(): Promise<{ code: number | null; stderr: string }> {
    return new Promise((resolve) => {
      const options = { env: { PATH: join(folder, "bin") } };
      const child = execFile(
        process.execPath,
        [join(folder, "tools", "python-clients.mjs")],
        options,
        (_error, _out, stderr) => resolve({ code: child.exitCode, stderr }),
      );
    });
  }

  it("says in one line that Python is missing", async () => {
    const { code, stderr } = await prepare();
    expect(code).toBe(2);
    expect(stderr).toMatch(/^Python is not on PATH: install Python 3\.10 or newer [^\n]*\n$/);
  });

  it.skipIf(process.platform === "win32")("says what is missing where Python has no venv module", async () => {
    const script = `#!/bin/sh\n[ "$1" = --version ] && echo Python 3.11.0 && exit 0\necho No module named venv >&2; exit 1\n`;
    await writeFile(join(folder, "bin", "python3"), script, { mode: 0o755 });
    const { code, stderr } = await prepare();
    expect(code).toBe(2);
    expect(stderr).toMatch(/^No module named venv\n[^\n]*install Python's venv module[^\n]*\n$/);
  });
});
