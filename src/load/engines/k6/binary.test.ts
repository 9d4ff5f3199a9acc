import { execFile } from "node:child_process";
import { chmodSync, mkdirSync, mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { pathToFileURL } from "node:url";
import { promisify } from "node:util";

import { describe, expect, it } from "vitest";

import { hideKeys } from "../../../base/line.ts";
import { EngineProblem } from "../../engine.ts";
import { packageRoot } from "../../../base/package-root.ts";
import { builtBinary, findK6 } from "./binary.ts";

/** Makes a folder like that of the package. `put` creates a program there that prints a version of k6. */
function place() {
  const root = mkdtempSync(join(tmpdir(), "conformance-k6-"));
  mkdirSync(join(root, "k6"));
  for (const name of ["go.mod", "go.sum"]) writeFileSync(join(root, "k6", name), name);
  const put = (path: string, says: string): string => {
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, `#!/bin/sh\necho "${says}"\n`);
    chmodSync(path, 0o755);
    return path;
  };
  return { root, put, bin: join(root, "bin") };
}

describe.skipIf(process.platform === "win32")("k6 is looked for", () => {
  it("first at K6_BINARY", async () => {
    const { root, put, bin } = place();
    put(join(bin, "k6"), "k6 v2.9.0 (go1.26)");
    const named = put(join(root, "mine"), "k6 v2.3.1 (commit/abc, go1.26, linux/amd64)");

    expect(await findK6({ K6_BINARY: named, PATH: bin }, root)).toStrictEqual({ path: named, version: "v2.3.1" });
  });

  it.each([
    { says: "k6 v1.4.0 (go1.26)", message: "which is k6 v1.4.0" },
    { says: "another program", message: "which is not k6" },
  ])("and nowhere else, where that says $says", async ({ says, message }) => {
    const { root, put, bin } = place();
    put(join(bin, "k6"), "k6 v2.9.0 (go1.26)");
    const named = put(join(root, "mine"), says);

    await expect(findK6({ K6_BINARY: named, PATH: bin }, root)).rejects.toThrow(message);
  });

  it("then on PATH", async () => {
    const { root, put, bin } = place();
    put(builtBinary(root), "k6 v2.2.0 (go1.26)");

    expect(await findK6({ PATH: `/nowhere:${put(join(bin, "k6"), "k6 v2.9.0 (go1.26)") && bin}` }, root)).toStrictEqual(
      {
        path: join(bin, "k6"),
        version: "v2.9.0",
      },
    );
  });

  it("then in the build folder, if k6 on PATH has another version", async () => {
    const { root, put, bin } = place();
    put(join(bin, "k6"), "k6 v0.57.0 (go1.26)");
    const built = put(builtBinary(root), "k6 v2.2.0 (go1.26)");

    expect(await findK6({ PATH: bin }, root)).toStrictEqual({ path: built, version: "v2.2.0" });
  });

  it("and if it is missing, the message says how to get it", async () => {
    const { root } = place();

    await expect(findK6({ PATH: "" }, root)).rejects.toThrow(EngineProblem);
    await expect(findK6({ PATH: "" }, root)).rejects.toThrow(/PATH.*K6_BINARY.*go build.*engine autocannon/);
  });

  it("and the commands of that message are shown whole", async () => {
    const { root } = place();
    const { message } = await findK6({ PATH: "" }, root).then(
      () => ({ message: "k6 was found" }),
      (error: Error) => error,
    );

    expect(message).toContain("go build");
    expect(hideKeys(message)).toBe(message);
  });

  it("where the build tool of a checkout puts it", async () => {
    const tool = pathToFileURL(join(packageRoot(), "tools", "k6.mjs")).href;
    const program = `import { builtBinary } from ${JSON.stringify(tool)}; process.stdout.write(builtBinary());`;
    const { stdout } = await promisify(execFile)(process.execPath, ["--input-type=module", "-e", program]);

    expect(stdout).toBe(builtBinary());
  });

  it("not in a build from another go.sum", () => {
    const { root } = place();
    const before = builtBinary(root);
    writeFileSync(join(root, "k6", "go.sum"), "another");

    expect(builtBinary(root)).not.toBe(before);
  });
});
