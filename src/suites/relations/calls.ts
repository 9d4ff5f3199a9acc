import { formatValue, getPath } from "../../base/json.ts";
import { bodyJson, type Exchange, sentJson, statusOf } from "../../evidence/exchange.ts";
import { fieldMismatch } from "../../rules/bodies/fields.ts";
import { type Check, check } from "../../run/judge/check.ts";
import { breach, type Finding, holds, unproven } from "../../run/judge/finding.ts";
import { allExchanges, type AllExchanges, exchangesOf, successesOf } from "../shared/all-exchanges.ts";
import { isSuccess, outcomeOf, isComplete } from "../shared/response.ts";
import { repeatsAnyWord } from "../invoke/sessions.ts";
import { eventsOf, isEventStream, readEvents, describeSequence } from "../stream/events.ts";
import { streamed } from "../stream/probes.ts";
import { type ComparedPair, invokeFields, pairCheck } from "./pairs.ts";
import { degradedInvoked, sessionsAtOnce, timedOutInStream } from "./probes.ts";
import { inapplicableForFewRequests } from "../shared/few-requests.ts";

interface Call extends ComparedPair {
  readonly second: Exchange;
  readonly usage: unknown;
}

const callsOf = (all: AllExchanges): Call[] => [...invokesOf(all), ...streamsOf(all)];

const invokesOf = (all: AllExchanges): Call[] =>
  successesOf(all, "invoke").map((second) => ({ first: null, second, usage: getPath(invokeFields(second), "usage") }));

const streamsOf = (all: AllExchanges): Call[] =>
  exchangesOf(all, "stream")
    .filter(isEventStream)
    .map((second) => ({ first: null, second, usage: readEvents(second, "done")[0]?.data["usage"] }));

const isCount = (value: unknown): value is number => Number.isInteger(value);

const checkTimedOutStream = (clause: "SSE-15" | "SSE-17", judge: (stream: Exchange) => Finding<never>): Check =>
  check(
    clause,
    timedOutInStream,
    ({ exchange }) =>
      isEventStream(exchange) ? judge(exchange) : unproven(`no stream opened (${outcomeOf(exchange)})`),
    { as: "timing out", since: "1.1" },
  );

const sharedRules = [
  pairCheck(
    "INV-15",
    { all: allExchanges, streamed },
    {
      as: "every invoke and stream",
      between: "max_tokens and usage",
      pairs: ({ all }) => callsOf(all),
      judge: ({ second, usage }) => {
        const max = getPath(sentJson(second.request), "parameters", "max_tokens");
        const used = getPath(usage, "completion_tokens");
        if (!isCount(max) || max < 1 || !isCount(used)) return undefined;
        return used <= max
          ? null
          : { expected: `at most ${max} \`completion_tokens\`, as \`max_tokens\` asked`, actual: String(used) };
      },
      otherwise: unproven("no response to a request with `max_tokens` has `completion_tokens`"),
    },
  ),
  pairCheck(
    "INV-7",
    { all: allExchanges, streamed },
    {
      as: "streams",
      between: "counts of a stream",
      pairs: ({ all }) => streamsOf(all),
      judge: ({ usage }) => {
        const [prompt, completion, total] = ["prompt_tokens", "completion_tokens", "total_tokens"].map((name) =>
          getPath(usage, name),
        );
        if (!isCount(prompt) || !isCount(completion) || !isCount(total)) return undefined;
        return total === prompt + completion
          ? null
          : { expected: `\`total_tokens\` is ${prompt} + ${completion}`, actual: String(total) };
      },
      otherwise: unproven("no `done` event has a complete `usage`"),
    },
  ),
  checkTimedOutStream("SSE-15", (exchange) => {
    const [first] = readEvents(exchange, "error");
    if (first === undefined)
      return unproven(`the stream has no \`error\` event that can be read (${describeSequence(exchange)})`);
    const mismatch = fieldMismatch("streamError", "SSE-15", first.data);
    return mismatch === null || mismatch === undefined ? holds() : breach(mismatch.expected, mismatch.actual, exchange);
  }),
  checkTimedOutStream("SSE-17", (exchange) => {
    const last = eventsOf(exchange).at(-1)?.name;
    if (last === "error") return holds();
    if (!isComplete(exchange) || last === "done")
      return unproven(`the stream did not run into a timeout (${describeSequence(exchange)})`);
    return breach("an `error` event", describeSequence(exchange), exchange);
  }),
];

/** Endpoints without a field `status`. A `status` in their responses belongs to the envelope `{status, data}`. */
const endpointsWithoutStatus = ["invoke", "list", "usage", "webhooks", "deliveries", "alerts", "keyUsage"] as const;

function errorPartOf(body: unknown): string | null {
  if (getPath(body, "status") === "error") return "`status` `error`";
  const code = getPath(body, "error", "code");
  return typeof code === "string" ? `an \`error\` with the code ${formatValue(code)}` : null;
}

const successWithoutError = pairCheck("ERR-18", allExchanges, {
  between: "status and body",
  pairs: (all) =>
    endpointsWithoutStatus.flatMap((endpoint) => successesOf(all, endpoint).map((second) => ({ first: null, second }))),
  judge: ({ second }) => {
    const part = errorPartOf(bodyJson(second));
    return part === null ? null : { expected: `no error in a response ${statusOf(second)}`, actual: part };
  },
  otherwise: unproven("no request succeeded"),
});

const degradedAnswers = check(
  "HLT-11",
  degradedInvoked,
  ({ before, invoked, after }) => {
    if ([before, after].some((each) => getPath(bodyJson(each), "status") !== "degraded"))
      return unproven("the agent is not degraded before and after; see HLT-11");
    if (invoked.some(isSuccess)) return holds();
    const failed = invoked.filter((each) => (statusOf(each) ?? 0) >= 500);
    return failed.length > 1
      ? breach("an answer, as a degraded agent is functional", failed.map(outcomeOf).join(", then "), before, ...failed)
      : unproven(`an invoke was neither answered nor failed twice (${invoked.map(outcomeOf).join(", ")})`);
  },
  { as: "answers", since: "1.1" },
);

const severalSessions = check(
  "INV-18",
  sessionsAtOnce,
  (sessions) => {
    if (sessions === null) return inapplicableForFewRequests;
    const { control, first, third } = sessions;
    const failed = [control, first, third].map(({ response }) => response).find((each) => !isSuccess(each));
    if (failed !== undefined) return unproven(`an invoke in a session did not succeed (${outcomeOf(failed)})`);
    if (!repeatsAnyWord(control.response, control.word))
      return unproven("the agent does not repeat earlier texts; see INV-18");
    const forgotten = [first, third].find(({ texts, response }) => !repeatsAnyWord(response, ...texts));
    if (forgotten === undefined) return holds();
    const { texts, opening, response } = forgotten;
    const actual = `no such word: ${formatValue(getPath(bodyJson(response), "result"))}`;
    return breach(
      `a word of this session, ${texts.join(" or ")}, while other sessions go on`,
      actual,
      opening,
      response,
    );
  },
  { as: "several sessions", since: "1.1" },
);

export const agentCallChecks = [...sharedRules, successWithoutError, degradedAnswers, severalSessions];
