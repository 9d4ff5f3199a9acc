import { memoizeByObject } from "../../base/memoize.ts";
import { type Exchange, headerValues, statusOf } from "../../evidence/exchange.ts";
import { malformedHeaders, describeHeaderForm } from "../../rules/limits/header-rules.ts";
import { decimalNumber, unixSeconds } from "../../rules/limits/rate-limit-info.ts";
import { dateSeconds, nowByReset, retryAfterSeconds } from "../../rules/limits/sample.ts";
import { type Check, check, checkEvery, observe, type ProbesByName, suite } from "../../run/judge/check.ts";
import { breach, type MatrixCell, follows, holds, unproven } from "../../run/judge/finding.ts";
import { type Enabler, need } from "../../run/skip-reason.ts";
import { clauseIds } from "../../spec/clauses.ts";
import { type EndpointName, endpointNames } from "../../spec/endpoints.ts";
import {
  allRateHeaders,
  type HeaderClauseId,
  headerFormClauseOf,
  headerFormClauses,
  rateHeaderKeys,
  rateHeaderOf,
  rateLimitHeaders,
} from "../../spec/headers.ts";
import { remainingCostCheck } from "../limits/ledger-checks.ts";
import { allExchanges, type AllExchanges, endpointOf } from "../shared/all-exchanges.ts";
import { responseCases, responseCells, responseMatrix, emptyMatrix } from "../shared/cases.ts";
import { hasStatus, isSuccess } from "../shared/response.ts";
import {
  allSamples,
  samplesAndExchanges,
  concurrentRounds,
  fallOfRemainingIn,
  hasImpossibleFall,
  hasUnexpectedFall,
} from "./probes.ts";
import { isUnknownPath, responseChecks } from "./response-checks.ts";
import { judgeFalls, judgeRemainingAfterReads, judgeResetAfter, observeWhetherErrorsCount } from "./value-sequences.ts";
import { unknownPathRequested } from "../requests/probes.ts";
import { failingInvoked } from "../invoke/probes.ts";

const missingHeadersOf = memoizeByObject((exchange: Exchange): readonly string[] =>
  rateLimitHeaders.filter((name) => headerValues(exchange, name).length === 0),
);

const isOn = (exchange: Exchange, ...endpoints: readonly (string | null)[]): boolean =>
  endpoints.includes(endpointOf(exchange));

interface ResponseKind {
  readonly what: string;
  readonly cells: readonly MatrixCell[];
  readonly of: (exchange: Exchange, all: AllExchanges) => boolean;
  readonly needs?: Enabler;
}

const checkPresence = (clause: HeaderClause, { what, cells, of, needs }: ResponseKind, on: ProbesByName = {}): Check =>
  checkEvery(
    clause,
    { all: allExchanges, ...on },
    {
      matrix: responseMatrix(`every ${what}`, cells),
      members: ({ all }) =>
        responseCases(all, all.exchanges, (each) => each.answer.kind === "answered" && of(each, all)),
      judge: (exchange) => {
        const missing = missingHeadersOf(exchange);
        if (missing.length === 0) return null;
        return { expected: `${allRateHeaders} on every ${what}`, actual: `missing: ${missing.join(", ")}` };
      },
      whenEmpty: unproven(`the run got no ${what}`, needs ?? null),
    },
  );

/** Judges the form of the clause's headers, `keys`. Unproven if one of them is on no response. */
export function checkForm(
  clause: HeaderClauseId,
  keys = rateHeaderKeys.filter((key) => headerFormClauseOf(key) === clause),
): Check {
  const names = keys.map((key) => rateHeaderOf(key).header);
  const anyName = names.length === rateLimitHeaders.length ? "a rate-limit header" : names.join(" or ");
  const has = (one: Exchange, name: string): boolean => !missingHeadersOf(one).includes(name);
  return checkEvery(
    clause,
    { all: allExchanges },
    {
      matrix: emptyMatrix(`every response that has ${anyName}`),
      members: ({ all }) => responseCases(all, all.exchanges, (one) => names.some((name) => has(one, name))),
      judge: (one) => {
        const malformed = one.answer.kind === "answered" ? malformedHeaders(one.answer.headers) : [];
        const first = malformed.find(({ name }) => keys.includes(name));
        return first === undefined ? null : { expected: describeHeaderForm(clause), actual: first.actual };
      },
      whenEmpty: unproven(`no response has ${anyName}`),
      judgeAcross: (responses) => {
        const unseen = names.find((name) => !responses.some((one) => has(one, name)));
        return unseen === undefined ? holds() : unproven(`no response has ${unseen}`);
      },
    },
  );
}

type HeaderClause = "HDR-1" | "HDR-2" | "HDR-3" | "HDR-4" | "HDR-5" | "HDR-6" | "HDR-7" | "HDR-8";

const cellsOf = (statuses: readonly number[], ...but: readonly EndpointName[]): readonly MatrixCell[] =>
  responseCells(
    statuses,
    endpointNames.filter((name) => !but.includes(name)),
  );

const isBetween = (exchange: Exchange, min: number, max: number): boolean => {
  const status = statusOf(exchange) ?? 0;
  return status >= min && status <= max;
};

const isOfEndpoint = (exchange: Exchange, all: AllExchanges): boolean => endpointOf(exchange, all) !== null;

const byClause = (one: Check, other: Check): number => clauseIds.indexOf(one.clause) - clauseIds.indexOf(other.clause);

const checks: readonly Check[] = [
  checkPresence("HDR-1", {
    what: "successful response",
    cells: cellsOf([200, 201], "stream", "health"),
    of: (one, all) => isSuccess(one) && !isOn(one, "stream", "health") && !isUnknownPath(one, all),
  }),
  checkPresence("HDR-2", {
    what: "response 400, 403, 404 or another refusal",
    cells: cellsOf([400, 404], "health"),
    of: (one, all) =>
      isBetween(one, 300, 499) &&
      !hasStatus(one, 401, 429) &&
      isOfEndpoint(one, all) &&
      (!isOn(one, "health") || hasStatus(one, 403)),
  }),
  checkPresence("HDR-3", { what: "401 response", cells: cellsOf([401]), of: (one) => hasStatus(one, 401) }),
  checkPresence("HDR-4", {
    what: "429 response",
    cells: cellsOf([429]),
    of: (one) => hasStatus(one, 429),
    needs: need("limit within reach"),
  }),
  checkPresence(
    "HDR-5",
    {
      what: "500 response, or another 5xx",
      cells: cellsOf([500], "health"),
      of: (one, all) => isBetween(one, 500, 599) && !isUnknownPath(one, all) && !isOn(one, "health"),
      needs: "agents.failing in the target file",
    },
    { failing: failingInvoked },
  ),
  checkPresence("HDR-6", {
    what: "stream's response",
    cells: responseCells([200], ["stream"]),
    of: (one) => isSuccess(one) && isOn(one, "stream"),
    needs: "agents.streaming in the target file",
  }),
  checkPresence("HDR-7", {
    what: "health response",
    cells: responseCells([200, 404], ["health"]),
    of: (one) => isOn(one, "health") && !hasStatus(one, 401, 403, 429),
  }),
  checkPresence(
    "HDR-8",
    {
      what: "response to a path, or a method, that the document does not define",
      cells: [404, 405].map((status) => ({ of: "other paths", kind: String(status), reach: null })),
      of: (one, all) => hasStatus(one, 404, 405) && one.key !== null && !isOfEndpoint(one, all),
    },
    { unknownPath: unknownPathRequested },
  ),
  ...headerFormClauses.map((clause) => checkForm(clause)),
  check("HDR-12", allSamples, judgeFalls),
  check("HDR-12", samplesAndExchanges, judgeRemainingAfterReads, { as: "readings" }),
  remainingCostCheck,
  check("HDR-13", concurrentRounds, ({ rounds }) => {
    const readable = rounds.filter((round) => fallOfRemainingIn(round) !== null);
    const [first] = readable;
    if (first === undefined)
      return unproven("the concurrent requests were not all admitted in one window, or `Remaining` was absent");
    if (readable.length < rounds.length || !readable.every(hasUnexpectedFall)) return holds();
    const impossible = readable.find(hasImpossibleFall);
    if (impossible === undefined || !readable.every(hasImpossibleFall))
      return unproven("a rolling window may have given back earlier requests during the round");
    const { fell = 0, expected = 0, remainingAtOnce = [], from = 0 } = fallOfRemainingIn(impossible) ?? {};
    return breach(
      `\`Remaining\` falls by ${expected} from the request before to the one after ${expected - 1} at once`,
      `it fell by ${fell}: ${from}, then ${remainingAtOnce.join(", ")}, then ${from - fell}`,
      impossible.before,
      ...impossible.atOnce.slice(0, 4),
      impossible.after,
    );
  }),
  check("HDR-15", allSamples, judgeResetAfter),
  checkEvery(
    "HDR-18",
    { all: allExchanges },
    {
      matrix: responseMatrix("every 429", cellsOf([429])),
      members: ({ all }) => responseCases(all, all.exchanges, (one) => hasStatus(one, 429)),
      judge: (one) => {
        const [header] = headerValues(one, "Retry-After");
        const seconds = retryAfterSeconds(one);
        if (header === undefined) return null;
        if (seconds === null) return undefined;
        const agrees = statesSeconds(header, seconds, one);
        if (agrees !== false) return agrees === null ? undefined : null;
        return { expected: `\`Retry-After\` is ${seconds}, as in the body`, actual: header };
      },
      whenEmpty: unproven("there was no 429, or none with both a `Retry-After` header and `retry_after`"),
      judgeAcross: (limited) =>
        follows(limited.some((one) => headerValues(one, "Retry-After").length > 0) ? "present" : "absent"),
    },
  ),
  observe("LIM-26", allSamples, observeWhetherErrorsCount),
  ...responseChecks,
];

export const headers = suite("Rate-limit headers", checks.toSorted(byClause));

/**
 * Whether `Retry-After` tells the client to wait so many seconds. The header can also contain a date (RFC 9110, 10.2.3).
 * `null` if only a `Date` contradicts that date, because `Date` may lag, or if no clock is known.
 */
function statesSeconds(header: string, seconds: number, exchange: Exchange): boolean | null {
  const isAbout = (stated: number): boolean => Math.abs(stated - seconds) <= 1;
  const stated = decimalNumber(header);
  if (stated !== null) return isAbout(stated);
  const until = unixSeconds(header);
  if (until === null) return false;
  const byReset = nowByReset(exchange);
  if ([byReset, dateSeconds(exchange)].some((now) => now !== null && isAbout(until - now))) return true;
  return byReset === null ? null : false;
}
