import { z } from "zod";

import { invokedLinesCheck } from "../stream/line-feeds.ts";
import { unusualInvokeChecks } from "../stream/unusual-bodies.ts";
import { formatValue, getPath, isObject } from "../../base/json.ts";
import { bodyJson, type Exchange, sentJson, statusOf } from "../../evidence/exchange.ts";
import { negativeQuantity } from "../../rules/bodies/fields.ts";
import { type Check, check, checkEvery, observe, suite } from "../../run/judge/check.ts";
import { breach, type Finding, follows, holds, observed, unproven } from "../../run/judge/finding.ts";
import { need } from "../../run/skip-reason.ts";
import type { ErrorCodeName } from "../../spec/events-and-errors.ts";
import { allExchanges, hasValidKey, splitAtReturns, exchangesOf } from "../shared/all-exchanges.ts";
import {
  bodyCases,
  checkEverySuccess,
  checkFields,
  fieldMatrix,
  mayBeRejectedAsInvalid,
  judgeOk,
  responseCases,
  responseCells,
  responseMatrix,
} from "../shared/cases.ts";
import {
  type CombinedResult,
  featureJudge,
  judgeAccepted,
  judgeCombinedFeatures,
  judgeRejection,
} from "../shared/acceptance.ts";
import { judgeDuration, type TimedExchange, durationUnitMismatch } from "../shared/durations.ts";
import { describeFields, describeStatus, hasStatus, isSuccess, outcomeOf } from "../shared/response.ts";
import { findEchoed } from "../shared/unicode-text.ts";
import {
  fewTokens,
  invoked,
  invokedAtMax,
  invokedAtMin,
  invokedOutOfRange,
  slowAgentInvoked,
  invokedUnknownAgent,
  invokedWithEmptyQuery,
  invokedWithNumber,
  invokedWithoutQuery,
  sessionHeld,
} from "./probes.ts";
import { isSessionRequired, sessionChecks } from "./sessions.ts";
import { withoutQueryCheck } from "./without-query.ts";
import { invokeCornerChecks } from "../coverage/checks.ts";
import { inapplicableForFewRequests } from "../shared/few-requests.ts";

const missingBody = (exchange: Exchange) => {
  if (!isSuccess(exchange)) return unproven(`the invoke did not succeed (${outcomeOf(exchange)})`);
  return isObject(bodyJson(exchange)) ? null : unproven("the response is not a JSON object");
};

const checkField = (clause: "INV-2" | "INV-3" | "INV-4" | "INV-5" | "INV-6"): Check =>
  checkFields(
    clause,
    { all: allExchanges, invoked },
    {
      table: "invoke",
      members: ({ all }) => bodyCases("invoke", all, isSuccess),
      judge: ({ root, tookMs }) =>
        clause === "INV-4"
          ? durationUnitMismatch("metadata.execution_time", getPath(root, "metadata", "execution_time"), tookMs)
          : null,
      whenEmpty: ({ invoked: { exchange } }) =>
        missingBody(exchange) ?? unproven("the object that should have the fields is missing"),
      ...(clause === "INV-4" && { presencePath: "metadata.execution_time" }),
    },
  );

const integer = z.int();
const usageSchema = z.looseObject({ prompt_tokens: integer, completion_tokens: integer, total_tokens: integer });

const judgeFeature = featureJudge(isSuccess);

const judgeTogether = ({ plain, tried }: { readonly plain: TimedExchange; readonly tried: CombinedResult<string> }) =>
  judgeCombinedFeatures(tried, plain.exchange, isSuccess);

const noRequestIds = unproven("fewer than two responses have a `request_id`");

/** Judges INV-8: all request ids differ. A restart can reset ids, so the exchanges must not span a restart. */
function judgeRequestIds(exchanges: readonly Exchange[]): Finding<never> {
  const byId = new Map<string, Exchange>();
  for (const exchange of exchanges) {
    const id = getPath(bodyJson(exchange), "metadata", "request_id");
    if (typeof id !== "string" || !isSuccess(exchange)) continue;
    const before = byId.get(id);
    if (before !== undefined)
      return breach("another `request_id` for each request", `${formatValue(id)} twice`, before, exchange);
    byId.set(id, exchange);
  }
  return byId.size < 2 ? noRequestIds : holds();
}

const judgeExecutionTime = (timed: TimedExchange) => {
  const { exchange } = timed;
  const missing = missingBody(exchange);
  if (missing !== null) return missing;
  const seconds = getPath(bodyJson(exchange), "metadata", "execution_time");
  return typeof seconds === "number"
    ? judgeDuration("`metadata.execution_time`", seconds, timed)
    : unproven("the response has no `metadata.execution_time`");
};

const judgeMistake = (rejected: Exchange, control: Exchange, status: number, code: ErrorCodeName | null) =>
  judgeRejection(rejected, { status, code, control, isControlAccepted: isSuccess(control) });

function hasOnlyValidTemperature(exchange: Exchange): boolean {
  const sent = sentJson(exchange.request);
  const parameters = getPath(sent, "parameters");
  const temperature = getPath(parameters, "temperature");
  if (!isObject(sent) || typeof sent["query"] !== "string" || Object.keys(sent).length > 2) return false;
  if (!isObject(parameters) || typeof temperature !== "number") return false;
  return Object.keys(parameters).length === 1 && temperature >= 0 && temperature <= 2;
}

const atMin = { plain: invoked, tried: invokedAtMin };
const atMax = { plain: invoked, tried: invokedAtMax };

export const invoke = suite("Invoke", [
  check("INV-1", atMin, ({ plain: { exchange, promised }, tried }) => {
    if (!promised && (statusOf(exchange) ?? 0) >= 500)
      return unproven(`the discovered agent fails (${outcomeOf(exchange)})`, need("agent"));
    if (isSessionRequired(exchange, tried)) return unproven("a request without `session_id` is rejected; see INV-17");
    return judgeOk(exchange);
  }),
  check("INV-1", atMin, judgeTogether, { as: "with several parameters" }),
  check("INV-1", atMax, judgeTogether, { as: "with temperature and max_tokens" }),
  invokedLinesCheck,
  ...unusualInvokeChecks,
  checkEverySuccess("INV-1", "invoke", mayBeRejectedAsInvalid),
  ...(["INV-2", "INV-3", "INV-4", "INV-5", "INV-6"] as const).map(checkField),
  checkEvery(
    "INV-7",
    { all: allExchanges, invoked },
    {
      matrix: fieldMatrix("invoke"),
      members: ({ all }) => bodyCases("invoke", all, isSuccess),
      judge: ({ root }) => {
        const { success, data } = usageSchema.safeParse(getPath(root, "usage"));
        if (!success) return undefined;
        const { prompt_tokens, completion_tokens, total_tokens } = data;
        return total_tokens === prompt_tokens + completion_tokens
          ? null
          : { expected: `\`total_tokens\` is ${prompt_tokens} + ${completion_tokens}`, actual: String(total_tokens) };
      },
      whenEmpty: unproven("no response has a complete `usage`"),
    },
  ),
  check("INV-8", { all: allExchanges, plain: invoked, atMin: invokedAtMin, atMax: invokedAtMax }, (evidence) => {
    const combined = [evidence.atMin, evidence.atMax].flatMap((each) => [each.together, ...Object.values(each.apart)]);
    const findings = splitAtReturns([evidence.plain.exchange, ...combined], evidence.all).map(judgeRequestIds);
    return (
      findings.find(({ kind }) => kind === "breach") ?? findings.find(({ kind }) => kind === "holds") ?? noRequestIds
    );
  }),
  check("INV-9", invoked, judgeExecutionTime),
  check("INV-9", slowAgentInvoked, judgeExecutionTime, { as: "slow" }),
  checkEvery(
    "INV-9",
    { all: allExchanges, invoked },
    {
      as: "not negative",
      matrix: fieldMatrix("invoke"),
      members: ({ all }) => bodyCases("invoke", all, isSuccess),
      judge: ({ root }) => negativeQuantity("invoke", root),
      whenEmpty: unproven("no response has an `execution_time`"),
    },
  ),
  check("INV-10", { plain: invoked, mistaken: invokedWithoutQuery }, ({ plain, mistaken }) =>
    judgeMistake(mistaken.refused, plain.exchange, 400, "MISSING_REQUIRED_FIELD"),
  ),
  check(
    "INV-10",
    { plain: invoked, tried: invokedAtMin, mistaken: invokedWithoutQuery },
    ({ plain: { exchange: plain }, tried, mistaken: { beside } }) => {
      if (judgeAccepted(tried, "session", plain, isSuccess).kind !== "holds")
        return unproven("a `session_id` is not accepted (INV-17)");
      return beside === null ? inapplicableForFewRequests : judgeMistake(beside, plain, 400, "MISSING_REQUIRED_FIELD");
    },
    { as: "in a session" },
  ),
  check(
    "INV-10",
    sessionHeld,
    ({ asked, withoutQuery }) =>
      withoutQuery === null
        ? inapplicableForFewRequests
        : judgeMistake(withoutQuery, asked, 400, "MISSING_REQUIRED_FIELD"),
    { as: "in a session that has begun" },
  ),
  withoutQueryCheck,
  check("INV-11", { plain: invoked, mistaken: invokedUnknownAgent }, ({ plain, mistaken }) =>
    judgeMistake(mistaken.refused, plain.exchange, 404, "AGENT_NOT_FOUND"),
  ),
  check("INV-12", atMin, judgeFeature("unknownKeys")),
  check("INV-13", atMin, judgeFeature("temperature"), { as: "0.0" }),
  check("INV-13", atMax, judgeFeature("temperature"), { as: "2.0" }),
  checkEvery(
    "INV-13",
    { all: allExchanges, invoked },
    {
      as: "between",
      matrix: responseMatrix(
        "every invoke with a `temperature` from 0.0 to 2.0 and no other parameter",
        responseCells([200], ["invoke"]),
      ),
      members: ({ all, invoked: { exchange: plain } }) =>
        responseCases(
          all,
          exchangesOf(all, "invoke"),
          // A rejection counts only if the server has accepted an invoke without parameters.
          (each) => hasOnlyValidTemperature(each) && hasValidKey(each, all) && (isSuccess(each) || isSuccess(plain)),
        ),
      judge: (exchange) => {
        if (isSuccess(exchange)) return null;
        if (!hasStatus(exchange, 400, 422)) return undefined;
        return { expected: "accepted, as the plain request is", actual: describeStatus(exchange) };
      },
      whenEmpty: unproven("no invoke with such a `temperature` was either accepted or rejected"),
    },
  ),
  check("INV-14", atMax, judgeFeature("maxTokens")),
  check("INV-15", invokedAtMax, ({ together, apart }) => {
    const exchange = apart.maxTokens ?? together;
    const missing = missingBody(exchange);
    if (missing !== null) return missing;
    const tokens = getPath(bodyJson(exchange), "usage", "completion_tokens");
    if (typeof tokens !== "number" || !Number.isInteger(tokens))
      return unproven("the response has no `usage.completion_tokens`");
    return tokens <= fewTokens
      ? holds()
      : breach(`at most ${fewTokens} \`completion_tokens\`, as \`max_tokens\` asked`, String(tokens), exchange);
  }),
  check("INV-16", atMin, judgeFeature("context")),
  check("INV-17", atMin, judgeFeature("session")),
  ...sessionChecks,
  observe("INV-19", invokedOutOfRange, ({ temperature, maxTokens }) =>
    observed(`temperature 2.5: ${describeStatus(temperature)}; max_tokens -1: ${describeStatus(maxTokens)}`),
  ),
  check("INV-20", { plain: invoked, odd: invokedWithNumber }, ({ plain, odd: { answered } }) => {
    if (isSuccess(answered)) return follows("accepted");
    const finding = judgeMistake(answered, plain.exchange, 400, null);
    return finding.kind === "holds" ? follows("refused") : finding;
  }),
  observe("INV-21", invokedWithEmptyQuery, ({ answered }) => observed(`answers ${describeStatus(answered)}`)),
  check("INV-22", atMin, ({ plain, tried }) => {
    const accepted = judgeAccepted(tried, "scripts", plain.exchange, isSuccess);
    if (accepted.kind !== "holds") return accepted;
    const exchange = isSuccess(tried.together) ? tried.together : (tried.apart.scripts ?? tried.together);
    if (exchange.answer.kind === "answered" && exchange.answer.body.kind === "base64")
      return breach("JSON in UTF-8", "a body that is not UTF-8", exchange);
    const { found, corruptions } = findEchoed(JSON.stringify(bodyJson(exchange)) ?? "");
    const [first] = corruptions;
    if (first !== undefined)
      return breach(
        `${formatValue(first.word)} of the query unchanged`,
        `${formatValue(first.received)} in the response`,
        exchange,
      );
    if (found > 0) return holds();
    if (getPath(bodyJson(exchange), "result") === undefined)
      return unproven("there is no `result`, which could repeat the query; see INV-2");
    return unproven(
      "the response does not repeat the query, so corruption cannot be detected",
      "`agents.answering` in the target file: an agent that repeats its query",
    );
  }),
  ...invokeCornerChecks,
  observe("INV-23", invoked, ({ exchange }) => {
    const result = getPath(bodyJson(exchange), "result");
    if (!isObject(result)) return unproven("there is no `result`");
    const fields = describeFields(result);
    return observed(fields === "" ? "`result` is empty" : `\`result\` has ${fields}`);
  }),
]);
