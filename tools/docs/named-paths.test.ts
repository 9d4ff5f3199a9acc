import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

import { describe, expect, it } from "vitest";

const root = fileURLToPath(new URL("../../", import.meta.url));
const paths = /(?<![\w./-])(?:bench|bin|docs|k6|scenarios|schemas|src|tools)\/[\w./-]*\w(?![\w<])/g;

describe("the pages for contributors", () => {
  it.each(["CONTRIBUTING.md", "docs/architecture.md"])("%s names files and folders that exist", (page) => {
    const named = new Set(readFileSync(join(root, page), "utf8").match(paths));
    expect(named.size).toBeGreaterThan(10);
    expect([...named].filter((path) => !path.includes("NAME") && !existsSync(join(root, path)))).toEqual([]);
  });
});
