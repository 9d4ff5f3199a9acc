import { getPath } from "../../base/json.ts";
import type { Exchange } from "../../evidence/exchange.ts";
import { retryAfterSeconds, secondsHeader, wholeNumberHeader } from "../../rules/limits/sample.ts";
import { type Check, check } from "../../run/judge/check.ts";
import { breach, type Finding, holds, inapplicable } from "../../run/judge/finding.ts";
import { headerNames } from "../../spec/headers.ts";
import { type AllExchanges, allExchanges } from "../shared/all-exchanges.ts";
import { errorOf, hasStatus } from "../shared/response.ts";

const since = "1.2";

const limitErrors = ({ exchanges }: AllExchanges): Exchange[] =>
  exchanges.filter((each) => each.key !== null && hasStatus(each, 429) && errorOf(each) !== null);

/** Minimum number of responses with a wrong value for a breach. One or two may be wrong by chance. */
const minResponses = 3;
/** Tolerance for the rounding of both `retry_after` and `X-RateLimit-Reset-After`. */
const maxRoundingSeconds = 2;
/**
 * Minimum `X-RateLimit-Reset-After` to judge the unit of `retry_after`. With smaller values, rounding could make
 * seconds look like milliseconds.
 */
const minResetSeconds = 5;

function isInMilliseconds(exchange: Exchange): boolean {
  const retryAfter = retryAfterSeconds(exchange);
  const resetAfter = secondsHeader(exchange, headerNames.rateResetAfter);
  if (retryAfter === null || resetAfter === null || resetAfter < minResetSeconds) return false;
  return Math.abs(retryAfter / 1000 - resetAfter) <= maxRoundingSeconds;
}

function judgeUnit(all: AllExchanges): Finding<never> {
  const refused = limitErrors(all);
  if (refused.length === 0) return inapplicable("no 429 has an error body");
  const wrong = refused.filter(isInMilliseconds);
  const [first] = wrong;
  // A breach needs at least two different pairs of key and `Reset-After`. With one pair, `retry_after` can look like
  // milliseconds by chance.
  const pairs = new Set(wrong.map((each) => `${each.key} ${secondsHeader(each, headerNames.rateResetAfter)}`));
  if (first === undefined || wrong.length < minResponses || pairs.size < 2) return holds();
  return breach(
    "`retry_after` in seconds",
    `${retryAfterSeconds(first)} with X-RateLimit-Reset-After: ${secondsHeader(first, headerNames.rateResetAfter)}, and ${wrong.length - 1} more of this kind`,
    ...wrong.slice(0, 3),
  );
}

interface Counts {
  readonly exchange: Exchange;
  readonly inDetails: number;
  readonly inHeaders: number;
}

function countsOf(exchange: Exchange): Counts[] {
  const details = errorOf(exchange)?.["details"];
  const [limit, inDetails] = [getPath(details, "limit"), getPath(details, "remaining")];
  const inHeaders = wholeNumberHeader(exchange, headerNames.rateRemaining);
  const isOfOneWindow = limit === wholeNumberHeader(exchange, headerNames.rateLimit);
  return typeof inDetails === "number" && inHeaders !== null && isOfOneWindow
    ? [{ exchange, inDetails, inHeaders }]
    : [];
}

function judgeRemaining(all: AllExchanges): Finding<never> {
  const counts = limitErrors(all).flatMap(countsOf);
  if (counts.length === 0) return inapplicable("no 429 has details of the window of its headers");
  const [first] = counts;
  const isNeverRight = counts.every(({ inDetails, inHeaders }) => inDetails !== inHeaders);
  if (first === undefined || counts.length < minResponses || !isNeverRight) return holds();
  return breach(
    `\`details.remaining\` is ${first.inHeaders}, as X-RateLimit-Remaining says of the same limit`,
    `${first.inDetails}, and it differs in all ${counts.length} such responses`,
    first.exchange,
  );
}

export const rateLimitDetailChecks: readonly Check[] = [
  check("ERR-8", allExchanges, judgeUnit, { as: "unit of retry_after", since }),
  check("ERR-8", allExchanges, judgeRemaining, { as: "remaining as in the headers", since }),
];
