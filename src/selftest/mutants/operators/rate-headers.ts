import type { ClauseId } from "../../../spec/clauses.ts";
import { headerNames, rateLimitHeaders } from "../../../spec/headers.ts";
import { headerOf, withHeader } from "../edits.ts";
import { inPlaceOf, type Mutant, type MutantKind } from "../mutant.ts";
import type { MutationSite } from "../mutation-sites.ts";

/** Clauses that say that the four headers are there, each of its part of all responses. */
const presence = ["HDR-1", "HDR-2", "HDR-3", "HDR-4", "HDR-5", "HDR-6", "HDR-7", "HDR-8"] as const;

const { rateLimit, rateRemaining, rateReset, rateResetAfter } = headerNames;
const counts = [rateLimit, rateRemaining];
const times = [rateReset, rateResetAfter];
const all = rateLimitHeaders;

/** What is done to a header's value. */
interface HeaderOperator {
  readonly operator: string;
  readonly kind?: MutantKind;
  readonly of: readonly string[];
  /** Without a key that is good for everything, what the headers say is open; that they are numbers is not. */
  readonly needsValidKey?: true;
  readonly expects: readonly ClauseId[];
  /** The values in its place; `null` where there is nothing to change. */
  readonly change: (value: string, place: MutationSite) => readonly string[] | null;
}

const number =
  (change: (value: number, place: MutationSite) => number | null) => (value: string, place: MutationSite) => {
    const changed = change(Number(value), place);
    return changed === null || String(changed) === value ? null : [String(changed)];
  };

const operators: readonly HeaderOperator[] = [
  { operator: "a rate header left out", of: all, expects: presence, change: () => [] },
  { operator: "a rate header empty", of: all, expects: ["HDR-9", ...presence], change: () => [""] },
  { operator: "a rate header in words", of: all, expects: ["HDR-9"], change: () => ["many"] },
  { operator: "a rate header with its unit", of: all, expects: ["HDR-9"], change: (value) => [`${value} s`] },
  {
    operator: "a rate header in hexadecimal",
    of: all,
    expects: ["HDR-9"],
    change: (value) => [`0x${Number(value).toString(16)}`],
  },
  {
    operator: "a rate header twice",
    of: all,
    expects: ["HDR-9"],
    change: (value) => [value, String(Number(value) + 7)],
  },
  {
    operator: "a rate header with two values",
    of: all,
    expects: ["HDR-9"],
    change: (value) => [`${value}, ${Number(value) + 7}`],
  },
  { operator: "a rate header negative", of: all, expects: ["HDR-9"], change: (value) => [`-${Number(value) + 1}`] },
  { operator: "a count with a fraction", of: counts, expects: ["HDR-9"], change: (value) => [`${value}.5`] },
  { operator: "a time with decimals", kind: "legal", of: times, expects: [], change: (value) => [`${value}.25`] },
  {
    operator: "a limit that is not published",
    of: [rateLimit],
    needsValidKey: true,
    expects: ["HDR-10", "HDR-11"],
    change: number((value) => value + 17),
  },
  {
    operator: "a limit of 0",
    of: [rateLimit],
    needsValidKey: true,
    expects: ["HDR-10", "HDR-11"],
    change: () => ["0"],
  },
  {
    operator: "more remaining than the limit",
    of: [rateRemaining],
    needsValidKey: true,
    expects: ["HDR-11"],
    change: number((_, { exchange }) => {
      const limit = headerOf(exchange.answer.headers, rateLimit);
      return limit === null ? null : Number(limit) + 1;
    }),
  },
  {
    operator: "a reset in milliseconds",
    of: [rateReset],
    needsValidKey: true,
    expects: ["HDR-14"],
    change: number((value) => value * 1000),
  },
  {
    operator: "a reset in milliseconds from now",
    of: [rateResetAfter],
    needsValidKey: true,
    expects: ["HDR-14", "HDR-15", "HDR-16"],
    change: number((value) => (value < 4 ? null : value * 1000)),
  },
  {
    operator: "a reset of an hour before",
    of: [rateReset],
    needsValidKey: true,
    expects: ["HDR-14"],
    change: number((value) => value - 3600),
  },
  {
    operator: "a reset in seconds from now",
    of: [rateReset],
    needsValidKey: true,
    expects: ["HDR-14"],
    change: (_, { exchange }) => {
      const after = headerOf(exchange.answer.headers, rateResetAfter);
      return after === null ? null : [after];
    },
  },
  {
    operator: "a reset-after in Unix time",
    of: [rateResetAfter],
    needsValidKey: true,
    expects: ["HDR-14", "HDR-15", "HDR-16"],
    change: (_, { exchange }) => {
      const reset = headerOf(exchange.answer.headers, rateReset);
      return reset === null ? null : [reset];
    },
  },
  {
    operator: "a reset-after that is a minute short or long",
    of: [rateResetAfter],
    needsValidKey: true,
    expects: ["HDR-14", "HDR-15", "HDR-16"],
    change: number((value) => (value >= 60 ? value - 60 : value + 60)),
  },
];

/** Every way to spoil the four headers of an answer. */
export const rateHeaderMutants = (place: MutationSite): Mutant[] =>
  operators.flatMap((row) => row.of.flatMap((header) => mutantOf(place, row, header)));

function mutantOf(
  place: MutationSite,
  { operator, kind = "wrong", needsValidKey, expects, change }: HeaderOperator,
  header: string,
): Mutant[] {
  const { exchange, name } = place;
  const value = headerOf(exchange.answer.headers, header);
  if (value === null || (needsValidKey === true && !(place.hasValidKey && place.status !== 401))) return [];
  const values = change(value, place);
  if (values === null) return [];
  return [
    {
      kind,
      operator,
      place: name,
      subject: header,
      id: exchange.id,
      expects,
      make: () => inPlaceOf(withHeader(exchange, header, () => values)),
    },
  ];
}
