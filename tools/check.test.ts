import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";

import { describe, expect, it } from "vitest";

const script = fileURLToPath(new URL("check.mjs", import.meta.url));

describe("the command of all checks", () => {
  it.each<[string[], number, RegExp]>([
    [["--help"], 0, /^npm test \[-- --full \| --trials\]\n/],
    [["--ful"], 2, /^check\.mjs does not take "--ful": .*\n$/],
    [["--full", "src/run"], 2, /^check\.mjs does not take "src\/run": .*vitest run FILE\n$/],
  ])("with %j runs nothing and ends with %i", (args, code, output) => {
    const { status, stdout, stderr } = spawnSync(process.execPath, [script, ...args], { encoding: "utf8" });
    expect(stdout + stderr).toMatch(output);
    expect(status).toBe(code);
  });
});
