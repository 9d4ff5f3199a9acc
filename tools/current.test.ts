import { mkdirSync, mkdtempSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";

/** The types of tools/current.mjs, which is plain JavaScript and has none. */
interface Current {
  readonly files: readonly string[];
  readonly fingerprint: (root: string) => string | null;
  readonly isCurrent: (root: string) => boolean;
  readonly remember: (root: string, taken: string | null) => void;
}
const { files, fingerprint, isCurrent, remember } = (await import(
  new URL("current.mjs", import.meta.url).href
)) as Current;

describe("a checkout that was set up", () => {
  let root: string;
  const write = (name: string, text: string): void => {
    mkdirSync(dirname(join(root, name)), { recursive: true });
    writeFileSync(join(root, name), text);
  };

  beforeEach(() => {
    root = mkdtempSync(join(tmpdir(), "current-"));
    for (const name of [...files, "src/a/one.ts", "src/a/one.test.ts", "scenarios/two.ts", "dist/cli/main.js"])
      write(name, "as it was");
    remember(root, fingerprint(root));
  });

  afterEach(() => rmSync(root, { recursive: true, force: true }));

  it("does without a stamp where none can be kept", () => {
    rmSync(join(root, "dist"), { recursive: true });
    expect(() => remember(root, fingerprint(root))).not.toThrow();
    expect(isCurrent(root)).toBe(false);
  });

  it.each<[string, boolean, () => void]>([
    ["has nothing to do", true, () => {}],
    ["does not mind a test", true, () => write("src/a/one.test.ts", "another")],
    ["sees a source of another length", false, () => write("src/a/one.ts", "another text")],
    ["sees a source of another time", false, () => utimesSync(join(root, "src/a/one.ts"), 1, 1)],
    ["sees a new source", false, () => write("scenarios/three.ts", "")],
    ["sees a source that has gone", false, () => rmSync(join(root, "scenarios/two.ts"))],
    ["sees other packages", false, () => write("node_modules/.package-lock.json", "{}")],
    ["sees that Node has gone", false, () => rmSync(join(root, "node_modules/.bin/node"))],
    ["sees that the build has gone", false, () => rmSync(join(root, "dist"), { recursive: true })],
  ])("%s", (_, isStill, change) => {
    change();
    expect(isCurrent(root)).toBe(isStill);
  });
});
