import { headerOf } from "../../mutants/edits.ts";
import type { ClauseId } from "../../../spec/clauses.ts";
import { endpointNames } from "../../../spec/endpoints.ts";
import { headerFormClauseOf, headerNames, rateHeaderOf, rateHeaderKeys } from "../../../spec/headers.ts";
import {
  hasNoTierKey,
  hasValues,
  isForbidden,
  isRefusedKey,
  type RequestTraits,
  type WireHead,
  withWireHeader,
} from "../dimensions.ts";
import { type Mutation, mutation } from "./mutation.ts";

/** The clauses that require the rate-limit headers on responses of the document's endpoints. */
const presenceClauses: readonly ClauseId[] = ["HDR-1", "HDR-2", "HDR-3", "HDR-4", "HDR-5", "HDR-6", "HDR-7"];

const { rateLimit, rateRemaining, rateReset, rateResetAfter } = headerNames;

type ValueChange = (before: string, head: WireHead) => readonly string[] | null;

const changeNumber =
  (change: (before: number) => number): ValueChange =>
  (before) => [String(change(Number(before)))];
const copyHeader =
  (other: string): ValueChange =>
  (_, head) => {
    const copied = headerOf(head.headers, other);
    return copied === null ? null : [copied];
  };

const changeHeader =
  (name: string, change: ValueChange) =>
  (head: WireHead): WireHead | null => {
    const before = headerOf(head.headers, name);
    const replaced = before === null ? null : change(before, head);
    return replaced === null || (replaced.length === 1 && replaced[0] === before)
      ? null
      : withWireHeader(head, name, () => replaced);
  };

type HeaderRow = readonly [
  group: string,
  what: string,
  header: string,
  breaks: readonly ClauseId[],
  change: ValueChange,
];

const otherValue = "another header value";
const wrongUnit = "wrong unit";

const headerFormatRows: readonly HeaderRow[] = rateHeaderKeys.flatMap((name): HeaderRow[] => {
  const { header } = rateHeaderOf(name);
  const form = [headerFormClauseOf(name)];
  return [
    ["drop a header", `${header} left out`, header, presenceClauses, () => []],
    [otherValue, `${header} in words`, header, form, () => ["many"]],
    [otherValue, `${header} negative`, header, form, (count) => [`-${Number(count) + 1}`]],
    [otherValue, `${header} twice`, header, form, (count) => [count, String(Number(count) + 7)]],
  ];
});

/** Wrong numbers in a rate-limit header. The document specifies the numbers only for requests with a valid key. */
const headerValueRows: readonly HeaderRow[] = [
  [otherValue, "a limit that is three too low", rateLimit, ["HDR-10"], changeNumber((limit) => limit - 3)],
  [
    otherValue,
    "remaining above the limit",
    rateRemaining,
    ["HDR-11"],
    (_, { headers }) => [String(Number(headerOf(headers, rateLimit)) + 1)],
  ],
  [otherValue, "remaining three too high", rateRemaining, ["HDR-12"], changeNumber((count) => count + 3)],
  [wrongUnit, "the reset in milliseconds", rateReset, ["HDR-14"], changeNumber((seconds) => seconds * 1000)],
  [wrongUnit, "the reset in seconds from now", rateReset, ["HDR-14"], copyHeader(rateResetAfter)],
  [wrongUnit, "the time to the reset as Unix time", rateResetAfter, ["HDR-14"], copyHeader(rateReset)],
  [
    wrongUnit,
    "the time to the reset in milliseconds",
    rateResetAfter,
    ["HDR-14"],
    (seconds) => (Number(seconds) < 4 ? null : [String(Number(seconds) * 1000)]),
  ],
  [otherValue, "a reset of an hour before", rateReset, ["HDR-14"], changeNumber((seconds) => seconds - 3600)],
];

const hasTierKey = ({ hasTierKey: isOfTier, status }: RequestTraits): boolean => isOfTier && status !== 401;
/** Whether the document describes responses with this status. The document does not mention 403. */
const isDescribed = ({ status }: RequestTraits): boolean => status !== 403;

const illegalMutation = (
  [group, description, header, breaks, change]: HeaderRow,
  where: Pick<Mutation, "appliesTo" | "excludes">,
): Mutation =>
  mutation({
    ...where,
    class: group,
    description,
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
        const [first, second] = [headerOf(head.headers, one), headerOf(head.headers, other)];
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
  (head: WireHead): WireHead => ({ ...head, headers: head.headers.map(([name, text]) => [write(name), text]) });

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
        (headerOf(head.headers, "Content-Type") ?? "").includes("json")
          ? withWireHeader(head, "Content-Type", () => ["text/html; charset=utf-8"])
          : null,
    },
  }),
  legalMutation("an unknown header", (head) => ({
    ...head,
    headers: [...head.headers, ["X-Selftest-More", "7"]],
  })),
  legalMutation(
    "names of headers in lower case",
    withHeaderNames((name) => name.toLowerCase()),
  ),
  legalMutation(
    "names of headers in upper case",
    withHeaderNames((name) => name.toUpperCase()),
  ),
  legalMutation("headers in another order", (head) => ({ ...head, headers: head.headers.toReversed() })),
  ...rateHeaderKeys
    .map(rateHeaderOf)
    .filter(({ value }) => value === "seconds" || value === "Unix seconds")
    .map(({ header }) =>
      legalMutation(
        `${header} with decimals`,
        changeHeader(header, (seconds) => (/^\d+$/.test(seconds) ? [`${seconds}.25`] : null)),
      ),
    ),
];
