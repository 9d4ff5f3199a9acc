import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";

import { commandTable } from "./command-table.ts";

const main = new URL("main.ts", import.meta.url).pathname;
const recorder = new URL("testing/record-modules.ts", import.meta.url).pathname;

/** Folders and files in `src` that a command may load if it neither sends nor judges anything. */
const lightParts = [
  "base/",
  "evidence/",
  "cli/",
  "spec/",
  "app/judge/secrets.ts",
  "app/requirements.ts",
  "app/use-case-error.ts",
  "report/reproduce/curl.ts",
];
const lightLibraries = new Set(["commander", "get-east-asian-width"]);
/** Matches modules that format tables. Only commands that print a table may load them. */
const tableModule =
  /\/src\/report\/(terminal\/section-lines|model\/section)\.ts$|\/node_modules\/(cli-table3|string-width|strip-ansi|ansi-regex|is-fullwidth-code-point|emoji-regex)\//;

describe("a short command", () => {
  let folder: string;

  beforeAll(() => void (folder = mkdtempSync(join(tmpdir(), "start-"))));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  /** Runs a command. Returns its exit code, and which loaded modules a short command does not need. */
  function heavyModules(args: readonly string[]): { readonly code: number | null; readonly heavy: string[] } {
    const file = join(folder, `${args.join("-")}.txt`);
    const { status } = spawnSync(process.execPath, ["--import", recorder, main, ...args], {
      env: { ...process.env, LOADED_MODULES: file },
      stdio: "ignore",
    });
    const urls = [...new Set(readFileSync(file, "utf8").trimEnd().split("\n"))];
    expect(urls.some((url) => url.endsWith("/cli/program.ts"))).toBe(true);
    return { code: status, heavy: urls.filter(isHeavy) };
  }

  it.each([["--version"], ["--help"], ["explain SSE-5"], ["list"], ["help explain"], ["no-such-command"]])(
    "loads no suite, no server and no library of theirs: %s",
    (line) => {
      const { heavy } = heavyModules(line.split(" "));
      expect(line === "list" ? heavy.filter((url) => !tableModule.test(url)) : heavy).toEqual([]);
    },
  );

  it("is told from one that judges", () => {
    const { code, heavy } = heavyModules(["run", "--no-such-flag"]);
    expect(code).toBe(2);
    for (const part of ["/src/suites/", "/src/reference/", "/node_modules/undici/", "/node_modules/zod/"])
      expect(heavy.some((url) => url.includes(part))).toBe(true);
  });
});

function isHeavy(url: string): boolean {
  if (url.startsWith("node:")) return heavyBuiltins.has(url);
  const [, library] = /\/node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(url) ?? [];
  if (library !== undefined) return !lightLibraries.has(library);
  const [, path = ""] = /\/src\/(.*)$/.exec(url) ?? [];
  return !lightParts.some((part) => path.startsWith(part));
}

/** Node's built-in modules that only requests and threads need. (commander itself loads node:child_process.) */
const heavyBuiltins = new Set(
  ["http", "https", "net", "tls", "crypto", "zlib", "worker_threads"].map((name) => `node:${name}`),
);

describe("the table of commands", () => {
  it.each(Object.entries(commandTable))("names the command %s as it names itself", async (name, { load }) => {
    expect((await load()).name()).toBe(name);
  });
});
