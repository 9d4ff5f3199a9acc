import { expect, it } from "vitest";

import { decodedSegment, encodedSegment } from "./http.ts";

it.each([
  ["a/b ?", "a%2Fb%20%3F"],
  ["é", "%C3%A9"],
])("a path says %s as %s, and back", (text, segment) => {
  expect(encodedSegment(text)).toBe(segment);
  expect(decodedSegment(segment)).toBe(text);
});

it("a path takes half of a surrogate pair, as URLs do", () => {
  expect(encodedSegment("a\uD800")).toBe("a%EF%BF%BD");
});

it.each(["100%", "%FF", "%ZZ"])("a segment that is no encoded text stays as it is: %s", (segment) => {
  expect(decodedSegment(segment)).toBe(segment);
});
