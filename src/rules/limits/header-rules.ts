import { publishedTiers, type TierLimits } from "../../spec/tiers.ts";
import { formatValue } from "../../base/json.ts";
import {
  type HeaderClauseId,
  headerFormClauseOf,
  type RateHeader,
  rateHeaderOf,
  type RateHeaderKey,
  rateHeaderKeys,
} from "../../spec/headers.ts";
import { type RateLimitInfo, readRateValue } from "./rate-limit-info.ts";

// k6 scripts import this file, so it uses no Buffer, no URL and no npm package.

/** The wrong value, e.g. `5 of 4`; `null` if the response follows the rule, `undefined` if the rule does not apply. */
type RuleResult = string | null | undefined;

/** A rule about the rate-limit headers of one response, for conformance runs and load runs. */
export interface HeaderRule {
  readonly clause: HeaderClauseId;
  readonly expected: string;
  /** Counter for breaches of the rule. A long load run keeps counters instead of responses. `null`: no counter. */
  readonly countedAs: "negative" | "aboveLimit" | null;
  /** Judges the headers of one response. `limits` are the limits of the key's tier; `null` if the tier is unknown. */
  readonly judge: (info: RateLimitInfo, limits: TierLimits | null) => RuleResult;
}

export const notNegative = {
  clause: "HDR-9",
  expected: "no negative number",
  countedAs: "negative",
  judge: (response) => {
    const numbers = rateHeaderKeys.map((name) => response[name]).filter((value) => typeof value === "number");
    const negative = numbers.find((value) => value < 0);
    if (negative !== undefined) return String(negative);
    return numbers.length === 0 ? undefined : null;
  },
} as const satisfies HeaderRule;

/**
 * Rules for headers with a list of accepted texts. They never find a breach: a wrong text is read as `null`, and
 * `malformedHeaders` reports it.
 */
const fixedValueRules = rateHeaderKeys
  .filter((name) => typeof rateHeaderOf(name).value !== "string")
  .map((name): HeaderRule => ({
    clause: headerFormClauseOf(name),
    expected: describeHeaderForm(headerFormClauseOf(name)),
    countedAs: null,
    judge: (response) => (response[name] === null ? undefined : null),
  }));

export const limitPublished: HeaderRule = {
  clause: "HDR-10",
  expected: "`X-RateLimit-Limit` is the tier's number for the hour or the minute",
  countedAs: null,
  judge: (response, limits) => {
    const { limit } = response;
    if (limits === null || limit === null) return undefined;
    const { perHour, perMinute } = limits;
    const isOfHourOrMinute = limit === perHour || isMinuteLimit(limit, limits) || hasUnpublishedBurst(limit, limits);
    return isOfHourOrMinute || isAboutMonthTokens(response, limits) ? null : `${limit}, not ${perHour} or ${perMinute}`;
  },
};

export const remainingWithinLimit: HeaderRule = {
  clause: "HDR-11",
  expected: "`Remaining` is not above `Limit`",
  countedAs: "aboveLimit",
  judge: ({ limit, remaining }) => {
    if (limit === null || remaining === null) return undefined;
    return remaining <= limit ? null : `${remaining} of ${limit}`;
  },
};

const resetAfterWithinWindow: HeaderRule = {
  clause: "HDR-16",
  expected: "`Reset-After` is within the window: 60 s or 3600 s",
  countedAs: null,
  judge: (response, limits) => {
    const { limit, resetAfter } = response;
    if (resetAfter === null) return undefined;
    return isWithinWindow(response, limits) ? null : `${resetAfter} s, with a limit of ${limit ?? "none"}`;
  },
};

export const headerRules: readonly HeaderRule[] = [
  notNegative,
  limitPublished,
  remainingWithinLimit,
  resetAfterWithinWindow,
  ...fixedValueRules,
];

/** A rate-limit header that was sent more than once, or with a value that the document does not accept. */
interface MalformedHeader {
  readonly name: RateHeaderKey;
  readonly actual: string;
}

export function describeHeaderForm(clause: HeaderClauseId): string {
  if (clause === notNegative.clause) return "numbers, 0 or more, counts whole, each sent once";
  return describeAcceptedTexts(rateHeaderKeys.map(rateHeaderOf).filter(({ clauses: [form] }) => form === clause));
}

export function describeAcceptedTexts(headers: readonly Pick<RateHeader, "header" | "value">[]): string {
  const texts = headers.flatMap(({ header, value }) =>
    typeof value === "string" ? [] : [`\`${header}\` is \`${value.join("` or `")}\``],
  );
  return `${texts.join(", ")}, ${texts.length === 1 ? "" : "each "}sent once`;
}

/**
 * Finds rate-limit headers that are repeated or have a malformed value. Ignores absent headers, which HDR-1 to HDR-8
 * judge.
 */
export function malformedHeaders(headers: readonly (readonly [name: string, value: string])[]): MalformedHeader[] {
  const valuesOf = new Map<string, string[]>();
  // No `for … of`: iterators are many times slower in k6's interpreter.
  headers.forEach((header) => {
    const sent = header[0].toLowerCase();
    const values = valuesOf.get(sent);
    if (values === undefined) valuesOf.set(sent, [header[1]]);
    else values.push(header[1]);
  });
  return rateHeaderKeys.flatMap((name): MalformedHeader[] => {
    const { header } = rateHeaderOf(name);
    const values = valuesOf.get(header.toLowerCase()) ?? [];
    if (values.length > 1) return [{ name, actual: `${header} comes ${values.length} times` }];
    const [value] = values;
    // Rejects values with a minus sign, even `-0`.
    const isFine = value === undefined || (readRateValue(name, value) !== null && !value.trim().startsWith("-"));
    return isFine ? [] : [{ name, actual: `${header}: ${formatValue(value)}` }];
  });
}

/** Returns the rate-limit headers that a response lacks (HDR-1 to HDR-8). Malformed headers do not count as missing. */
export const missingHeaders = (
  info: Pick<RateLimitInfo, RateHeaderKey>,
  malformed: readonly MalformedHeader[] = [],
): string[] =>
  rateHeaderKeys
    .filter((name) => info[name] === null && malformed.every((each) => each.name !== name))
    .map((name) => rateHeaderOf(name).header);

/** Whether the value of a `Limit` header is the limit per minute, with or without the burst. */
export const isMinuteLimit = (limit: number | null, { perMinute, burst }: TierLimits): boolean =>
  limit === perMinute || (burst !== null && limit === perMinute + burst);

/** Whether a `Limit` header may be the limit per minute plus a burst of unpublished size, e.g. 600 instead of 500. */
export const hasUnpublishedBurst = (limit: number | null, { perHour, perMinute, burst }: TierLimits): boolean =>
  burst === null && limit !== null && limit > perMinute && limit < perHour;

/** Whether the value of a `Limit` header is the limit per hour, and cannot be the limit per minute. */
export const isHourLimit = (limit: number | null, limits: TierLimits): boolean =>
  limit === limits.perHour && !isMinuteLimit(limit, limits);

/** Whether a 429 announces a wait of over an hour. Only the monthly token limit has such long waits. */
export const announcesWaitOverHour = ({ retryAfterSeconds }: Pick<RateLimitInfo, "retryAfterSeconds">): boolean =>
  (retryAfterSeconds ?? 0) > 3600 + roundingSeconds;

/**
 * Whether a response seems to report the monthly token limit instead of a limit on requests. A target may refuse for
 * tokens with any status, such as 403 (LIM-20), and only a 429 announces its wait.
 */
export const isAboutMonthTokens = (response: ReportedWindow, limits: TierLimits | null): boolean =>
  announcesWaitOverHour(response) ||
  (response.limit !== null && response.remaining === 0 && mayBeMonthTokens(response.limit, limits));

/**
 * Whether `limit` may be a token limit: the tier's or, if that is unknown, any number above the limit per hour. Without
 * a tier, the limit per hour is Team's, the largest that is published.
 */
function mayBeMonthTokens(limit: number, limits: TierLimits | null): boolean {
  const tokens = limits?.tokensPerMonth ?? null;
  return tokens === null ? limit > (limits ?? publishedTiers.team).perHour : limit === tokens;
}

type ReportedWindow = Pick<RateLimitInfo, "limit" | "remaining" | "retryAfterSeconds">;

const monthSeconds = 31 * 86_400;

/** Returns the seconds of the window that a response reports: a month, a minute, or an hour if neither is certain. */
export function windowSeconds(response: ReportedWindow, limits: TierLimits | null): number {
  if (isAboutMonthTokens(response, limits)) return monthSeconds;
  const isMinute = limits !== null && isMinuteLimit(response.limit, limits) && limits.perMinute !== limits.perHour;
  return isMinute ? 60 : 3600;
}

/** Tolerance for times that the server rounds to whole seconds. */
const roundingSeconds = 2;

/** Whether `Reset-After` is at most the length of the reported window. An absent `Reset-After` passes. */
export const isWithinWindow = (
  response: ReportedWindow & Pick<RateLimitInfo, "resetAfter">,
  limits: TierLimits | null,
): boolean => (response.resetAfter ?? 0) <= windowSeconds(response, limits) + roundingSeconds;
