import { readdirSync, readFileSync } from "node:fs";

import { describe, expect, it } from "vitest";

import { generated } from "./generated.ts";

const root = new URL("../../", import.meta.url);

describe("generated files", () => {
  it.each([...generated].map(([path, make]) => ({ path, make })))("$path is what the code says", ({ path, make }) => {
    // Compares to a boolean, because a failed comparison of two texts would print both as a whole.
    const isCurrent = readFileSync(new URL(path, root), "utf8") === make();
    expect(isCurrent, `${path} is not what the code says: run "npm run docs"`).toBe(true);
  });

  it("include every k6 script", () => {
    const scripts = readdirSync(new URL("k6/", root)).filter((name) => /^[^.]+\.ts$/.test(name));
    expect(scripts.filter((name) => !generated.has(`k6/${name}`))).toEqual([]);
  });

  /** The contract of the test control. A test of the reference server checks that it answers as the file says. */
  const handWritten = "schemas/test-control.openapi.json";

  it("are all the schemas that are shipped, but for a contract that is written by hand", () => {
    const shipped = readdirSync(new URL("schemas/", root)).map((name) => `schemas/${name}`);
    expect(shipped.filter((path) => !generated.has(path))).toEqual([handWritten]);
  });
});
