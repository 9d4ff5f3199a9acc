import { mkdirSync, mkdtempSync, realpathSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";

import { describe, expect, it } from "vitest";

import { commandName } from "../report/reproduce/curl.ts";
import { invocationOf, withInvocation } from "./invocation.ts";

const folder = realpathSync(mkdtempSync(join(tmpdir(), "invocation-")));
const file = (path: string): string => {
  mkdirSync(dirname(join(folder, path)), { recursive: true });
  writeFileSync(join(folder, path), "");
  return join(folder, path);
};
const started = { isBinary: false, execPath: "/usr/bin/node", folder } as const;

describe("a printed command", () => {
  it("names the binary by its path", () => {
    const binary = { ...started, isBinary: true, script: undefined };
    expect(invocationOf({ ...binary, execPath: join(folder, "conformance") })).toBe("./conformance");
    expect(invocationOf({ ...binary, execPath: "/opt/conformance" })).toBe("/opt/conformance");
  });

  it("names the installed package, whichever link started it", () => {
    const script = file("node_modules/agent-hosting-conformance/bin/conformance.js");
    const link = join(folder, "node_modules", "link");
    symlinkSync(script, link);
    expect(invocationOf({ ...started, script })).toBe("npx agent-hosting-conformance");
    expect(invocationOf({ ...started, script: link })).toBe("npx agent-hosting-conformance");
  });

  it("names the file of a checkout, seen from the current folder", () => {
    file("checkout/tools/setup.mjs");
    const script = file("checkout/bin/conformance.js");
    expect(invocationOf({ ...started, script })).toBe("node checkout/bin/conformance.js");
    expect(invocationOf({ ...started, script, folder: join(folder, "checkout") })).toBe("node bin/conformance.js");
    const main = file("checkout/src/cli/main.ts");
    expect(invocationOf({ ...started, script: main })).toBe("node checkout/src/cli/main.ts");
  });

  it("replaces the name of the package and of the command, and nothing else", () => {
    const shown = withInvocation("`conformance run`");
    expect(withInvocation(`\`${commandName} run\``)).toBe(shown);
    const other = "the conformance harness, of agent-hosting-conformance 0.3.0";
    expect(withInvocation(other)).toBe(other);
  });

  it("is the plain name if the start is not known", () => {
    expect(invocationOf({ ...started, script: "/nowhere/driver.ts" })).toBe("conformance");
  });
});
