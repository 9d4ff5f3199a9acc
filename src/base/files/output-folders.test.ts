import { describe, expect, it } from "vitest";

import { slug, timeInName } from "./output-folders.ts";

describe("names of files", () => {
  it.each([
    ["Acme, Inc.", "acme-inc"],
    ["../../etc", "etc"],
    ["a  b", "a-b"],
    ["日本", ""],
    ["", ""],
  ])("%j becomes %j", (name, file) => {
    expect(slug(name)).toBe(file);
  });

  it("sort by time", () => {
    expect(timeInName(new Date("2030-01-01T00:00:00Z"))).toBe("2030-01-01T00-00-00-000Z");
  });
});
