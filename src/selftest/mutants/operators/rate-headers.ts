import type { ClauseId } from "../../../spec/clauses.ts";
import {
  headerFormClauseOf,
  headerNames,
  rateHeaderOf,
  rateLimitHeaders as all,
  rateValues,
} from "../../../spec/headers.ts";
import { headerOf, withHeader } from "../edits.ts";
import { replacingExchanges, type Mutant, mutantOf } from "../mutant.ts";
import type { MutationSite } from "../mutation-sites.ts";

/** Each clause requires the rate-limit headers on one kind of response, such as a 401. */
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

const formClauses = new Map(rateValues.map((name) => [rateHeaderOf(name).header, headerFormClauseOf(name)]));

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

/** Changes that make a header's value wrong. Only for valid keys: for other keys, the document specifies no values. */
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
