import { memoizeByObject } from "../../base/memoize.ts";
import {
  codeStatusMismatch,
  detailsMismatch,
  documentedStatus,
  type ErrorForm,
  type ErrorResponse,
  formMismatch,
  limitCodeMismatch,
  type Mismatch,
  retryAfterMismatch,
  statusMismatch,
  codeOrMessageMismatch,
} from "../../rules/bodies/errors.ts";
import { bodyJson, type Exchange, headerValues, statusOf } from "../../evidence/exchange.ts";
import { errorCodes, errorStatuses, statusCodes } from "../../spec/events-and-errors.ts";
import type { JudgedId, ReadingOf } from "../../spec/clauses.ts";
import { type EndpointName, endpointNames } from "../../spec/endpoints.ts";
import { type Check, check, checkEvery, observe, type ProbesByName, suite } from "../../run/judge/check.ts";
import {
  breach,
  type CoverageMatrix,
  type Finding,
  follows,
  holds,
  observed,
  type Unproven,
  unproven,
} from "../../run/judge/finding.ts";
import { responseCases, errorMatrix } from "../shared/cases.ts";
import {
  codeOf,
  describeNonJson,
  describeStatus,
  errorOf,
  formOf,
  hasStatus,
  isSuccess,
  outcomeOf,
} from "../shared/response.ts";
import { invoked, invokedUnknownAgent, invokedWithNumber, failingInvoked } from "../invoke/probes.ts";
import { headerNames } from "../../spec/headers.ts";
import { dateSeconds, nowByReset, retryAfterSeconds, secondsHeader } from "../../rules/limits/sample.ts";
import { formatValue, getPath, isObject, tryParseJson } from "../../base/json.ts";
import { hasZone, instantMsOf, isTimestamp, statesSeconds } from "../../rules/bodies/timestamps.ts";
import {
  endpointOf,
  errorResponses,
  allExchanges,
  type AllExchanges,
  isSpecifiedRequest,
} from "../shared/all-exchanges.ts";
import { unauthenticatedSent } from "../authentication/probes.ts";
import { streamedUnknownAgent } from "../stream/probes.ts";
import { unknownPathRequested, unknownMethodRequested } from "../requests/probes.ts";
import { rateLimitDetailChecks } from "./rate-limit-details.ts";

/** Probes of the error checks, which judge all exchanges. `unauthenticatedSent` causes errors at no cost to a key. */
const errorProbes = { all: allExchanges, unauthenticated: unauthenticatedSent } as const;

const noErrors = (where = "in this run"): Unproven => unproven(`no error response with a JSON body ${where}`);

/** Whether the error checks judge a response: its body is JSON, or absent. Clause SVC-1 judges other bodies. */
const isJudged = (exchange: Exchange): boolean =>
  bodyJson(exchange) !== undefined || (exchange.answer.kind === "answered" && exchange.answer.body.kind === "none");

interface ErrorCheckOptions<R extends string> {
  readonly on?: ProbesByName;
  readonly matrix?: CoverageMatrix;
  readonly isCovered?: (exchange: Exchange, all: AllExchanges) => boolean;
  readonly judge: (exchange: Exchange) => Mismatch | null | undefined;
  readonly whenEmpty?: Unproven;
  readonly judgeAcross?: (errors: readonly Exchange[]) => Finding<R>;
}

const checkEveryError = <const K extends JudgedId>(
  clause: K,
  { on = {}, isCovered = () => true, ...options }: ErrorCheckOptions<ReadingOf<K>>,
): Check =>
  checkEvery<K, ProbesByName & typeof errorProbes, Exchange>(
    clause,
    { ...errorProbes, ...on },
    {
      matrix: errorMatrix("error"),
      whenEmpty: noErrors(),
      ...options,
      members: ({ all }) => responseCases(all, errorResponses(all), (each) => isCovered(each, all)),
    },
  );

const byRule =
  <M>(rule: (error: ErrorResponse) => M) =>
  (exchange: Exchange): M =>
    rule({ status: statusOf(exchange), json: bodyJson(exchange) });

function commonForm(forms: readonly ErrorForm[]): ErrorForm | null {
  if (forms.every((form) => form === "both")) return "both";
  if (!forms.includes("form-b")) return "form-a";
  return forms.includes("form-a") ? null : "form-b";
}

const followForm = (errors: readonly Exchange[]) =>
  follows(commonForm(errors.map((each) => formOf(each) ?? "both")) ?? "by-occasion");

const checkHaveForm = (
  clause: "ERR-2" | "ERR-3" | "ERR-4",
  endpoints: readonly EndpointName[],
  on: ProbesByName = {},
): Check =>
  checkEveryError(clause, {
    on,
    matrix: errorMatrix("error", errorStatuses, endpoints),
    isCovered: (each, all) => endpoints.some((name) => name === endpointOf(each, all)),
    judge: (exchange) => (isJudged(exchange) ? byRule(formMismatch)(exchange) : undefined),
    whenEmpty: noErrors(`on ${endpoints.join(", ")}`),
    judgeAcross: followForm,
  });

const checkErrorForm = (
  clause: "ERR-6" | "ERR-7" | "ERR-15" | "ERR-16",
  form: "form-a" | "form-b",
  judge: (exchange: Exchange) => Mismatch | null,
  { isCovered, ...more }: Pick<ErrorCheckOptions<never>, "isCovered" | "whenEmpty" | "on"> = {},
): Check => {
  const isOfForm = (each: Exchange): boolean => formOf(each) === form || formOf(each) === "both";
  return checkEveryError(clause, {
    ...more,
    matrix: errorMatrix(`error in ${form}`),
    isCovered: (each, all) => formOf(each) !== null && (isCovered?.(each, all) ?? true),
    judge: (exchange) => (isOfForm(exchange) ? judge(exchange) : null),
    judgeAcross: (errors) => follows((errors.some(isOfForm) ? form : "absent") as never),
  });
};

const rateLimitErrorOptions = {
  isCovered: (exchange: Exchange) => hasStatus(exchange, 429) && errorOf(exchange) !== null,
  whenEmpty: unproven("no 429 response with an error body", "a run that reaches a limit (the limits suite)"),
};
const rateLimitMatrix = errorMatrix("429", [429]);

const withDocumentedCode = memoizeByObject((all: AllExchanges) =>
  all.exchanges.filter((each) => isSpecifiedRequest(each, all) && documentedStatus(codeOf(each)) !== null),
);

const checkDocumentedCode = (clause: "ERR-1" | "ERR-10", judge: ErrorCheckOptions<never>["judge"]): Check =>
  checkEvery(clause, errorProbes, {
    matrix: errorMatrix("response with a documented code"),
    members: ({ all }) => responseCases(all, withDocumentedCode(all)),
    judge,
    whenEmpty: unproven("no response had a documented code"),
  });

function namesField(details: unknown, levels = 3): boolean {
  if (levels === 0) return false;
  if (Array.isArray(details)) return details.length > 0 && details.every((each) => namesField(each, levels - 1));
  if (!isObject(details)) return false;
  const hasBoth = typeof details["field"] === "string" && typeof details["reason"] === "string";
  return hasBoth || Object.values(details).some((each) => namesField(each, levels - 1));
}

function fieldDetailsMismatch(exchange: Exchange): Mismatch | null {
  const details = errorOf(exchange)?.["details"];
  return namesField(details)
    ? null
    : { expected: "`details` with the strings `field` and `reason`", actual: formatValue(details) };
}

const isInvalidInput = (exchange: Exchange): boolean =>
  hasStatus(exchange, 400) && codeOf(exchange) === "INVALID_INPUT" && mayNameField(exchange);

const shortBodyBytes = 8 * 1024;

const mayNameField = ({ request: { body } }: Exchange): boolean =>
  body.kind === "none" || (body.kind === "text" && body.bytes <= shortBodyBytes && isObject(tryParseJson(body.text)));

const codesOf = (exchanges: readonly Exchange[]): string[] =>
  [...new Set(exchanges.flatMap((each) => codeOf(each) ?? []))].toSorted();

/** Tolerance for `reset_at`: 2 seconds for clock differences and 1 for rounding. */
const toleranceSeconds = 3;
const longestWindowSeconds = 3600;
/** A longer `retry_after` than needed is legal. A larger excess suggests a wrong unit, e.g. milliseconds. */
const maxExcessSeconds = 60;
/** Some targets always name the same wait, e.g. two minutes. */
const maxFixedWaitSeconds = 120;

function resetAtMismatch(exchange: Exchange): Mismatch | null {
  const resetAt = getPath(errorOf(exchange)?.["details"], "reset_at");
  if (resetAt === undefined) return null;
  if (typeof resetAt !== "string" || !isTimestamp(resetAt))
    return { expected: "`reset_at` is an ISO 8601 timestamp", actual: formatValue(resetAt) };
  const atSeconds = instantMsOf(resetAt) / 1000;
  const retryAfter = retryAfterSeconds(exchange);
  // Does not judge a `reset_at` without a zone, or without seconds: the value can be off by hours, or by a minute.
  if (!hasZone(resetAt) || !statesSeconds(resetAt) || retryAfter === null) return null;
  const reset = secondsHeader(exchange, headerNames.rateReset);
  const agrees = (now: number): boolean =>
    Math.abs(atSeconds - now - retryAfter) <= toleranceSeconds ||
    (atSeconds >= now - toleranceSeconds &&
      retryAfter <= Math.max(atSeconds - now + maxExcessSeconds, maxFixedWaitSeconds) &&
      atSeconds - now <= longestWindowSeconds + toleranceSeconds) ||
    (reset !== null && Math.abs(atSeconds - reset) <= toleranceSeconds);
  const clocks = [dateSeconds(exchange), nowByReset(exchange)].filter((each) => each !== null);
  const [first] = clocks;
  if (first === undefined || clocks.some(agrees)) return null;
  const now = headerValues(exchange, "Date")[0] ?? new Date(first * 1000).toISOString();
  return {
    expected: `\`reset_at\` agrees with \`retry_after\` (${retryAfter} s)`,
    actual: `${formatValue(resetAt)}, although the target's clock reports ${now}`,
  };
}

const observeUnknown = (as: "path" | "method", sent: typeof unknownPathRequested): Check =>
  observe("ERR-17", sent, ({ answered }) => observed(`an unknown ${as}: ${describeStatus(answered)}`), { as });

export const errors = suite("Errors", [
  checkDocumentedCode("ERR-1", (exchange) =>
    statusCodes.some((status) => status === statusOf(exchange))
      ? null
      : {
          expected: `one of ${statusCodes.join(", ")}, as the code ${codeOf(exchange)} is documented`,
          actual: outcomeOf(exchange),
        },
  ),
  checkHaveForm("ERR-2", ["invoke"], { invokedUnknownAgent }),
  checkHaveForm("ERR-3", ["stream"], { streamedUnknownAgent }),
  checkHaveForm(
    "ERR-4",
    endpointNames.filter((name) => name !== "invoke" && name !== "stream"),
  ),
  checkEveryError("ERR-5", { isCovered: (each) => errorOf(each) !== null, judge: byRule(codeOrMessageMismatch) }),
  checkErrorForm("ERR-6", "form-a", byRule(statusMismatch)),
  checkErrorForm("ERR-7", "form-b", byRule(detailsMismatch)),
  checkEveryError("ERR-8", {
    ...rateLimitErrorOptions,
    matrix: rateLimitMatrix,
    judge: byRule(retryAfterMismatch),
    judgeAcross: followForm,
  }),
  ...rateLimitDetailChecks,
  checkEveryError("ERR-9", {
    ...rateLimitErrorOptions,
    matrix: rateLimitMatrix,
    judge: byRule(limitCodeMismatch),
    judgeAcross: (rateLimited) => {
      const codes = new Set(rateLimited.map(codeOf));
      if (codes.size > 1) return follows("by-endpoint");
      return follows(codes.has("RATE_LIMITED") ? "RATE_LIMITED" : "RATE_LIMIT_EXCEEDED");
    },
  }),
  checkDocumentedCode("ERR-10", byRule(codeStatusMismatch)),
  observe("ERR-11", errorProbes, ({ all }) => {
    const failed = errorResponses(all);
    const unlisted = codesOf(failed).filter((code) => !Object.hasOwn(errorCodes, code));
    const internal = codesOf(failed.filter((each) => hasStatus(each, 500)));
    return observed(
      `codes outside the table: ${unlisted.join(", ") || "none"}; codes of 500: ${internal.join(", ") || "none"}`,
    );
  }),
  observe("ERR-12", errorProbes, ({ all }) => {
    const formsByEndpoint = endpointNames.flatMap((endpoint) => {
      const found = errorResponses(all).flatMap((each) =>
        endpointOf(each, all) === endpoint ? (formOf(each) ?? []) : [],
      );
      return found.length === 0 ? [] : [`${endpoint}: ${commonForm(found) ?? "sometimes form-a, sometimes form-b"}`];
    });
    return formsByEndpoint.length > 0
      ? observed(formsByEndpoint.join("; "))
      : unproven("no error with a readable body");
  }),
  check("ERR-13", { failing: failingInvoked, invoked }, ({ failing: { failed }, invoked: { exchange } }) => {
    if (!isSuccess(exchange))
      return unproven(`an agent that does not fail did not succeed either (${outcomeOf(exchange)})`);
    if (hasStatus(failed, 429)) return unproven("a rate limit rejected the request first (429)");
    const status = statusOf(failed) ?? 0;
    if (status < 500) return breach("500, or another 5xx, as the agent fails", outcomeOf(failed), failed);
    if (errorOf(failed) !== null) return holds();
    if (!isJudged(failed))
      return unproven(`the ${status} has a body that is not JSON (SVC-1): ${describeNonJson(failed) ?? ""}`);
    return breach(`${status} with an error body`, `${status} with ${formatValue(bodyJson(failed))}`, failed);
  }),
  checkErrorForm("ERR-15", "form-b", fieldDetailsMismatch, {
    isCovered: isInvalidInput,
    whenEmpty: unproven("no response had the code `INVALID_INPUT`"),
    on: { invokedWithNumber },
  }),
  checkErrorForm("ERR-16", "form-b", resetAtMismatch, rateLimitErrorOptions),
  observeUnknown("path", unknownPathRequested),
  observeUnknown("method", unknownMethodRequested),
]);
