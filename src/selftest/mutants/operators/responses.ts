import { headerOf, otherJsonStyles, replaceAt, withHeader, withJson, withResponse, withText } from "../edits.ts";
import { getPath } from "../../../base/json.ts";
import { bodyJson, bodyText, type Header } from "../../../evidence/exchange.ts";
import { errorCodes } from "../../../spec/events-and-errors.ts";
import type { MutableMessage, MutationSite } from "../messages.ts";
import { type Mutant, mutantOf, replacingExchanges } from "../mutant.ts";
import type { ClauseId } from "../../../spec/clauses.ts";
import {
  headerFormClauseOf,
  headerNames,
  rateHeaderOf,
  rateLimitHeaders as all,
  rateHeaderKeys,
} from "../../../spec/headers.ts";

const bodyClauses = ["SVC-1", "REQ-4", "REQ-7", "ERR-2", "ERR-3", "ERR-4"] as const;

const illegalBodies: Readonly<Record<string, (text: string) => string>> = {
  "a page of HTML for JSON": () => "<h1>nope</h1>",
  "JSON that is cut off": (text) => text.slice(0, -2),
  "JSON behind a guard": (text) => `)]}',\n${text}`,
  "two JSON values": (text) => `${text}\n${text}`,
};

export function bodyMutants({ exchange, endpoint, name: place }: MutationSite): Mutant[] {
  const text = bodyText(exchange);
  if (text === null || endpoint === null) return [];
  const where = { place, subject: "the body", id: exchange.id };
  return Object.entries(illegalBodies).map(([operator, change]) =>
    mutantOf(operator, where, bodyClauses, () => replacingExchanges(withText(exchange, change(text)))),
  );
}

const contentType = "Content-Type";

export function contentTypeMutants({ exchange, endpoint, name: place }: MutationSite): Mutant[] {
  const declared = headerOf(exchange.answer.headers, contentType);
  if (declared === null || endpoint === null) return [];
  const isStream = /^text\/event-stream/i.test(declared);
  const expects = isStream ? (["SSE-1", "SVC-2", "REQ-4"] as const) : (["REQ-4", "SVC-1"] as const);
  const bare = declared.split(";")[0] ?? "";
  const illegal = {
    "declared as HTML": "text/html; charset=utf-8",
    "declared as plain text": "text/plain",
    ...(isStream
      ? { "a stream declared as JSON": "application/json" }
      : { "JSON declared as a stream": "text/event-stream" }),
  };
  const legal = {
    "a media type without parameters": bare,
    "a media type with a parameter": `${bare};charset=UTF-8`,
    "a media type in capitals": `${bare.toUpperCase()} ; charset="utf-8"`,
  };
  return Object.entries({ ...illegal, ...legal }).map(([operator, type]) =>
    mutantOf(operator, { place, subject: contentType, id: exchange.id }, operator in legal ? [] : expects, () =>
      replacingExchanges(withHeader(exchange, contentType, () => [type])),
    ),
  );
}

export const jsonStyleMutants = (message: MutableMessage): Mutant[] =>
  Object.entries(otherJsonStyles).map(([operator, style]) =>
    mutantOf(operator, { place: message.place, subject: "the body", id: message.id }, [], () =>
      message.with(message.value, style),
    ),
  );

const otherHeaders: Readonly<Record<string, (headers: readonly Header[]) => readonly Header[]>> = {
  "names of headers in lower case": (headers) => headers.map(([name, value]) => [name.toLowerCase(), value]),
  "names of headers in upper case": (headers) => headers.map(([name, value]) => [name.toUpperCase(), value]),
  "headers in another order": (headers) => headers.toReversed(),
  "unknown headers": (headers) => [["X-Conformance-More", "7"], ["Server", "other/1.0"], ...headers],
};

export const headerSpellingMutants = ({ exchange, name: place }: MutationSite): Mutant[] =>
  Object.entries(otherHeaders).map(([operator, change]) =>
    mutantOf(operator, { place, subject: "headers", id: exchange.id }, [], () =>
      replacingExchanges(withResponse(exchange, { headers: change(exchange.answer.headers) })),
    ),
  );

const codeOfOtherStatus = (status: number): string => (status === 404 ? "INVALID_API_KEY" : "AGENT_NOT_FOUND");

const otherStatuses = [402, 409, 418, 200] as const;

const statusOfCode = (code: unknown): unknown => {
  const known: Readonly<Record<string, { readonly status: unknown }>> = errorCodes;
  return typeof code === "string" && Object.hasOwn(errorCodes, code) ? known[code]?.status : undefined;
};

export function errorMutants({ exchange, endpoint, status, name: place }: MutationSite): Mutant[] {
  const body = bodyJson(exchange);
  if (endpoint === null || status < 400 || statusOfCode(getPath(body, "error", "code")) !== status) return [];
  const { id } = exchange;
  const withField = (operator: string, field: "code" | "message", text: string, expects: Mutant["expects"]): Mutant =>
    mutantOf(operator, { place, subject: `error.${field}`, id }, expects, () =>
      replacingExchanges(withJson(exchange, replaceAt(body, ["error", field], text))),
    );
  const reportsStatus = getPath(body, "error", "status") !== undefined;
  return [
    withField("a code of another status", "code", codeOfOtherStatus(status), [
      "ERR-10",
      "ERR-9",
      "AUTH-3",
      "AUTH-4",
      "KEY-3",
    ]),
    withField("an empty text", "code", "", ["ERR-5"]),
    withField("an empty text", "message", "", ["ERR-5"]),
    ...otherStatuses.map((other) => {
      const otherBody = reportsStatus ? replaceAt(body, ["error", "status"], other) : body;
      return mutantOf(
        "a status that is not the code's",
        { place, subject: "the status", id },
        ["ERR-1", "ERR-10", "INV-2", "SVC-2", "REQ-11", "AUTH-16", "ERR-18"],
        () => replacingExchanges(withResponse(withJson(exchange, otherBody), { status: other })),
      );
    }),
  ];
}

/** Each of these clauses requires the rate-limit headers on one kind of response, such as a 401. */
const presenceClauses = ["HDR-1", "HDR-2", "HDR-3", "HDR-4", "HDR-5", "HDR-6", "HDR-7", "HDR-8"] as const;

const { rateLimit, rateRemaining, rateReset, rateResetAfter } = headerNames;
const countHeaders = [rateLimit, rateRemaining];
const timeHeaders = [rateReset, rateResetAfter];

type HeaderChange = (value: string, site: MutationSite) => readonly string[] | null;

const changeNumber =
  (change: (value: number) => number | null): HeaderChange =>
  (value) => {
    const changed = change(Number(value));
    return changed === null || String(changed) === value ? null : [String(changed)];
  };

const copyHeader =
  (other: string, change: (value: string) => string = (value) => value): HeaderChange =>
  (_, { exchange }) => {
    const value = headerOf(exchange.answer.headers, other);
    return value === null ? null : [change(value)];
  };

type HeaderOperator = readonly [
  operator: string,
  headers: readonly string[],
  /** The clauses that forbid the change. `form`: the clause about the header's format. */
  expects: readonly (ClauseId | "form")[],
  change: HeaderChange,
];

const formClauses = new Map(rateHeaderKeys.map((name) => [rateHeaderOf(name).header, headerFormClauseOf(name)]));

const formatChanges: readonly HeaderOperator[] = [
  ["a rate header left out", all, presenceClauses, () => []],
  ["a rate header empty", all, ["form", ...presenceClauses], () => [""]],
  ["a rate header in words", all, ["form"], () => ["many"]],
  ["a rate header with its unit", all, ["form"], (value) => [`${value} s`]],
  ["a rate header in hexadecimal", all, ["form"], (value) => [`0x${Number(value).toString(16)}`]],
  ["a rate header twice", all, ["form"], (value) => [value, String(Number(value) + 7)]],
  ["a rate header with two values", all, ["form"], (value) => [`${value}, ${Number(value) + 7}`]],
  ["a rate header negative", all, ["form"], (value) => [`-${Number(value) + 1}`]],
  ["a count with a fraction", countHeaders, ["form"], (value) => [`${value}.5`]],
  ["a time with decimals", timeHeaders, [], (value) => [`${value}.25`]],
];

/** Changes that make a header's value wrong. The document specifies the values only for responses to valid keys. */
const valueChanges: readonly HeaderOperator[] = [
  ["a limit that is not published", [rateLimit], ["HDR-10", "HDR-11"], changeNumber((value) => value + 17)],
  ["a limit of 0", [rateLimit], ["HDR-10", "HDR-11"], () => ["0"]],
  [
    "more remaining than the limit",
    [rateRemaining],
    ["HDR-11"],
    copyHeader(rateLimit, (limit) => String(Number(limit) + 1)),
  ],
  ["a reset in milliseconds", [rateReset], ["HDR-14"], changeNumber((value) => value * 1000)],
  [
    "a reset in milliseconds from now",
    [rateResetAfter],
    ["HDR-14", "HDR-15", "HDR-16"],
    changeNumber((value) => (value < 4 ? null : value * 1000)),
  ],
  ["a reset of an hour before", [rateReset], ["HDR-14"], changeNumber((value) => value - 3600)],
  ["a reset in seconds from now", [rateReset], ["HDR-14"], copyHeader(rateResetAfter)],
  ["a reset-after in Unix time", [rateResetAfter], ["HDR-14", "HDR-15", "HDR-16"], copyHeader(rateReset)],
  [
    "a reset-after that is a minute short or long",
    [rateResetAfter],
    ["HDR-14", "HDR-15", "HDR-16"],
    changeNumber((value) => (value >= 60 ? value - 60 : value + 60)),
  ],
];

export function rateHeaderMutants(site: MutationSite): Mutant[] {
  const rows = site.hasValidKey && site.status !== 401 ? [...formatChanges, ...valueChanges] : formatChanges;
  return rows.flatMap((row) => row[1].flatMap((header) => headerMutants(site, row, header)));
}

function headerMutants(site: MutationSite, [operator, , expects, change]: HeaderOperator, header: string): Mutant[] {
  const { exchange, name: place } = site;
  const value = headerOf(exchange.answer.headers, header);
  const values = value === null ? null : change(value, site);
  if (values === null) return [];
  const clauses = expects.flatMap((each) => (each === "form" ? (formClauses.get(header) ?? []) : each));
  return [
    mutantOf(operator, { place, subject: header, id: exchange.id }, clauses, () =>
      replacingExchanges(withHeader(exchange, header, () => values)),
    ),
  ];
}
