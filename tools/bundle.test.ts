import { globSync, readFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";

import { entries, thirdPartyLicences } from "./bundle.ts";

const root = fileURLToPath(new URL("..", import.meta.url));

describe("the bundle of the command", () => {
  it("has an entry for each module that runs in a thread or a process of its own", () => {
    const started = globSync("src/**/*.ts", { cwd: root }).flatMap((file) =>
      [
        ...readFileSync(join(root, file), "utf8").matchAll(/start(?:Worker|Process)\(import\.meta\.url, "([^"]+)"/g),
      ].map(([, name]) => join(dirname(file), `${name}.ts`)),
    );
    expect(started.length).toBeGreaterThan(3);
    expect(entries.filter((entry) => entry !== "src/cli/main.ts").toSorted()).toEqual(started.toSorted());
  });

  it("has each of these modules in the executable file, too", () => {
    const text = readFileSync(join(root, "src/cli/executable.ts"), "utf8");
    const parts = [...text.matchAll(/"?([\w-]+)"?: \(\) => import\("\.\.\/([^"]+)"\)/g)];
    expect(parts.map(([, name, path]) => `${name}: src/${path}`).toSorted()).toEqual(
      entries
        .filter((entry) => entry !== "src/cli/main.ts")
        .map((entry) => `${basename(entry, ".ts")}: ${entry}`)
        .toSorted(),
    );
  });

  it("comes with the licences of the libraries in it", () => {
    const text = thirdPartyLicences([
      join(root, "node_modules/commander/index.js"),
      join(root, "node_modules/@fastify/error/index.js"),
      join(root, "src/cli/main.ts"),
    ]);
    expect(text).toMatch(/^commander \S+ \(MIT\)$/m);
    expect(text).toMatch(/^@fastify\/error \S+ \(MIT\)$/m);
    expect(text.match(/Permission is hereby granted/g)).toHaveLength(2);
  });
});
