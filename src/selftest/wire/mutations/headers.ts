import type { ClauseId } from "../../../spec/clauses.ts";
import { endpointNames } from "../../../spec/endpoints.ts";
import { headerFormClauseOf, headerNames, rateHeaderOf, rateValues } from "../../../spec/headers.ts";
import { hasNoTierKey, hasValues, isForbidden, isRefusedKey } from "../dimensions.ts";
import { headerIn, type RequestTraits, type WireHead, withMoreHeader, withWireHeader } from "../message.ts";
import { type Mutation, mutation } from "./mutation.ts";

/** The clauses that require the rate-limit headers. */
const presenceClauses: readonly ClauseId[] = ["HDR-1", "HDR-2", "HDR-3", "HDR-4", "HDR-5", "HDR-6", "HDR-7"];

const { rateLimit, rateRemaining, rateReset, rateResetAfter } = headerNames;

type ValueChange = (value: string, head: WireHead) => readonly string[] | null;

const changeNumber =
  (change: (value: number) => number): ValueChange =>
  (value) => [String(change(Number(value)))];
const copyHeader =
  (other: string): ValueChange =>
  (_, head) => {
    const value = headerIn(head.headers, other);
    return value === null ? null : [value];
  };

/** Changes one header of a response. */
const changeHeader =
  (name: string, change: ValueChange) =>
  (head: WireHead): WireHead | null => {
    const value = headerIn(head.headers, name);
    const replaced = value === null ? null : change(value, head);
    return replaced === null || (replaced.length === 1 && replaced[0] === value)
      ? null
      : withWireHeader(head, name, () => replaced);
  };

interface HeaderRow {
  readonly class: string;
  readonly what: string;
  readonly header: string;
  readonly breaks: readonly ClauseId[];
  readonly change: ValueChange;
}

/** Changes of a header's format. They apply to every response, because the document specifies the format for all. */
const headerFormatRows: readonly HeaderRow[] = rateValues.flatMap((name): HeaderRow[] => {
  const { header } = rateHeaderOf(name);
  const malformed = { class: "another header value", header, breaks: [headerFormClauseOf(name)] };
  return [
    { class: "drop a header", what: `${header} left out`, header, breaks: presenceClauses, change: () => [] },
    { ...malformed, what: `${header} in words`, change: () => ["many"] },
    { ...malformed, what: `${header} negative`, change: (value) => [`-${Number(value) + 1}`] },
    { ...malformed, what: `${header} twice`, change: (value) => [value, String(Number(value) + 7)] },
  ];
});

/**
 * Changes of a header's value. They apply to responses to a valid key, for which alone the document specifies values.
 */
const headerValueRows: readonly HeaderRow[] = [
  {
    class: "another header value",
    what: "a limit that is three too low",
    header: rateLimit,
    breaks: ["HDR-10"],
    change: changeNumber((value) => value - 3),
  },
  {
    class: "another header value",
    what: "remaining above the limit",
    header: rateRemaining,
    breaks: ["HDR-11"],
    change: (_, head) => [String(Number(headerIn(head.headers, rateLimit)) + 1)],
  },
  {
    class: "another header value",
    what: "remaining three too high",
    header: rateRemaining,
    breaks: ["HDR-12"],
    change: changeNumber((value) => value + 3),
  },
  {
    class: "wrong unit",
    what: "the reset in milliseconds",
    header: rateReset,
    breaks: ["HDR-14"],
    change: changeNumber((value) => value * 1000),
  },
  {
    class: "wrong unit",
    what: "the reset in seconds from now",
    header: rateReset,
    breaks: ["HDR-14"],
    change: copyHeader(rateResetAfter),
  },
  {
    class: "wrong unit",
    what: "the time to the reset as Unix time",
    header: rateResetAfter,
    breaks: ["HDR-14"],
    change: copyHeader(rateReset),
  },
  {
    class: "wrong unit",
    what: "the time to the reset in milliseconds",
    header: rateResetAfter,
    breaks: ["HDR-14"],
    change: (value) => (Number(value) < 4 ? null : [String(Number(value) * 1000)]),
  },
  {
    class: "another header value",
    what: "a reset of an hour before",
    header: rateReset,
    breaks: ["HDR-14"],
    change: changeNumber((value) => value - 3600),
  },
];

const hasTierKey = ({ hasTierKey: isOfTier, status }: RequestTraits): boolean => isOfTier && status !== 401;
/** Whether the document describes the response. The document does not mention the status 403. */
const isDescribed = ({ status }: RequestTraits): boolean => status !== 403;

const illegalMutation = (
  { class: name, what, header, breaks, change }: HeaderRow,
  where: Pick<Mutation, "appliesTo" | "excludes">,
): Mutation =>
  mutation({
    ...where,
    class: name,
    description: what,
    endpoints: endpointNames,
    breaks,
    change: { kind: "head", of: changeHeader(header, change) },
  });

const swapHeaders = (one: string, other: string, breaks: readonly ClauseId[]): Mutation =>
  mutation({
    class: "swap two values",
    description: `${one} and ${other} swapped`,
    endpoints: endpointNames,
    breaks,
    appliesTo: hasTierKey,
    excludes: hasNoTierKey,
    change: {
      kind: "head",
      of: (head) => {
        const [first, second] = [headerIn(head.headers, one), headerIn(head.headers, other)];
        if (first === null || second === null || first === second) return null;
        return withWireHeader(
          withWireHeader(head, one, () => [second]),
          other,
          () => [first],
        );
      },
    },
  });

const legalMutation = (description: string, of: (head: WireHead) => WireHead | null): Mutation =>
  mutation({ class: "legal: headers", description, endpoints: endpointNames, change: { kind: "head", of } });

const withHeaderNames =
  (write: (name: string) => string) =>
  (head: WireHead): WireHead => ({ ...head, headers: head.headers.map(([name, value]) => [write(name), value]) });

/** Mutations that change headers. */
export const headerMutations: readonly Mutation[] = [
  ...headerFormatRows.map((row) => illegalMutation(row, { appliesTo: isDescribed, excludes: isForbidden })),
  ...headerValueRows.map((row) => illegalMutation(row, { appliesTo: hasTierKey, excludes: hasNoTierKey })),
  swapHeaders(rateLimit, rateRemaining, ["HDR-11"]),
  swapHeaders(rateReset, rateResetAfter, ["HDR-14"]),
  mutation({
    class: "another header value",
    description: "JSON declared as HTML",
    endpoints: endpointNames,
    breaks: ["REQ-4"],
    excludes: (given) => isRefusedKey(given) || isForbidden(given),
    appliesTo: (traits) => isDescribed(traits) && !hasValues(traits, { key: "missing" }) && traits.status !== 401,
    change: {
      kind: "head",
      of: (head) =>
        (headerIn(head.headers, "Content-Type") ?? "").includes("json")
          ? withWireHeader(head, "Content-Type", () => ["text/html; charset=utf-8"])
          : null,
    },
  }),
  legalMutation("an unknown header", (head) => withMoreHeader(head, ["X-Selftest-More", "7"])),
  legalMutation(
    "names of headers in lower case",
    withHeaderNames((name) => name.toLowerCase()),
  ),
  legalMutation(
    "names of headers in upper case",
    withHeaderNames((name) => name.toUpperCase()),
  ),
  legalMutation("headers in another order", (head) => ({ ...head, headers: head.headers.toReversed() })),
  ...rateValues
    .map(rateHeaderOf)
    .filter(({ value }) => value === "seconds" || value === "Unix seconds")
    .map(({ header }) =>
      legalMutation(
        `${header} with decimals`,
        changeHeader(header, (value) => (/^\d+$/.test(value) ? [`${value}.25`] : null)),
      ),
    ),
];
