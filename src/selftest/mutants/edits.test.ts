import { expect, it } from "vitest";

import { jsonText, type JsonStyle, plainJson } from "./edits.ts";

const value = { text: 'a "word" and é', list: [1, 2.5, null, true, {}], inner: { empty: [], more: "\u2028" } };

it.each<[what: string, style: JsonStyle, shows: RegExp]>([
  ["plainly", plainJson, /^\{"text":/],
  ["with keys in another order", { ...plainJson, isReversed: true }, /^\{"inner":/],
  ["with integers as 1.0", { ...plainJson, hasFractions: true }, /1\.0,2\.5/],
  ["with escapes", { ...plainJson, isEscaped: true }, /\\u0074\\u0065\\u0078\\u0074/],
  ["with white space", { ...plainJson, isSpaced: true }, /\{\r\n\t "text"/],
])("JSON that is written %s is the same value", (_what, style, shows) => {
  expect(JSON.parse(jsonText(value, style))).toEqual(value);
  expect(jsonText(value, style)).toMatch(shows);
});
