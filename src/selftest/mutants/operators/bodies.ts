import { getPath } from "../../../base/json.ts";
import { bodyJson, bodyText } from "../../../evidence/exchange.ts";
import type { ClauseId } from "../../../spec/clauses.ts";
import { errorCodes } from "../../../spec/errors.ts";
import {
  type JsonStyle,
  answeredWith,
  changedAt,
  headerOf,
  plainJson,
  withHeader,
  withJson,
  withText,
} from "../edits.ts";
import type { MutableMessage } from "../messages.ts";
import { type Mutant, inPlaceOf } from "../mutant.ts";
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

/** A code that the document gives to another status. */
const strangeCode = (status: number): string => (status === 404 ? "INVALID_API_KEY" : "AGENT_NOT_FOUND");

/** A status that the document does not have, or has for other codes. */
const strangeStatuses = [402, 409, 418, 200] as const;

const statusOfCode = (code: unknown): unknown => {
  const known: Readonly<Record<string, { readonly status: unknown }>> = errorCodes;
  return typeof code === "string" && Object.hasOwn(errorCodes, code) ? known[code]?.status : undefined;
};

/** Ways to spoil what an error says it is: its code, its words, and its status. */
export function errorMutants({ exchange, endpoint, status, name }: MutationSite): Mutant[] {
  const body = bodyJson(exchange);
  const code = getPath(body, "error", "code");
  if (endpoint === null || status < 400 || statusOfCode(code) !== status) return [];
  const saying = (operator: string, field: "code" | "message", to: string, expects: readonly ClauseId[]): Mutant => ({
    kind: "wrong",
    operator,
    place: name,
    subject: `error.${field}`,
    id: exchange.id,
    expects,
    make: () => inPlaceOf(withJson(exchange, changedAt(body, ["error", field], to))),
  });
  return [
    saying("a code of another status", "code", strangeCode(status), ["ERR-10", "ERR-9"]),
    saying("an empty text", "code", "", ["ERR-5"]),
    saying("an empty text", "message", "", ["ERR-5"]),
    ...strangeStatuses.map((other): Mutant => {
      const told = getPath(body, "error", "status") === undefined ? body : changedAt(body, ["error", "status"], other);
      return {
        kind: "wrong",
        operator: "a status that is not the code's",
        place: name,
        subject: "the status",
        id: exchange.id,
        expects: ["ERR-1", "ERR-10", "INV-2", "SVC-2"],
        make: () => inPlaceOf(answeredWith(withJson(exchange, told), { status: other })),
      };
    }),
  ];
}
