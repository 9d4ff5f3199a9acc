import { describe, expect, it } from "vitest";

import { lengthenKey, neverIssuedKey, replaceLastCharacter, swapLetterCase, truncateKey } from "./altered-keys.ts";

const bytes = (text: string, coding: "base64" | "hex" = "base64"): string => Buffer.from(text, coding).toString("hex");

describe("keys that are not valid", () => {
  it.each([
    "ah_free_4mJ9sQ2vXk7TtB1nLw6Yc3Re",
    "sk-live-0123456789abcdef",
    "eyJhbGciOiJIUzI1NiJ9.e30.A-_",
    "k",
    "ab_é",
  ])("differ from %s, with its length and prefix", (key) => {
    expect(replaceLastCharacter(key)).not.toBe(key);
    expect(replaceLastCharacter(key).slice(0, -1)).toBe(key.slice(0, -1));
    expect(neverIssuedKey(key)).toMatch(/^(ah_|ab_)?[A-Za-z]{5,}$/);
    expect(neverIssuedKey(key).length).toBe(Math.max(key.length, neverIssuedKey(key).length));
  });

  it("differ in a bit that base64 does not ignore", () => {
    for (const end of "AQgw048cEIMUYckos") {
      expect(bytes(replaceLastCharacter(`AAA${end}AA`.slice(0, 6)))).not.toBe(bytes(`AAA${end}AA`.slice(0, 6)));
      expect(bytes(replaceLastCharacter(`AAAAA${end}`))).not.toBe(bytes(`AAAAA${end}`));
    }
  });

  it.each([
    ["base64", "c2VjcmV0LWtleQ=="],
    ["base64", "c2VjcmV0LWtleXM"],
    ["hex", "0123456789abcdef"],
  ] as const)("cut off or lengthened, mean something else in %s: %s", (coding, key) => {
    for (const other of [truncateKey(key), lengthenKey(key)]) expect(bytes(other, coding)).not.toBe(bytes(key, coding));
  });

  it.each([
    ["ah_aB3", "ah_Ab3", null],
    ["ah_abc123", null, "ah_ABC123"],
    ["AH_0123ABC", null, "AH_0123abc"],
    ["ah_0123", null, null],
  ])("tell letters of both cases from letters of one: %s", (key, ofBoth, ofOne) => {
    expect([swapLetterCase(key, 2), swapLetterCase(key, 1)]).toEqual([ofBoth, ofOne]);
  });
});
