import { jsonIn } from "./json.ts";

const longChars = 16 * 1024;
const mostDepth = 100;

/**
 * The JSON value of a text that somebody sent, `undefined` where it is none. Of a long text, `null` stands in the place of what is deeper than any
 * field is: brackets within brackets take many times the memory of their text.
 */
export function shallowJsonIn(text: string): unknown {
  const value = jsonIn(text);
  return text.length > longChars ? shallow(value, mostDepth) : value;
}

function shallow(value: unknown, depth: number): unknown {
  if (typeof value !== "object" || value === null) return value;
  if (depth === 0) return null;
  if (Array.isArray(value)) return value.map((each) => shallow(each, depth - 1));
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, shallow(each, depth - 1)]));
}
