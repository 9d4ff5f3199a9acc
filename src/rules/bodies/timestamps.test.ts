import { describe, expect, it } from "vitest";

import { isTimestamp } from "./fields.ts";

describe("an ISO 8601 timestamp", () => {
  it.each([
    "2026-03-04T05:06:07Z",
    "2026-03-04T05:06:07.123456789+00:00",
    "2026-03-04 05:06:07Z",
    "2026-03-04T05:06:07,5Z",
    "2026-03-04T05:06:07",
    "2026-03-04",
    "20260304T050607Z",
    "20260304T050607.25+0000",
  ])("%s is one", (text) => {
    expect(isTimestamp(text)).toBe(true);
  });

  it.each(["2026-02-30T00:00:00Z", "1772600767", "20260304", "Wed, 04 Mar 2026 05:06:07 GMT", "20261304T050607Z", ""])(
    "%s is none",
    (text) => {
      expect(isTimestamp(text)).toBe(false);
    },
  );
});
