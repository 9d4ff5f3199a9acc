import { bodyJson, type Exchange, statusOf } from "../../evidence/exchange.ts";
import { errorCodes, rateLimitCodes, statusCodes } from "../../interface/errors.ts";
import { check, observe, suite } from "../../run/check.ts";
import {
  type Breach,
  breach,
  type Finding,
  follows,
  holds,
  observed,
  type Unproven,
  unproven,
} from "../../run/finding.ts";
import { codeOf, commonForm, type ErrorForm, errorOf, formOf } from "../answers/error-body.ts";
import { failingInvoked, unknownMethodAsked, unknownPathAsked } from "./probes.ts";
import { invoked, invokedUnknown, invokedWithNumber } from "../invoke/probes.ts";
import { isReadable, misstatedReset, misstatedRetry } from "./rate-limit-errors.ts";
import {
  type Endpoint,
  endpointOf,
  endpoints,
  errorsIn,
  everything,
  type Everything,
  isDescribed,
} from "../answers/recorded.ts";
import { hasStatus, isSuccess, notJson, outcomeOf, show } from "../answers/shape.ts";
import { isObject } from "../../base/json.ts";
import { strangersAsked } from "../authentication/strangers.ts";
import { streamedUnknown } from "../stream/probes.ts";

interface ErrorsSeen {
  readonly all: Everything;
}

/** Everything, after the refusals that cost nothing, so that there is always an error to judge. */
const seen = { all: everything, strangersAsked } as const;

const noErrors = (where = "in this run"): Unproven => unproven(`no error with a JSON body came ${where}`);

/** A body that is not JSON is a breach of SVC-1; one that is absent has no form at all. */
const isJudged = (exchange: Exchange): boolean =>
  isReadable(exchange) || (exchange.answer.kind === "answered" && exchange.answer.body.kind === "none");

/** All errors of one endpoint in one of the forms. */
const eitherForm =
  (endpoint: Endpoint) =>
  ({ all }: ErrorsSeen): Finding<ErrorForm | "by-occasion"> => {
    const errors = errorsIn(all).filter((each) => endpointOf(each) === endpoint && isJudged(each));
    const formless = errors.find((each) => formOf(each) === null);
    if (formless !== undefined)
      return breach(
        '`{error: {code, message, status}}` or `{status: "error", error: {code, message, details}}`',
        `${outcomeOf(formless)} with ${isReadable(formless) ? show(bodyJson(formless)) : "no body"}`,
        formless,
      );
    if (errors.length === 0) return noErrors(`on ${endpoint}`);
    return follows(formFollowed(errors));
  };

/** The form that errors have, or that it is not always the same: which applies where is not shown. */
const formFollowed = (errors: readonly Exchange[]): ErrorForm | "by-occasion" =>
  commonForm(errors.map((each) => formOf(each) ?? "both")) ?? "by-occasion";

/** Errors of the wanted form; `absent` where there are errors, and none has it. */
function judgeForm<F extends "form-a" | "form-b">(
  errors: readonly Exchange[],
  form: F,
  wrong: (exchange: Exchange) => Breach | null,
): Finding<F | "absent"> {
  const readable = errors.filter((each) => formOf(each) !== null);
  if (readable.length === 0) return noErrors();
  const ofForm = readable.filter((each) => formOf(each) === form || formOf(each) === "both");
  for (const each of ofForm) {
    const found = wrong(each);
    if (found !== null) return found;
  }
  return follows<F | "absent">(ofForm.length > 0 ? form : "absent");
}

const limitedIn = (all: Everything): Exchange[] =>
  errorsIn(all).filter((each) => hasStatus(each, 429) && errorOf(each) !== null);

const noLimit = unproven("no answer of 429 with an error body came", "a run that reaches a limit (the limits suite)");

const documentedStatus = (exchange: Exchange): number | null => {
  const code = codeOf(exchange) ?? "";
  const known: Readonly<Record<string, { readonly status: number | string }>> = errorCodes;
  const status = Object.hasOwn(errorCodes, code) ? known[code]?.status : undefined;
  return typeof status === "number" ? status : null;
};

/** Answers to described requests whose code says which case of the document it is. */
const codedIn = (all: Everything): Exchange[] =>
  all.exchanges.filter((each) => isDescribed(each) && documentedStatus(each) !== null);

function wrongText(exchange: Exchange): Breach | null {
  const error = errorOf(exchange);
  for (const name of ["code", "message"] as const) {
    const value = error?.[name];
    if (typeof value !== "string" || value.trim() === "")
      return breach(`\`error.${name}\`, a string that is not empty`, show(value), exchange);
  }
  return null;
}

function wrongStatus(exchange: Exchange): Breach | null {
  const status = errorOf(exchange)?.["status"];
  return status === statusOf(exchange)
    ? null
    : breach(`\`error.status\` is ${statusOf(exchange)}, the HTTP status`, show(status), exchange);
}

function wrongDetails(exchange: Exchange): Breach | null {
  const details = errorOf(exchange)?.["details"];
  return details === undefined || details === null || isObject(details)
    ? null
    : breach("`error.details`, an object", show(details), exchange);
}

/** Whether a field and a reason are named: in the object itself, or in each of several of them within it. */
function isNamed(details: unknown, levels = 3): boolean {
  if (levels === 0) return false;
  if (Array.isArray(details)) return details.length > 0 && details.every((each) => isNamed(each, levels - 1));
  if (!isObject(details)) return false;
  const hasBoth = typeof details["field"] === "string" && typeof details["reason"] === "string";
  return hasBoth || Object.values(details).some((each) => isNamed(each, levels - 1));
}

function unnamedField(exchange: Exchange): Breach | null {
  const details = errorOf(exchange)?.["details"];
  return isNamed(details) ? null : breach("`details` with the strings `field` and `reason`", show(details), exchange);
}

const isRefusedInput = (exchange: Exchange): boolean =>
  hasStatus(exchange, 400) && codeOf(exchange) === "INVALID_INPUT";

const codesOf = (exchanges: readonly Exchange[]): string[] =>
  [...new Set(exchanges.flatMap((each) => codeOf(each) ?? []))].toSorted();

export const errors = suite("Errors", [
  check("ERR-1", seen, ({ all }) => {
    const coded = codedIn(all);
    const other = coded.find((each) => !statusCodes.some((status) => status === statusOf(each)));
    if (other !== undefined)
      return breach(
        `one of ${statusCodes.join(", ")}, as the code ${codeOf(other)} is documented`,
        outcomeOf(other),
        other,
      );
    return coded.length > 0 ? holds() : unproven("no answer had a documented code");
  }),
  check("ERR-2", { ...seen, invokedUnknown }, eitherForm("invoke")),
  check("ERR-3", { ...seen, streamedUnknown }, eitherForm("stream")),
  check("ERR-4", seen, eitherForm("list"), { as: "list" }),
  check("ERR-4", seen, eitherForm("usage"), { as: "usage" }),
  check("ERR-4", seen, eitherForm("health"), { as: "health" }),
  check("ERR-5", seen, ({ all }) => {
    const judged = errorsIn(all).filter((each) => errorOf(each) !== null);
    for (const each of judged) {
      const wrong = wrongText(each);
      if (wrong !== null) return wrong;
    }
    return judged.length > 0 ? holds() : noErrors();
  }),
  check("ERR-6", seen, ({ all }) => judgeForm(errorsIn(all), "form-a", wrongStatus)),
  check("ERR-7", seen, ({ all }) => judgeForm(errorsIn(all), "form-b", wrongDetails)),
  check("ERR-8", seen, ({ all }) => {
    const limited = limitedIn(all);
    if (limited.length === 0) return noLimit;
    for (const each of limited) {
      const wrong = misstatedRetry(each);
      if (wrong !== null) return wrong;
    }
    return follows(formFollowed(limited));
  }),
  check("ERR-9", seen, ({ all }) => {
    const limited = limitedIn(all).filter((each) => codeOf(each) !== null);
    const other = limited.find((each) => !rateLimitCodes.some((code) => code === codeOf(each)));
    if (other !== undefined) return breach(rateLimitCodes.join(" or "), show(codeOf(other)), other);
    const isFirst = limited.some((each) => codeOf(each) === "RATE_LIMIT_EXCEEDED");
    const isSecond = limited.some((each) => codeOf(each) === "RATE_LIMITED");
    if (!isFirst && !isSecond) return noLimit;
    return follows(isFirst && isSecond ? "by-endpoint" : isFirst ? "RATE_LIMIT_EXCEEDED" : "RATE_LIMITED");
  }),
  check("ERR-10", seen, ({ all }) => {
    const coded = codedIn(all);
    const other = coded.find((each) => documentedStatus(each) !== statusOf(each));
    if (other !== undefined)
      return breach(`${documentedStatus(other)} with the code ${codeOf(other)}`, outcomeOf(other), other);
    return coded.length > 0 ? holds() : unproven("no answer had a documented code");
  }),
  observe("ERR-11", seen, ({ all }) => {
    const failed = errorsIn(all);
    const unlisted = codesOf(failed).filter((code) => !Object.hasOwn(errorCodes, code));
    const internal = codesOf(failed.filter((each) => hasStatus(each, 500)));
    return observed(
      `codes outside the table: ${unlisted.join(", ") || "none seen"}; codes of 500: ${internal.join(", ") || "none seen"}`,
    );
  }),
  observe("ERR-12", seen, ({ all }) => {
    const said = endpoints.flatMap((endpoint) => {
      const forms = errorsIn(all).flatMap((each) => (endpointOf(each) === endpoint ? (formOf(each) ?? []) : []));
      return forms.length === 0 ? [] : [`${endpoint}: ${commonForm(forms) ?? "now form-a, now form-b"}`];
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
      return unproven(`the ${status} has a body that is not JSON (SVC-1): ${notJson(failed) ?? ""}`);
    return breach(`${status} with an error body`, `${status} with ${show(bodyJson(failed))}`, failed);
  }),
  check("ERR-15", { ...seen, invokedWithNumber }, ({ all }) => {
    const refused = errorsIn(all).filter(isRefusedInput);
    return refused.length === 0
      ? unproven("no input was refused as `INVALID_INPUT`")
      : judgeForm(refused, "form-b", unnamedField);
  }),
  check("ERR-16", seen, ({ all }) => {
    const limited = limitedIn(all);
    return limited.length === 0 ? noLimit : judgeForm(limited, "form-b", misstatedReset);
  }),
  observe("ERR-17", unknownPathAsked, ({ answered }) => observed(`an unknown path: ${saidOf(answered)}`), {
    as: "path",
  }),
  observe("ERR-17", unknownMethodAsked, ({ answered }) => observed(`an unknown method: ${saidOf(answered)}`), {
    as: "method",
  }),
]);

const saidOf = (exchange: Exchange): string => [outcomeOf(exchange), codeOf(exchange) ?? ""].join(" ").trim();
