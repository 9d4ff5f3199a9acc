import { describe, expect, it } from "vitest";

import { is2xx } from "./http.ts";

describe("a status", () => {
  it.each([
    [199, false],
    [200, true],
    [204, true],
    [299, true],
    [300, false],
    [429, false],
    [null, false],
  ])("%s is a success: %s", (status, is) => {
    expect(is2xx(status)).toBe(is);
  });
});
