import { streamCornerChecks } from "../coverage/checks.ts";
import { streamWithoutQueryCheck } from "../invoke/without-query.ts";
import { formatValue, getPath } from "../../base/json.ts";
import { type Exchange, headerValues, sentJson } from "../../evidence/exchange.ts";
import { chunksBetween } from "../../rules/streams/streams.ts";
import { check, checkEvery, observe, suite } from "../../run/judge/check.ts";
import { breach, holds, inapplicable, observed, unproven } from "../../run/judge/finding.ts";
import { featureJudge, judgeAccepted, judgeCombinedFeatures, judgeRejection } from "../shared/acceptance.ts";
import { checkEverySuccess, fieldMatrix, mayBeRejectedAsInvalid } from "../shared/cases.ts";
import { judgeDuration, type TimedExchange, tookMsOf } from "../shared/durations.ts";
import { describeStatus, hasStatus, outcomeOf } from "../shared/response.ts";
import { findEchoed } from "../shared/unicode-text.ts";
import { disconnectCheck } from "./disconnect.ts";
import {
  doneSeconds,
  eventsOf,
  isEventStream,
  hasEnded,
  isResumed,
  isStreamAccepted,
  isWellNamed,
  orderOf,
  readEvents,
  describeSequence,
  textOf,
} from "./events.ts";
import { streamedLinesCheck } from "./line-feeds.ts";
import { resumedStreamChecks } from "./resumed-streams.ts";
import { delayedStreamTimesCheck } from "./delayed-streams.ts";
import { streamFailureChecks, missingStream } from "./failures.ts";
import {
  everyStream,
  streamed,
  streamedAsJson,
  streamedFromTwo,
  streamedInSmallChunks,
  streamedSlowly,
  streamedUnknownAgent,
  streamedWithAllFeatures,
  streamedWithDelay,
  streamedWithoutQuery,
  streamSessionHeld,
  type TemperatureResult,
  type TimedStream,
} from "./probes.ts";
import { sequenceChecks } from "./sequence.ts";
import { unusualStreamChecks } from "./unusual-bodies.ts";

const together = { plain: streamed, tried: streamedWithAllFeatures };

const judgeFeature = featureJudge(isStreamAccepted);

const judgeMistake = (plain: TimedStream, rejected: Exchange, status: number, code: "AGENT_NOT_FOUND" | null) =>
  judgeRejection(rejected, {
    status,
    code,
    control: plain.exchange,
    isControlAccepted: isStreamAccepted(plain.exchange),
  });

function judgeWithTemperature({ tempered, exchange }: TemperatureResult) {
  if (isStreamAccepted(tempered)) return holds();
  if (tempered === exchange || !isStreamAccepted(exchange))
    return unproven(`the request with both was neither accepted nor rejected (${outcomeOf(tempered)})`);
  return breach("accepted, as it is without the temperature", outcomeOf(tempered), tempered, exchange);
}

const judgeExecutionTime = (timed: TimedExchange) => {
  const seconds = doneSeconds(timed.exchange);
  return seconds === null
    ? unproven("there is no `done` event with an `execution_time`")
    : judgeDuration("`execution_time` of `done`", seconds, timed);
};

function requestedSession({ request }: Exchange): string | undefined {
  const session = getPath(sentJson(request), "session_id");
  return typeof session === "string" ? session : undefined;
}

/**
 * Minimum `max_tokens` of a stream that must have chunks. With a lower value, a reasoning model can use up all tokens
 * before its first chunk.
 */
const minTokensForChunk = 100;

const hasGenerated = (exchange: Exchange): boolean =>
  Number(getPath(sentJson(exchange.request), "parameters", "max_tokens") ?? Infinity) >= minTokensForChunk &&
  readEvents(exchange, "done").some(({ data }) => Number(getPath(data, "usage", "completion_tokens")) > 0);

export const stream = suite("Stream", [
  check("SSE-1", streamed, ({ exchange, promised }) => {
    if (isEventStream(exchange)) return holds();
    if (hasStatus(exchange, 429)) return unproven("a limit refused the request (429)");
    const isRefused =
      exchange.answer.kind === "answered" && exchange.answer.status >= 400 && exchange.answer.status < 500;
    if (isRefused && !promised)
      return unproven(
        `the agent rejects the stream (${outcomeOf(exchange)}), and no agent was named for streams`,
        "`agents.streaming` in the target file: an agent that can stream",
      );
    return breach("200 with `Content-Type: text/event-stream`", describeKind(exchange), exchange);
  }),
  check("SSE-1", together, ({ plain, tried }) => judgeCombinedFeatures(tried, plain.exchange, isStreamAccepted), {
    as: "with every parameter",
  }),
  checkEverySuccess("SSE-1", "stream", mayBeRejectedAsInvalid),
  ...sequenceChecks,
  check("SSE-6", streamed, ({ exchange }) => {
    const missing = missingStream(exchange);
    if (missing !== null) return missing;
    const mismatch = chunksBetween.judge(orderOf(exchange));
    if (mismatch === undefined) return unproven(`the stream did not reach \`done\` (${describeSequence(exchange)})`);
    return mismatch === null ? holds() : breach(chunksBetween.expected, describeSequence(exchange), exchange);
  }),
  checkEvery(
    "SSE-6",
    { streamed, all: everyStream },
    {
      as: "every",
      since: "1.1",
      matrix: fieldMatrix("chunk"),
      noun: "streams",
      members: ({ all }) =>
        all.streams
          .filter((each) => !isResumed(each) && hasGenerated(each))
          .map((each) => ({ cell: { of: "stream events", kind: "chunk" }, proof: each, subject: each })),
      judge: (exchange) => {
        const mismatch = chunksBetween.judge(orderOf(exchange));
        return typeof mismatch === "string"
          ? { expected: chunksBetween.expected, actual: describeSequence(exchange) }
          : mismatch;
      },
      whenEmpty: inapplicable("no stream reported `completion_tokens` in its `done` event"),
    },
  ),
  ...streamFailureChecks,
  check("SSE-20", { plain: streamed, mistaken: streamedWithoutQuery }, ({ plain, mistaken }) =>
    judgeMistake(plain, mistaken.refused, 400, null),
  ),
  streamWithoutQueryCheck,
  check("SSE-21", { plain: streamed, mistaken: streamedUnknownAgent }, ({ plain, mistaken }) =>
    judgeMistake(plain, mistaken.refused, 404, "AGENT_NOT_FOUND"),
  ),
  check("SSE-34", together, judgeFeature("temperature"), { as: "temperature" }),
  check("SSE-34", streamedWithDelay, judgeWithTemperature, { as: "temperature 0.0" }),
  check("SSE-34", streamedInSmallChunks, judgeWithTemperature, { as: "temperature 2.0" }),
  check("SSE-34", together, judgeFeature("maxTokens"), { as: "max_tokens" }),
  check("SSE-34", together, judgeFeature("context"), { as: "context" }),
  check("SSE-22", together, judgeFeature("resume"), { as: "resume_from_index" }),
  check("SSE-22", together, judgeFeature("delay"), { as: "stream_delay_ms" }),
  check("SSE-22", together, judgeFeature("size"), { as: "chunk_size" }),
  check("SSE-22", together, judgeFeature("unknownKeys"), { as: "unknown keys" }),
  streamedLinesCheck,
  ...resumedStreamChecks,
  ...unusualStreamChecks,
  observe("SSE-23", { plain: streamed, other: streamedFromTwo }, ({ plain, other }) =>
    compareStreams(
      plain,
      other,
      () => `${describeFirstIndex(other.exchange)}; its text is ${describePart(plain.exchange, other.exchange)}`,
    ),
  ),
  observe("SSE-24", { plain: streamed, other: streamedWithDelay }, ({ plain, other }) =>
    compareStreams(
      plain,
      other,
      () => `${spanSeconds(other).toFixed(1)} s from first to last event instead of ${spanSeconds(plain).toFixed(1)} s`,
    ),
  ),
  observe("SSE-25", { plain: streamed, other: streamedInSmallChunks }, ({ plain, other }) =>
    compareStreams(
      plain,
      other,
      () => `the longest has ${longestChunk(other.exchange)} characters instead of ${longestChunk(plain.exchange)}`,
    ),
  ),
  check("SSE-26", together, judgeFeature("session")),
  checkEvery(
    "SSE-35",
    { asked: streamedWithAllFeatures, all: everyStream },
    {
      matrix: fieldMatrix("start"),
      noun: "events",
      members: ({ all }) =>
        all.streams.filter(isWellNamed).flatMap((exchange) =>
          readEvents(exchange, "start").map(({ data }) => ({
            cell: { of: "stream events", kind: "start" },
            proof: exchange,
            subject: { requested: requestedSession(exchange), reported: data["session_id"] },
          })),
        ),
      judge: ({ requested, reported }) => {
        if (requested === undefined || typeof reported !== "string") return undefined;
        return reported === requested
          ? null
          : { expected: `\`session_id\` ${formatValue(requested)}, as requested`, actual: formatValue(reported) };
      },
      whenEmpty: unproven("no stream of a session has a `session_id` in its `start`"),
    },
  ),
  check("SSE-36", streamSessionHeld, ({ word, told, asked, elsewhere }) => {
    const failed = [told, asked, elsewhere].find((each) => !isStreamAccepted(each));
    if (failed !== undefined) return unproven(`a stream of the session did not succeed (${outcomeOf(failed)})`);
    if (textOf(asked) === "") return unproven("no text can be read in the session's second stream");
    const repeatsWord = (exchange: Exchange): boolean => textOf(exchange).includes(word);
    if (repeatsWord(elsewhere)) return unproven("the agent repeats the word in another session too");
    if (repeatsWord(asked)) return holds();
    const expected = `the word of the session's first stream, ${word}, in its second`;
    return breach(expected, `no such word: ${formatValue(textOf(asked))}`, told, asked);
  }),
  disconnectCheck,
  check("SSE-29", streamedSlowly, (evidence) => {
    const { exchange, clockAtEventsMs } = evidence;
    const missing = missingStream(exchange);
    if (missing !== null) return missing;
    const last = eventsOf(exchange).at(-1);
    if (last === undefined || !hasEnded(exchange)) return unproven(`the stream did not end (${outcomeOf(exchange)})`);
    const tookMs = last.atMs + (clockAtEventsMs.at(-1) ?? 0) - exchange.sentMs - exchange.clockMs;
    if (tookMs < minSpreadMs) return unproven(`the stream took only ${(tookMs / 1000).toFixed(1)} s`);
    if (spanSeconds(evidence) * 1000 >= tookMs / 10) return holds();
    return breach(
      `events spread over the ${(tookMs / 1000).toFixed(1)} s that the stream took`,
      `all of them within ${spanSeconds(evidence).toFixed(2)} s at its end`,
      exchange,
    );
  }),
  check("SSE-30", together, ({ plain, tried }) => {
    const accepted = judgeAccepted(tried, "scripts", plain.exchange, isStreamAccepted);
    if (accepted.kind !== "holds") return accepted;
    const exchange = isStreamAccepted(tried.together) ? tried.together : (tried.apart.scripts ?? tried.together);
    const text = textOf(exchange);
    if (!text.isWellFormed() || text.includes("\uFFFD"))
      return breach(
        "chunks that, joined, are valid Unicode",
        `a broken character: ${formatValue(excerptAround(text))}`,
        exchange,
      );
    const [first] = findEchoed(text).corruptions;
    if (first !== undefined)
      return breach(
        `${formatValue(first.word)} of the query unchanged`,
        `${formatValue(first.received)} in the chunks`,
        exchange,
      );
    return /[^\p{ASCII}]/u.test(text)
      ? holds()
      : unproven(
          "the stream's text has no multi-byte character",
          "`agents.streaming` in the target file: an agent that repeats its query",
        );
  }),
  check("SSE-31", streamed, judgeExecutionTime),
  check("SSE-31", streamedSlowly, judgeExecutionTime, { as: "slow" }),
  observe("SSE-32", streamedSlowly, (timed) => {
    const { exchange } = timed;
    if (!isEventStream(exchange)) return unproven(`no stream opened (${outcomeOf(exchange)})`);
    const seconds = tookMsOf(timed) / 1000;
    return observed(`a stream of ${seconds.toFixed(0)} s ended with ${eventsOf(exchange).at(-1)?.name ?? "no event"}`);
  }),
  observe("SSE-33", streamedAsJson, ({ exchange }) =>
    observed(`\`Accept: application/json\` gets ${describeKind(exchange)}`),
  ),
  ...streamCornerChecks,
  delayedStreamTimesCheck,
]);

/** Minimum duration of a judged stream. A shorter one does not show whether the server sends events one by one. */
const minSpreadMs = 1000;

const describeKind = (exchange: Exchange): string =>
  `${outcomeOf(exchange)} with ${headerValues(exchange, "Content-Type")[0] ?? "no content type"}`;

function spanSeconds({ exchange, clockAtEventsMs }: Pick<TimedStream, "exchange" | "clockAtEventsMs">): number {
  const [first, last] = [eventsOf(exchange)[0], eventsOf(exchange).at(-1)];
  if (first === undefined || last === undefined) return 0;
  return (last.atMs - first.atMs + (clockAtEventsMs.at(-1) ?? 0) - (clockAtEventsMs[0] ?? 0)) / 1000;
}

function compareStreams(plain: TimedStream, { exchange }: Pick<TimedStream, "exchange">, describe: () => string) {
  if (!isStreamAccepted(plain.exchange)) return unproven(`the plain stream failed (${outcomeOf(plain.exchange)})`);
  if (!isEventStream(exchange)) return observed(`answers ${describeStatus(exchange)}`);
  const [count, plainCount] = [exchange, plain.exchange].map((each) => readEvents(each, "chunk").length);
  return observed(`${count} chunks instead of ${plainCount}; ${describe()}`);
}

function describeFirstIndex(exchange: Exchange): string {
  const index = readEvents(exchange, "chunk")[0]?.data["index"];
  return index === undefined ? "no index" : `the first index is ${formatValue(index)}`;
}

function describePart(plain: Exchange, other: Exchange): string {
  const [whole, part] = [textOf(plain), textOf(other)];
  if (part === whole) return "the whole text";
  return part !== "" && whole.endsWith(part) ? "the end of the text" : "another text";
}

const longestChunk = (exchange: Exchange): number =>
  Math.max(
    0,
    ...readEvents(exchange, "chunk").map(({ data: { content } }) =>
      typeof content === "string" ? Array.from(content).length : 0,
    ),
  );

function excerptAround(text: string): string {
  const points = Array.from(text);
  const at = points.findIndex((point) => point === "\uFFFD" || !point.isWellFormed());
  return points.slice(Math.max(0, at - 8), at + 8).join("");
}
