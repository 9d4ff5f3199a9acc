import { isObject } from "../../base/json.ts";
import type { Answered, Exchange, Header, StreamEvent } from "../../evidence/exchange.ts";
import { stepsOfPath } from "../../spec/fields.ts";

export type AnsweredExchange = Exchange & { readonly answer: Answered };

export const isAnswered = (exchange: Exchange): exchange is AnsweredExchange => exchange.answer.kind === "answered";

/** Copies an exchange with a changed response. A copy is needed because caches recognize exchanges by identity. */
export const withResponse = (exchange: AnsweredExchange, changes: Partial<Answered>): AnsweredExchange => ({
  ...exchange,
  answer: { ...exchange.answer, ...changes },
});

export const withText = (exchange: AnsweredExchange, text: string): AnsweredExchange =>
  withResponse(exchange, { body: { kind: "text", text, bytes: Buffer.byteLength(text) } });

export const withJson = (exchange: AnsweredExchange, value: unknown, style?: JsonStyle): AnsweredExchange =>
  withText(exchange, jsonText(value, style));

/** Replaces each value of a header by the values that `change` returns. An empty list removes the header. */
export function withHeader(
  exchange: AnsweredExchange,
  name: string,
  change: (value: string) => readonly string[],
): AnsweredExchange {
  return withResponse(exchange, { headers: changeHeader(exchange.answer.headers, name, change) });
}

export const changeHeader = (
  headers: readonly Header[],
  name: string,
  change: (value: string) => readonly string[],
): Header[] =>
  headers.flatMap(([spelled, value]): Header[] =>
    spelled.toLowerCase() === name.toLowerCase() ? change(value).map((each) => [spelled, each]) : [[spelled, value]],
  );

export const headerOf = (headers: readonly Header[], name: string): string | null =>
  headers.find(([each]) => each.toLowerCase() === name.toLowerCase())?.[1] ?? null;

export const withEvents = (exchange: AnsweredExchange, events: readonly StreamEvent[]): AnsweredExchange =>
  withResponse(exchange, { events });

/** The path to a value in JSON: names of members, and indexes of arrays. */
export type JsonPath = readonly (string | number)[];

/** Returns the JSON path of each value that `pattern` selects, e.g. `data[].id` (see `FieldRow` for the notation). */
export function jsonPathsOf(value: unknown, pattern: string): JsonPath[] {
  let found: { readonly steps: JsonPath; readonly value: unknown }[] = [{ steps: [], value }];
  for (const name of stepsOfPath(pattern))
    found = found.flatMap(({ steps, value: holder }) => {
      if (name === "[]")
        return Array.isArray(holder) ? holder.map((item: unknown, at) => ({ steps: [...steps, at], value: item })) : [];
      if (!isObject(holder)) return [];
      const members = name === "*" ? Object.keys(holder) : Object.hasOwn(holder, name) ? [name] : [];
      return members.map((each) => ({ steps: [...steps, each], value: holder[each] }));
    });
  return found.map(({ steps }) => steps);
}

export function valueAt(value: unknown, steps: JsonPath): unknown {
  let current = value;
  for (const step of steps) current = (current as Readonly<Record<string | number, unknown>>)[step];
  return current;
}

/**
 * Returns a copy of a JSON value with `to` at the path `steps`. If `to` is `undefined`, the copied object lacks that
 * member.
 */
export function replaceAt(value: unknown, steps: JsonPath, to: unknown): unknown {
  const [step, ...rest] = steps;
  if (step === undefined) return to;
  const inner = replaceAt((value as Readonly<Record<string | number, unknown>>)[step], rest, to);
  if (Array.isArray(value)) return value.map((each: unknown, at) => (at === step ? inner : each));
  return Object.fromEntries(
    Object.entries(value as object)
      .map(([name, each]) => [name, name === step ? inner : each] as const)
      .filter(([, each]) => each !== undefined),
  );
}

/** A way to write JSON. The parsed value is the same in every style. */
export interface JsonStyle {
  /** Whether the keys of every object are in reverse order. */
  readonly isReversed: boolean;
  /** Whether integers are written with a fraction, as `1.0`. */
  readonly hasFractions: boolean;
  /** Whether every character of a string is written as a `\u` escape, such as `\u0061` for `a`. */
  readonly isEscaped: boolean;
  /** Whether white space is added between all tokens: carriage return, line feed, tab and blank. */
  readonly isSpaced: boolean;
}

export const plainJson: JsonStyle = { isReversed: false, hasFractions: false, isEscaped: false, isSpaced: false };

export const otherJsonStyles: Readonly<Record<string, JsonStyle>> = {
  "keys in another order": { ...plainJson, isReversed: true },
  "integers as `1.0`": { ...plainJson, hasFractions: true },
  "JSON with escapes": { ...plainJson, isEscaped: true },
  "JSON with white space": { ...plainJson, isSpaced: true },
};

export function jsonText(value: unknown, style: JsonStyle = plainJson): string {
  const space = style.isSpaced ? "\r\n\t " : "";
  if (Array.isArray(value)) return `[${space}${value.map((each) => jsonText(each, style)).join(`${space},${space}`)}]`;
  if (isObject(value)) {
    const entries = Object.entries(value).filter(([, inner]) => inner !== undefined);
    const ordered = style.isReversed ? entries.toReversed() : entries;
    const members = ordered.map(
      ([name, inner]) => `${stringText(name, style)}${space}:${space}${jsonText(inner, style)}`,
    );
    return `{${space}${members.join(`${space},${space}`)}${space}}`;
  }
  if (typeof value === "string") return stringText(value, style);
  if (style.hasFractions && Number.isSafeInteger(value)) return `${String(value)}.0`;
  return JSON.stringify(value);
}

function stringText(text: string, { isEscaped }: JsonStyle): string {
  if (!isEscaped) return JSON.stringify(text);
  const units = Array.from({ length: text.length }, (_, at) => text.charCodeAt(at));
  return `"${units.map((unit) => `\\u${unit.toString(16).padStart(4, "0")}`).join("")}"`;
}
