import { z } from "zod";

import { bodyJson, type Exchange, sentJson, statusOf } from "../../evidence/exchange.ts";
import { type Check, check, observe, suite } from "../../run/judge/check.ts";
import { breach, follows, holds, inapplicable, observed, unproven } from "../../run/judge/finding.ts";
import { checkEvery } from "../../run/judge/check-every.ts";
import { need } from "../../run/skip-reason.ts";
import { judgeAccepted, judgeCombined, type CombinedResult } from "../shared/combined-features.ts";
import {
  fewTokens,
  invoked,
  invokedAtMin,
  invokedOutOfRange,
  invokedSlowly,
  invokedUnknown,
  invokedAtMax,
  invokedWithEmptyQuery,
  invokedWithNumber,
  invokedWithoutQuery,
  sessionHeld,
  type TimedExchange,
} from "./probes.ts";
import { judgeRejection } from "../shared/rejection.ts";
import { describeStatus, hasStatus, isSuccess, outcomeOf, typeName } from "../shared/response.ts";
import { isSessionRequired, sessionChecks } from "./sessions.ts";
import { findEchoed } from "../shared/unicode-text.ts";
import { formatValue } from "../../base/format-value.ts";
import { getPath, isObject } from "../../base/json.ts";
import { judgeDuration, unitMismatch } from "../shared/durations.ts";
import { bodyCases, judgePresence, responseCases } from "../shared/cases.ts";
import { responseMatrix, responseCells, fieldMatrix } from "../shared/matrices.ts";
import { negativeQuantity, fieldMismatch } from "../../rules/bodies/fields.ts";
import { byEndpoint, allExchanges, hasValidKey } from "../shared/all-exchanges.ts";

const integer = z.int();
const usageShape = z.looseObject({ prompt_tokens: integer, completion_tokens: integer, total_tokens: integer });
/** Says why the fields of a response cannot be judged; `null` if they can. */
const withoutBody = (exchange: Exchange) => {
  if (!isSuccess(exchange)) return unproven(`the invoke did not succeed (${outcomeOf(exchange)})`);
  return isObject(bodyJson(exchange)) ? null : unproven("the answer is no JSON object");
};

/** Checks the fields of a clause on every successful invoke of the run. */
const field = (clause: (typeof fieldClauses)[number], isSeconds = false): Check =>
  checkEvery(
    clause,
    { all: allExchanges, invoked },
    {
      matrix: fieldMatrix("invoke"),
      members: ({ all }) => bodyCases("invoke", all, isSuccess),
      judge: ({ root, tookMs }) => {
        const wrong = fieldMismatch("invoke", clause, root);
        if (!isSeconds || wrong !== null) return wrong;
        return unitMismatch("metadata.execution_time", getPath(root, "metadata", "execution_time"), tookMs);
      },
      whenEmpty: ({ invoked: { exchange } }) =>
        withoutBody(exchange) ?? unproven("the fields stand in nothing that can be read"),
      judgeAcross: (answers) =>
        judgePresence(
          "invoke",
          clause,
          answers.map(({ root }) => root),
          clause === "INV-4" ? "metadata.execution_time" : undefined,
        ),
    },
  );

const fieldClauses = ["INV-2", "INV-3", "INV-4", "INV-5", "INV-6"] as const;

/** Judges whether one of the combined features is accepted. */
const accepts =
  <F extends string>(feature: F) =>
  ({ plain, tried }: { readonly plain: TimedExchange; readonly tried: CombinedResult<F> }) =>
    judgeAccepted(tried, feature, plain.exchange, isSuccess);

const executionTime = ({ exchange, clockAfterMs }: TimedExchange) => {
  const unable = withoutBody(exchange);
  if (unable !== null) return unable;
  const seconds = getPath(bodyJson(exchange), "metadata", "execution_time");
  return typeof seconds === "number"
    ? judgeDuration("`metadata.execution_time`", seconds, exchange, clockAfterMs)
    : unproven("the answer has no `metadata.execution_time`");
};

const refusedAs =
  (status: number, code: "MISSING_REQUIRED_FIELD" | "AGENT_NOT_FOUND") =>
  ({ plain, mistaken }: { readonly plain: TimedExchange; readonly mistaken: { readonly refused: Exchange } }) =>
    judgeRejection(mistaken.refused, {
      status,
      code,
      control: plain.exchange,
      isControlAccepted: isSuccess(plain.exchange),
    });

/** Whether a request has a temperature within the range and no other parameter. */
function isTemperate(exchange: Exchange): boolean {
  const parameters = getPath(sentJson(exchange.request), "parameters");
  const temperature = getPath(parameters, "temperature");
  if (!isObject(parameters) || typeof temperature !== "number") return false;
  return Object.keys(parameters).length === 1 && temperature >= 0 && temperature <= 2;
}

const cool = { plain: invoked, tried: invokedAtMin };
const warm = { plain: invoked, tried: invokedAtMax };
const answers = { plain: invoked, cool: invokedAtMin, warm: invokedAtMax };

/** All successful responses of three probes, in the order of sending. */
const successes = (evidence: {
  readonly plain: TimedExchange;
  readonly cool: CombinedResult<string>;
  readonly warm: CombinedResult<string>;
}): Exchange[] =>
  [
    evidence.plain.exchange,
    ...[evidence.cool, evidence.warm].flatMap(({ together, apart }) => [together, ...Object.values(apart)]),
  ].filter((each): each is Exchange => each !== undefined && isSuccess(each));

export const invoke = suite("Invoke", [
  check("INV-1", cool, ({ plain: { exchange, promised }, tried }) => {
    if (hasStatus(exchange, 429)) return unproven("a limit refused the request (429)");
    if (!promised && (statusOf(exchange) ?? 0) >= 500)
      return unproven(`the agent that was found fails (${outcomeOf(exchange)})`, need("agent"));
    if (isSessionRequired(exchange, tried)) return unproven("a request without `session_id` is refused; see INV-17");
    return hasStatus(exchange, 200) ? holds() : breach("200", outcomeOf(exchange), exchange);
  }),
  check("INV-1", cool, ({ plain, tried }) => judgeCombined(tried, plain.exchange, isSuccess), {
    as: "with several parameters",
  }),
  check("INV-1", warm, ({ plain, tried }) => judgeCombined(tried, plain.exchange, isSuccess), {
    as: "with temperature and max_tokens",
  }),
  ...fieldClauses.map((clause) => field(clause, clause === "INV-4")),
  checkEvery(
    "INV-7",
    { all: allExchanges, invoked },
    {
      matrix: fieldMatrix("invoke"),
      members: ({ all }) => bodyCases("invoke", all, isSuccess),
      judge: ({ root }) => {
        const { success, data } = usageShape.safeParse(getPath(root, "usage"));
        if (!success) return undefined;
        const { prompt_tokens, completion_tokens, total_tokens } = data;
        return total_tokens === prompt_tokens + completion_tokens
          ? null
          : { expected: `\`total_tokens\` is ${prompt_tokens} + ${completion_tokens}`, actual: String(total_tokens) };
      },
      whenEmpty: unproven("no answer had a whole `usage`"),
    },
  ),
  check("INV-8", answers, (evidence) => {
    const known = new Map<string, Exchange>();
    for (const exchange of successes(evidence)) {
      const id = getPath(bodyJson(exchange), "metadata", "request_id");
      if (typeof id !== "string") continue;
      const before = known.get(id);
      if (before !== undefined)
        return breach("another `request_id` for each request", `${formatValue(id)} twice`, before, exchange);
      known.set(id, exchange);
    }
    return known.size < 2 ? unproven("fewer than two answers had a `request_id`") : holds();
  }),
  check("INV-9", invoked, executionTime),
  check("INV-9", invokedSlowly, executionTime, { as: "slow" }),
  checkEvery(
    "INV-9",
    { all: allExchanges, invoked },
    {
      as: "not negative",
      matrix: fieldMatrix("invoke"),
      members: ({ all }) => bodyCases("invoke", all, isSuccess),
      judge: ({ root }) => negativeQuantity("invoke", root),
      whenEmpty: unproven("no answer told an `execution_time`"),
    },
  ),
  check("INV-10", { plain: invoked, mistaken: invokedWithoutQuery }, refusedAs(400, "MISSING_REQUIRED_FIELD")),
  check(
    "INV-10",
    { plain: invoked, tried: invokedAtMin, mistaken: invokedWithoutQuery },
    ({ plain, tried, mistaken: { beside } }) => {
      if (judgeAccepted(tried, "session", plain.exchange, isSuccess).kind !== "holds")
        return unproven("a `session_id` is not accepted (INV-17)");
      return beside === null
        ? inapplicable("the key has few requests a minute")
        : refusedAs(400, "MISSING_REQUIRED_FIELD")({ plain, mistaken: { refused: beside } });
    },
    { as: "in a session" },
  ),
  check(
    "INV-10",
    sessionHeld,
    ({ asked, withoutQuery }) =>
      withoutQuery === null
        ? inapplicable("the key has few requests a minute")
        : judgeRejection(withoutQuery, {
            status: 400,
            code: "MISSING_REQUIRED_FIELD",
            control: asked,
            isControlAccepted: isSuccess(asked),
          }),
    { as: "in a session that has begun" },
  ),
  check("INV-11", { plain: invoked, mistaken: invokedUnknown }, refusedAs(404, "AGENT_NOT_FOUND")),
  check("INV-12", cool, accepts("unknownKeys")),
  check("INV-13", cool, accepts("temperature"), { as: "0.0" }),
  check("INV-13", warm, accepts("temperature"), { as: "2.0" }),
  checkEvery(
    "INV-13",
    { all: allExchanges, invoked },
    {
      as: "between",
      matrix: responseMatrix(
        "every invoke with a `temperature` from 0.0 to 2.0, beside no other parameter",
        responseCells([200], ["invoke"]),
      ),
      members: ({ all, invoked: { exchange: plain } }) =>
        responseCases(
          (byEndpoint(all).get("invoke") ?? []).filter(
            // A rejection proves something only if the plain request is accepted.
            (each) => isTemperate(each) && hasValidKey(each, all) && (isSuccess(each) || isSuccess(plain)),
          ),
          all,
        ),
      judge: (exchange) => {
        if (isSuccess(exchange)) return null;
        if (!hasStatus(exchange, 400, 422)) return undefined;
        return { expected: "accepted, as the plain request is", actual: describeStatus(exchange) };
      },
      whenEmpty: unproven("no invoke with such a `temperature` came to a verdict"),
    },
  ),
  check("INV-14", warm, accepts("maxTokens")),
  check("INV-15", invokedAtMax, ({ together, apart }) => {
    const exchange = apart.maxTokens ?? together;
    const unable = withoutBody(exchange);
    if (unable !== null) return unable;
    const tokens = getPath(bodyJson(exchange), "usage", "completion_tokens");
    if (typeof tokens !== "number" || !Number.isInteger(tokens))
      return unproven("the answer has no `usage.completion_tokens`");
    return tokens <= fewTokens
      ? holds()
      : breach(`at most ${fewTokens} \`completion_tokens\`, as \`max_tokens\` asked`, String(tokens), exchange);
  }),
  check("INV-16", cool, accepts("context")),
  check("INV-17", cool, accepts("session")),
  ...sessionChecks,
  observe("INV-19", invokedOutOfRange, ({ temperature, maxTokens }) =>
    observed(`temperature 2.5: ${describeStatus(temperature)}; max_tokens -1: ${describeStatus(maxTokens)}`),
  ),
  check("INV-20", { plain: invoked, odd: invokedWithNumber }, ({ plain, odd: { answered } }) => {
    if (isSuccess(answered)) return follows("accepted");
    const finding = judgeRejection(answered, {
      status: 400,
      code: null,
      control: plain.exchange,
      isControlAccepted: isSuccess(plain.exchange),
    });
    return finding.kind === "holds" ? follows("refused") : finding;
  }),
  observe("INV-21", invokedWithEmptyQuery, ({ answered }) => observed(`answers ${describeStatus(answered)}`)),
  check("INV-22", cool, ({ plain, tried }) => {
    const accepted = judgeAccepted(tried, "scripts", plain.exchange, isSuccess);
    if (accepted.kind !== "holds") return accepted;
    const exchange = isSuccess(tried.together) ? tried.together : (tried.apart.scripts ?? tried.together);
    if (exchange.answer.kind === "answered" && exchange.answer.body.kind === "base64")
      return breach("JSON in UTF-8", "a body that is not UTF-8", exchange);
    const { found, corruptions } = findEchoed(JSON.stringify(bodyJson(exchange)) ?? "");
    const [harm] = corruptions;
    if (harm !== undefined)
      return breach(
        `${formatValue(harm.word)} of the query unharmed`,
        `${formatValue(harm.received)} in the answer`,
        exchange,
      );
    return found > 0
      ? holds()
      : unproven(
          "the answer does not repeat the query, so what arrived cannot be seen",
          "`agents.answering` in the target file: an agent that repeats its query",
        );
  }),
  observe("INV-23", invoked, ({ exchange }) => {
    const result = getPath(bodyJson(exchange), "result");
    if (!isObject(result)) return unproven("no `result` came");
    const fields = Object.entries(result).map(([name, value]) => `${name} (${typeName(value)})`);
    return observed(fields.length === 0 ? "`result` is empty" : `\`result\` has ${fields.join(", ")}`);
  }),
]);
