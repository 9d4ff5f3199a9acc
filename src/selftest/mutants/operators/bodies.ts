import { bodyText } from "../../../evidence/exchange.ts";
import type { ClauseId } from "../../../spec/clauses.ts";
import type { MutableMessage } from "../messages.ts";
import { answeredWith, headerOf, withHeader, withText } from "../edits.ts";
import { type JsonStyle, plainJson } from "../json-text.ts";
import { inPlaceOf, type Mutant } from "../mutant.ts";
import type { MutationSite } from "../mutation-sites.ts";

/** That bodies are JSON, in which shape an endpoint answers, and that an error has one of the two forms. */
const bodies = ["SVC-1", "REQ-4", "REQ-7", "ERR-2", "ERR-3", "ERR-4"] as const;

const wrongBodies: Readonly<Record<string, (text: string) => string>> = {
  "a page of HTML for JSON": () => "<h1>nope</h1>",
  "JSON that is cut off": (text) => text.slice(0, -2),
  "JSON behind a guard": (text) => `)]}',\n${text}`,
  "two JSON values": (text) => `${text}\n${text}`,
};

/** Ways to spoil the body of an answer as a whole. */
export function bodyMutants(place: MutationSite, bearer: MutableMessage): Mutant[] {
  const { exchange } = place;
  const text = bodyText(exchange);
  if (text === null || place.endpoint === null) return [];
  return Object.entries(wrongBodies).map(([operator, change]) => ({
    ...whole(
      place,
      bearer.tables.flatMap(() => []),
    ),
    operator,
    make: () => inPlaceOf(withText(exchange, change(text))),
  }));
}

const whole = (
  { name, exchange: { id } }: MutationSite,
  more: readonly ClauseId[],
): Omit<Mutant, "operator" | "make"> => ({
  kind: "wrong",
  place: name,
  subject: "the body",
  id,
  expects: [...bodies, ...more],
});

const contentType = "Content-Type";

/** Ways to spoil what an answer's body is declared as. */
export function declaredMutants(place: MutationSite): Mutant[] {
  const { exchange, name } = place;
  const declared = headerOf(exchange.answer.headers, contentType);
  if (declared === null || place.endpoint === null) return [];
  const isStream = /^text\/event-stream/i.test(declared);
  const base = { place: name, subject: contentType, id: exchange.id } as const;
  const as = (operator: string, type: string): Mutant => ({
    ...base,
    kind: "wrong",
    operator,
    expects: isStream ? ["SSE-1", "SVC-2", "REQ-4"] : ["REQ-4", "SVC-1"],
    make: () => inPlaceOf(withHeader(exchange, contentType, () => [type])),
  });
  const bare = declared.split(";")[0] ?? "";
  const still = (operator: string, type: string): Mutant => ({
    ...base,
    kind: "legal",
    operator,
    expects: [],
    make: () => inPlaceOf(withHeader(exchange, contentType, () => [type])),
  });
  return [
    as("declared as HTML", "text/html; charset=utf-8"),
    as("declared as plain text", "text/plain"),
    ...(isStream
      ? [as("a stream declared as JSON", "application/json")]
      : [as("JSON declared as a stream", "text/event-stream")]),
    still("a media type without parameters", bare),
    still("a media type with a parameter", `${bare};charset=UTF-8`),
    still("a media type in capitals", `${bare.toUpperCase()} ; charset="utf-8"`),
  ];
}

const styles: Readonly<Record<string, JsonStyle>> = {
  "keys in another order": { ...plainJson, isReversed: true },
  "integers as `1.0`": { ...plainJson, hasFractions: true },
  "JSON with escapes": { ...plainJson, isEscaped: true },
  "JSON with white space": { ...plainJson, isSpaced: true },
};

/** The same value, written otherwise. */
export const writtenMutants = (bearer: MutableMessage): Mutant[] =>
  Object.entries(styles).map(([operator, style]) => ({
    kind: "legal",
    operator,
    place: bearer.place,
    subject: "the body",
    id: bearer.id,
    expects: [],
    make: () => bearer.with(bearer.value, style),
  }));

/** Headers as HTTP allows them. */
export function headerSpellingMutants({ exchange, name }: MutationSite): Mutant[] {
  const { headers } = exchange.answer;
  const legal = (operator: string, changed: typeof headers): Mutant => ({
    kind: "legal",
    operator,
    place: name,
    subject: "headers",
    id: exchange.id,
    expects: [],
    make: () => inPlaceOf(answeredWith(exchange, { headers: changed })),
  });
  return [
    legal(
      "names of headers in lower case",
      headers.map(([each, value]) => [each.toLowerCase(), value]),
    ),
    legal(
      "names of headers in upper case",
      headers.map(([each, value]) => [each.toUpperCase(), value]),
    ),
    legal("headers in another order", headers.toReversed()),
    legal("unknown headers", [["X-Conformance-More", "7"], ["Server", "other/1.0"], ...headers]),
  ];
}
