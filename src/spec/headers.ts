import { advisory, type ClauseTable, must } from "./clause.ts";

/** Names of the documented headers. Sources: Limits, "Scope of limits" 2; "Authentication" 4; "Delivery security" 1. */
export const headerNames = {
  rateLimit: "X-RateLimit-Limit",
  rateRemaining: "X-RateLimit-Remaining",
  rateReset: "X-RateLimit-Reset",
  rateResetAfter: "X-RateLimit-Reset-After",
  signature: "X-Signature",
  timestamp: "X-Timestamp",
  deliverySignature: "X-Service-Signature",
} as const;

export const allRateHeaders = "all four rate-limit headers";

const scope = "Limits / Scope of limits";
const headerWindow = {
  hour: "the headers speak of the hour",
  minute: "the headers speak of the minute",
  tighter: "the headers speak of whichever window is tighter now",
} as const;

export const headerClauses = {
  "HDR-1": must(`${scope} 2`, "All four rate-limit headers are on every successful response."),
  "HDR-2": must(
    `${scope} 2`,
    "All four rate-limit headers are on every 400 and 404 response, and on any other refusal.",
  ),
  "HDR-3": must(`${scope} 2`, "All four rate-limit headers are on every 401 response."),
  "HDR-4": must(`${scope} 2`, "All four rate-limit headers are on every 429 response."),
  "HDR-5": must(`${scope} 2`, "All four rate-limit headers are on every 500 response, and on any other 5xx."),
  "HDR-6": must(`${scope} 2`, "All four rate-limit headers are on a stream's response."),
  "HDR-7": must(`${scope} 2`, "All four rate-limit headers are on every health response."),
  "HDR-8": must(
    `${scope} 2`,
    "All four rate-limit headers are on the response to a path, or a method, that the document does not define.",
  ),
  "HDR-9": must(`${scope} 2`, "The four headers are numbers, not negative, the counts whole, each sent once."),
  "HDR-10": must(
    `${scope} 2`,
    "`X-RateLimit-Limit` is the published number of the window it speaks of, for the key's tier; the minute's with the burst on top, where that is admitted.",
    { readings: headerWindow },
  ),
  "HDR-11": must(`${scope} 2`, "`X-RateLimit-Remaining` is never above `X-RateLimit-Limit`."),
  "HDR-12": must(
    `${scope} 2`,
    "`X-RateLimit-Remaining` falls by one with each counted request of a window, and by nothing else.",
  ),
  "HDR-13": must(
    `${scope} 2`,
    "Requests sent at once are counted each: what they and the next one see of `X-RateLimit-Remaining` is explained by some order of them.",
  ),
  "HDR-14": must(
    `${scope} 2`,
    "`X-RateLimit-Reset` is Unix seconds, and agrees with `X-RateLimit-Reset-After` within 2 seconds.",
  ),
  "HDR-15": must(`${scope} 2`, "`X-RateLimit-Reset-After` falls as time passes within a window."),
  "HDR-16": must(`${scope} 2`, "`X-RateLimit-Reset-After` is not longer than the window it speaks of."),
  "HDR-17": must(
    `${scope} 2`,
    "A 429 for the request rate says `X-RateLimit-Remaining: 0`, where its headers speak of the window that refused.",
  ),
  "HDR-18": advisory(
    `${scope} 3`,
    "A `Retry-After` header, where there is one, agrees with `retry_after` of the body.",
    { readings: { absent: "no 429 has the header", present: "a 429 has it" } },
  ),
  "HDR-19": must(
    `${scope} 2`,
    "Once an answer has said `X-RateLimit-Remaining: 0`, no further request of that window is admitted.",
  ),
  "HDR-20": advisory(
    `${scope} 2`,
    "`X-RateLimit-Limit` of the minute is the same for all keys of a tier, and the same before and after a reset.",
    { since: "1.1" },
  ),
} as const satisfies ClauseTable;

export type HeaderClauseId = keyof typeof headerClauses;

export interface RateHeader {
  readonly header: string;
  /** Unit of a numeric header, or the list of accepted texts. Only times can have decimals. */
  readonly value: "requests" | "seconds" | "Unix seconds" | readonly [string, ...string[]];
  readonly says: string;
  /** The clauses about the header. The first clause requires exactly one header with an accepted value. */
  readonly clauses: readonly [HeaderClauseId, ...HeaderClauseId[]];
}

/** The rate-limit headers. Samples and evidence store their values under the names used here, e.g. `remaining`. */
export const rateHeaderTable = {
  limit: {
    header: headerNames.rateLimit,
    value: "requests",
    says: "Requests allowed in the window.",
    clauses: ["HDR-9", "HDR-10", "HDR-20"],
  },
  remaining: {
    header: headerNames.rateRemaining,
    value: "requests",
    says: "Requests left in the window.",
    clauses: ["HDR-9", "HDR-11", "HDR-12", "HDR-13", "HDR-17", "HDR-19"],
  },
  reset: {
    header: headerNames.rateReset,
    value: "Unix seconds",
    says: "When the window resets, in Unix seconds.",
    clauses: ["HDR-9", "HDR-14"],
  },
  resetAfter: {
    header: headerNames.rateResetAfter,
    value: "seconds",
    says: "Seconds until the window resets.",
    clauses: ["HDR-9", "HDR-14", "HDR-15", "HDR-16"],
  },
} as const satisfies Readonly<Record<string, RateHeader>>;

export type RateHeaderKey = keyof typeof rateHeaderTable;

export type TypeOfRateValue<N extends RateHeaderKey> = (typeof rateHeaderTable)[N]["value"] extends readonly (infer T)[]
  ? T
  : number;

export const rateHeaderOf = (name: RateHeaderKey): RateHeader => rateHeaderTable[name];

/** Returns the clause that a malformed header breaks. */
export const headerFormClauseOf = (name: RateHeaderKey): HeaderClauseId => rateHeaderTable[name].clauses[0];

export const rateHeaderKeys = Object.keys(rateHeaderTable) as readonly RateHeaderKey[];

export const rateLimitHeaders = rateHeaderKeys.map((name) => rateHeaderTable[name].header);

export const headerFormClauses = [...new Set(rateHeaderKeys.map(headerFormClauseOf))];
