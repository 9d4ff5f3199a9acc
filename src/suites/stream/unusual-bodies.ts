import { getPath } from "../../base/json.ts";
import { bodyJson, type Exchange } from "../../evidence/exchange.ts";
import { type Check, check } from "../../run/judge/check.ts";
import { breach, type Breach, type Finding, follows, holds, inapplicable, unproven } from "../../run/judge/finding.ts";
import { invoked, invokedAtMax, invokedAtMin, slowAgentInvoked } from "../invoke/probes.ts";
import { type Accepts, type CombinedResult, judgeAccepted, judgeCombinedFeatures } from "../shared/acceptance.ts";
import type { Probe } from "../../run/probe.ts";
import { maxStreamSeconds, type TimedExchange, tookMsOf } from "../shared/durations.ts";
import { inapplicableForFewRequests } from "../shared/few-requests.ts";
import { describeStatus, hasStatus, isSuccess, outcomeOf } from "../shared/response.ts";
import { doneSeconds, isStreamAccepted, textOf } from "./events.ts";
import { streamed } from "./probes.ts";
import { slowInvokeWithEveryField, type UnusualBodies, unusualInvoke, unusualStream } from "./unusual-probes.ts";

const since = "1.2";

type Judge<F extends string> = (unusual: UnusualBodies<F>, plain: Exchange, accepts: Accepts) => Finding<never>;

const judgeFeature =
  <F extends string>(feature: F): Judge<F> =>
  ({ tried }, plain, accepts) =>
    judgeAccepted(tried, feature, plain, accepts);

const judgeTogether: Judge<string> = ({ tried }, plain, accepts) => judgeCombinedFeatures(tried, plain, accepts);

/** Returns a judge of an unusual query. A server must accept the query `0`, but may reject a NUL character. */
const judgeText =
  (name: "nul" | "zero"): Judge<string> =>
  ({ [name]: exchange }, plain, accepts) => {
    if (accepts(exchange) || (name === "nul" && hasStatus(exchange, 400, 422))) return holds();
    if (!accepts(plain)) return unproven(`a plain request was not accepted either (${outcomeOf(plain)})`);
    if (exchange.answer.kind !== "answered" || hasStatus(exchange, 401, 429))
      return unproven(`the request got ${outcomeOf(exchange)}`);
    const expected = name === "nul" ? "accepted, or rejected as invalid input" : "accepted, as the plain request is";
    return breach(expected, describeStatus(exchange), exchange, plain);
  };

const checksOf =
  <F extends string>(
    unusual: Probe<UnusualBodies<F> | null>,
    control: Probe<{ readonly exchange: Exchange }>,
    accepts: Accepts,
  ) =>
  (
    clause: "INV-1" | "INV-12" | "INV-13" | "INV-16" | "SSE-1" | "SSE-22" | "SSE-34",
    as: string,
    judge: Judge<F>,
  ): Check =>
    check(
      clause,
      { unusual, control },
      ({ unusual: sent, control: plain }) =>
        sent === null ? inapplicableForFewRequests : judge(sent, plain.exchange, accepts),
      { as, since },
    );

const checkInvoke = checksOf(unusualInvoke, invoked, isSuccess);
const checkStream = checksOf(unusualStream, streamed, isStreamAccepted);

function judgeLongWord({ long }: UnusualBodies<string>, invoke: UnusualBodies<string> | null): Finding<never> {
  if (long === undefined || !isStreamAccepted(long)) return unproven("the long query was not accepted");
  const text = textOf(long);
  if (!text.includes("\uFFFD"))
    return /[^\p{ASCII}]/u.test(text) ? holds() : unproven("the stream's text has no multi-byte character");
  const whole = invoke?.long;
  if (whole === undefined || !isSuccess(whole) || bodyText(whole).includes("\uFFFD"))
    return unproven("no invoke shows that the agent's text has no U+FFFD itself");
  return breach("chunks that, joined, are valid Unicode", "a broken character (U+FFFD)", long, whole);
}

const bodyText = (exchange: Exchange): string => JSON.stringify(bodyJson(exchange)) ?? "\uFFFD";

function judgeUnit(field: string, seconds: number, timed: TimedExchange): null | Breach {
  const tookMs = tookMsOf(timed);
  if (seconds <= maxStreamSeconds(tookMs)) return null;
  const actual = `${seconds}, although the request took ${(tookMs / 1000).toFixed(3)} s`;
  return breach(`${field}, in seconds`, actual, timed.exchange);
}

function judgeDone({ tried, clockAfterMs }: { readonly tried: CombinedResult<string>; readonly clockAfterMs: number }) {
  const exchange = tried.together;
  const seconds = doneSeconds(exchange);
  if (seconds === null) return unproven(`no \`execution_time\` to judge (${outcomeOf(exchange)})`);
  return judgeUnit("`execution_time` of `done`", seconds, { exchange, clockAfterMs }) ?? holds();
}

function judgeMetadata(timed: TimedExchange): Finding<"present"> {
  if (!isSuccess(timed.exchange)) return unproven(`the invoke did not succeed (${outcomeOf(timed.exchange)})`);
  const seconds = getPath(bodyJson(timed.exchange), "metadata", "execution_time");
  if (typeof seconds !== "number") return inapplicable("the response has no `metadata.execution_time`");
  return judgeUnit("`metadata.execution_time`", seconds, timed) ?? follows("present");
}

export const unusualInvokeChecks: readonly Check[] = [
  checkInvoke("INV-1", "unusual names and values", judgeTogether),
  checkInvoke("INV-1", "unusual text", judgeFeature("marks")),
  checkInvoke("INV-1", "NUL in a session", judgeText("nul")),
  checkInvoke("INV-1", "zero as text", judgeText("zero")),
  checkInvoke("INV-12", "unusual keys", judgeFeature("keys")),
  checkInvoke("INV-13", "two decimals", judgeFeature("temperature")),
  checkInvoke("INV-16", "unusual keys", judgeFeature("context")),
  check(
    "INV-1",
    { every: slowInvokeWithEveryField, plain: slowAgentInvoked, atMin: invokedAtMin, atMax: invokedAtMax },
    ({ every, plain, atMin, atMax }) => {
      if (every === null) return inapplicableForFewRequests;
      if (isSuccess(every.exchange)) return holds();
      if (!isSuccess(atMin.together) || !isSuccess(atMax.together))
        return unproven("a field is rejected on its own, or with others");
      return isSuccess(plain.exchange) && hasStatus(every.exchange, 400, 422)
        ? breach(
            "accepted, as it is without optional fields",
            outcomeOf(every.exchange),
            every.exchange,
            plain.exchange,
          )
        : unproven(`the request got ${outcomeOf(every.exchange)}`);
    },
    { as: "slow, with every field", since },
  ),
  check(
    "INV-4",
    slowInvokeWithEveryField,
    (every) => (every === null ? inapplicableForFewRequests : judgeMetadata(every)),
    {
      as: "slow, with every field",
      since,
    },
  ),
];

export const unusualStreamChecks: readonly Check[] = [
  checkStream("SSE-1", "unusual names and values", judgeTogether),
  checkStream("SSE-1", "unusual text", judgeFeature("marks")),
  checkStream("SSE-1", "NUL in a session", judgeText("nul")),
  checkStream("SSE-1", "zero as text", judgeText("zero")),
  checkStream("SSE-22", "unusual keys", judgeFeature("keys")),
  checkStream("SSE-22", "larger values", judgeFeature("slowing")),
  checkStream("SSE-34", "two decimals", judgeFeature("temperature")),
  checkStream("SSE-34", "unusual keys", judgeFeature("context")),
  check(
    "SSE-30",
    { stream: unusualStream, invoke: unusualInvoke },
    ({ stream, invoke }) => (stream === null ? inapplicableForFewRequests : judgeLongWord(stream, invoke)),
    { as: "long word", since },
  ),
  check("SSE-14", unusualStream, (unusual) => (unusual === null ? inapplicableForFewRequests : judgeDone(unusual)), {
    as: "with a delay",
    since,
  }),
];
