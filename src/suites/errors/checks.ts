import { memoizeByObject } from "../../base/memoize.ts";
import {
  documentedStatus,
  retryAfterMismatch,
  codeStatusMismatch,
  detailsMismatch,
  formMismatch,
  limitCodeMismatch,
  statusMismatch,
  textMismatch,
} from "../../rules/bodies/errors.ts";
import { bodyJson, type Exchange, statusOf } from "../../evidence/exchange.ts";
import { errorCodes, errorStatuses, statusCodes } from "../../spec/errors.ts";
import type { JudgedId, ReadingOf } from "../../spec/clauses.ts";
import { type EndpointName, endpointNames } from "../../spec/endpoints.ts";
import { type Check, check, observe, type Probes, suite } from "../../run/judge/check.ts";
import { breach, type Finding, follows, holds, observed, type Unproven, unproven } from "../../run/judge/finding.ts";
import type { Mismatch } from "../../rules/mismatch.ts";
import { checkEvery } from "../../run/judge/check-every.ts";
import type { CoverageMatrix } from "../../run/judge/coverage.ts";
import { responseCases } from "../shared/cases.ts";
import { errorMatrix } from "../shared/matrices.ts";
import {
  codeOf,
  commonForm,
  describeNonJson,
  errorOf,
  errorResponseOf,
  formOf,
  hasStatus,
  isSuccess,
  outcomeOf,
} from "../shared/response.ts";
import { failingInvoked, unknownMethodRequested, unknownPathRequested } from "./probes.ts";
import { invoked, invokedUnknown, invokedWithNumber } from "../invoke/probes.ts";
import { isReadable, resetAtMismatch } from "./reset-at.ts";
import { endpointOf, errorsIn, allExchanges, type AllExchanges, isSpecifiedRequest } from "../shared/all-exchanges.ts";
import { formatValue } from "../../base/format-value.ts";
import { isObject, tryParseJson } from "../../base/json.ts";
import { unauthenticatedSent } from "../authentication/unauthenticated-probe.ts";
import { streamedUnknown } from "../stream/probes.ts";

/** Everything, after the refusals that cost nothing, so that there is always an error to judge. */
const seen = { all: allExchanges, strangersAsked: unauthenticatedSent } as const;

const noErrors = (where = "in this run"): Unproven => unproven(`no error with a JSON body came ${where}`);

/** A body that is not JSON is a breach of SVC-1; one that is absent has no form at all. */
const isJudged = (exchange: Exchange): boolean =>
  isReadable(exchange) || (exchange.answer.kind === "answered" && exchange.answer.body.kind === "none");

interface ErrorParts {
  /** Probes whose errors are to be among them. */
  readonly on?: Probes;
  readonly universe?: CoverageMatrix;
  /** Of all errors, those that the clause speaks of. */
  readonly of?: (exchange: Exchange, all: AllExchanges) => boolean;
  readonly say: (exchange: Exchange) => Mismatch | null | undefined;
  readonly none?: Unproven;
}

/** Judges every error that the run met, on whatever endpoint; `agree` tells the reading that they follow. */
const everyError = <const K extends JudgedId>(
  clause: K,
  {
    on = {},
    universe: matrix = errorMatrix("error"),
    of = () => true,
    say: judge,
    none: whenEmpty = noErrors(),
  }: ErrorParts,
  judgeAcross?: (errors: readonly Exchange[]) => Finding<ReadingOf<K>>,
): Check =>
  checkEvery(
    clause,
    { ...seen, ...on },
    {
      matrix,
      members: ({ all }) =>
        responseCases(
          errorsIn(all).filter((each) => of(each, all)),
          all,
        ),
      judge,
      whenEmpty,
      ...(judgeAcross === undefined ? {} : { judgeAcross }),
    },
  );

/** The form that all errors fit. */
const followForm = (errors: readonly Exchange[]) =>
  follows(commonForm(errors.map((each) => formOf(each) ?? "both")) ?? "by-occasion");

/** Judges that each error of these endpoints has one of the two forms. */
const haveForm = (clause: "ERR-2" | "ERR-3" | "ERR-4", endpoints: readonly EndpointName[], on: Probes = {}): Check =>
  everyError(
    clause,
    {
      on,
      universe: errorMatrix("error", errorStatuses, endpoints),
      of: (each, all) => endpoints.some((name) => name === endpointOf(each, all)),
      say: (exchange) => (isJudged(exchange) ? formMismatch(errorResponseOf(exchange)) : undefined),
      none: noErrors(`on ${endpoints.join(", ")}`),
    },
    followForm,
  );

/** Judges what is said in one form only: `absent` where errors were seen, and none of that form. */
const ofForm = (
  clause: "ERR-6" | "ERR-7" | "ERR-15" | "ERR-16",
  form: "form-a" | "form-b",
  wrong: (exchange: Exchange) => Mismatch | null,
  { of, ...more }: Pick<ErrorParts, "of" | "none" | "on"> = {},
): Check => {
  const isOfForm = (each: Exchange): boolean => formOf(each) === form || formOf(each) === "both";
  return everyError(
    clause,
    {
      ...more,
      universe: errorMatrix(`error in ${form}`),
      of: (each, all) => formOf(each) !== null && (of?.(each, all) ?? true),
      say: (exchange) => (isOfForm(exchange) ? wrong(exchange) : null),
    },
    (errors) => follows((errors.some(isOfForm) ? form : "absent") as never),
  );
};

const isLimited = (exchange: Exchange): boolean => hasStatus(exchange, 429) && errorOf(exchange) !== null;

const noLimit = unproven("no answer of 429 with an error body came", "a run that reaches a limit (the limits suite)");

const codedIn = memoizeByObject((all: AllExchanges) =>
  all.exchanges.filter((each) => isSpecifiedRequest(each, all) && documentedStatus(codeOf(each)) !== null),
);

/** Judges every answer to a described request whose code says which case of the document it is. */
const coded = (clause: "ERR-1" | "ERR-10", judge: (exchange: Exchange) => Mismatch | null | undefined): Check =>
  checkEvery(clause, seen, {
    matrix: errorMatrix("answer with a documented code"),
    members: ({ all }) => responseCases(codedIn(all), all),
    judge,
    whenEmpty: unproven("no answer had a documented code"),
  });

/** Whether a field and a reason are named: in the object itself, or in each of several of them within it. */
function isNamed(details: unknown, levels = 3): boolean {
  if (levels === 0) return false;
  if (Array.isArray(details)) return details.length > 0 && details.every((each) => isNamed(each, levels - 1));
  if (!isObject(details)) return false;
  const hasBoth = typeof details["field"] === "string" && typeof details["reason"] === "string";
  return hasBoth || Object.values(details).some((each) => isNamed(each, levels - 1));
}

function unnamedField(exchange: Exchange): Mismatch | null {
  const details = errorOf(exchange)?.["details"];
  return isNamed(details)
    ? null
    : { expected: "`details` with the strings `field` and `reason`", actual: formatValue(details) };
}

const refusals = errorMatrix("429", [429]);

const isRefusedInput = (exchange: Exchange): boolean =>
  hasStatus(exchange, 400) && codeOf(exchange) === "INVALID_INPUT" && mayNameField(exchange);

/** Of a body that is too long, or no JSON, there is no field to name. */
const mayNameField = ({ request: { body } }: Exchange): boolean =>
  body.kind === "none" || (body.kind === "text" && isObject(tryParseJson(body.text)));

const codesOf = (exchanges: readonly Exchange[]): string[] =>
  [...new Set(exchanges.flatMap((each) => codeOf(each) ?? []))].toSorted();

export const errors = suite("Errors", [
  coded("ERR-1", (exchange) =>
    statusCodes.some((status) => status === statusOf(exchange))
      ? null
      : {
          expected: `one of ${statusCodes.join(", ")}, as the code ${codeOf(exchange)} is documented`,
          actual: outcomeOf(exchange),
        },
  ),
  haveForm("ERR-2", ["invoke"], { invokedUnknown }),
  haveForm("ERR-3", ["stream"], { streamedUnknown }),
  haveForm(
    "ERR-4",
    endpointNames.filter((name) => name !== "invoke" && name !== "stream"),
  ),
  everyError("ERR-5", { of: (each) => errorOf(each) !== null, say: (each) => textMismatch(errorResponseOf(each)) }),
  ofForm("ERR-6", "form-a", (each) => statusMismatch(errorResponseOf(each))),
  ofForm("ERR-7", "form-b", (each) => detailsMismatch(errorResponseOf(each))),
  everyError(
    "ERR-8",
    { universe: refusals, of: isLimited, say: (each) => retryAfterMismatch(errorResponseOf(each)), none: noLimit },
    followForm,
  ),
  everyError(
    "ERR-9",
    {
      universe: refusals,
      of: isLimited,
      say: (each) => limitCodeMismatch(errorResponseOf(each)),
      none: noLimit,
    },
    (limited) => {
      const codes = new Set(limited.map(codeOf));
      if (codes.size > 1) return follows("by-endpoint");
      return follows(codes.has("RATE_LIMITED") ? "RATE_LIMITED" : "RATE_LIMIT_EXCEEDED");
    },
  ),
  coded("ERR-10", (exchange) => codeStatusMismatch(errorResponseOf(exchange))),
  observe("ERR-11", seen, ({ all }) => {
    const failed = errorsIn(all);
    const unlisted = codesOf(failed).filter((code) => !Object.hasOwn(errorCodes, code));
    const internal = codesOf(failed.filter((each) => hasStatus(each, 500)));
    return observed(
      `codes outside the table: ${unlisted.join(", ") || "none seen"}; codes of 500: ${internal.join(", ") || "none seen"}`,
    );
  }),
  observe("ERR-12", seen, ({ all }) => {
    const said = endpointNames.flatMap((endpoint) => {
      const found = errorsIn(all).flatMap((each) => (endpointOf(each, all) === endpoint ? (formOf(each) ?? []) : []));
      return found.length === 0 ? [] : [`${endpoint}: ${commonForm(found) ?? "now form-a, now form-b"}`];
    });
    return said.length > 0 ? observed(said.join("; ")) : unproven("no error with a readable body came");
  }),
  check("ERR-13", { failing: failingInvoked, invoked }, ({ failing: { failed }, invoked: { exchange } }) => {
    if (!isSuccess(exchange))
      return unproven(`an agent that does not fail did not answer either (${outcomeOf(exchange)})`);
    if (hasStatus(failed, 429)) return unproven("a limit refused the request first (429)");
    const status = statusOf(failed) ?? 0;
    if (status < 500) return breach("500, or another 5xx, as the agent fails", outcomeOf(failed), failed);
    if (errorOf(failed) !== null) return holds();
    if (!isJudged(failed))
      return unproven(`the ${status} has a body that is not JSON (SVC-1): ${describeNonJson(failed) ?? ""}`);
    return breach(`${status} with an error body`, `${status} with ${formatValue(bodyJson(failed))}`, failed);
  }),
  ofForm("ERR-15", "form-b", unnamedField, {
    of: isRefusedInput,
    none: unproven("no input was refused as `INVALID_INPUT`"),
    on: { invokedWithNumber },
  }),
  ofForm("ERR-16", "form-b", resetAtMismatch, { of: isLimited, none: noLimit }),
  observe("ERR-17", unknownPathRequested, ({ answered }) => observed(`an unknown path: ${saidOf(answered)}`), {
    as: "path",
  }),
  observe("ERR-17", unknownMethodRequested, ({ answered }) => observed(`an unknown method: ${saidOf(answered)}`), {
    as: "method",
  }),
]);

const saidOf = (exchange: Exchange): string => [outcomeOf(exchange), codeOf(exchange) ?? ""].join(" ").trim();
