import { type Exchange, headerValues } from "../../evidence/exchange.ts";
import { check, observe, suite } from "../../run/judge/check.ts";
import { breach, holds, observed, unproven } from "../../run/judge/finding.ts";
import { wholeNumberHeader } from "../../rules/limits/sample.ts";
import { anyOf, need } from "../../run/skip-reason.ts";
import { headerNames } from "../../spec/headers.ts";
import { judgeDuration } from "../shared/durations.ts";
import { judgeAccepted, judgeCombined, type CombinedResult } from "../shared/combined-features.ts";
import { judgeRejection } from "../shared/rejection.ts";
import { codeOf, hasStatus, isSuccess, outcomeOf } from "../shared/response.ts";
import { findEchoed } from "../shared/unicode-text.ts";
import { formatValue } from "../../base/format-value.ts";
import { getPath } from "../../base/json.ts";
import { chunksBetween } from "../../rules/streams/rules.ts";
import { disconnected } from "./disconnect.ts";
import {
  eventsOf,
  isEventStream,
  isOver,
  isStreamAccepted,
  orderOf,
  readEvents,
  sequenceText,
  textOf,
} from "./events.ts";
import {
  streamed,
  streamedAsJson,
  streamedFromTwo,
  streamedInSmallChunks,
  streamedSlowly,
  streamedWithAllFeatures,
  streamedUnknown,
  streamedWithDelay,
  streamedWithoutQuery,
  type TemperatureResult,
  type TimedStream,
} from "./probes.ts";
import { failureChecks, missingStream } from "./failures.ts";
import { sequenceChecks } from "./sequence.ts";
import { sessionChecks } from "./sessions.ts";

const whoStreams = "`agents.streaming` in the target file: an agent that answers a stream";
const together = { plain: streamed, tried: streamedWithAllFeatures };

interface WithFeatures<F extends string> {
  readonly plain: TimedStream;
  readonly tried: CombinedResult<F>;
}

const accepts =
  <F extends string>(feature: F) =>
  ({ plain, tried }: WithFeatures<F>) =>
    judgeAccepted(tried, feature, plain.exchange, isStreamAccepted);

const refusedAs =
  (status: number, code: "AGENT_NOT_FOUND" | null) =>
  ({ plain, mistaken }: { readonly plain: TimedStream; readonly mistaken: { readonly refused: Exchange } }) =>
    judgeRejection(mistaken.refused, {
      status,
      code,
      control: plain.exchange,
      isControlAccepted: isStreamAccepted(plain.exchange),
    });

/** Judges whether a temperature is accepted together with a parameter that is accepted alone. */
function judgeTempered({ tempered, exchange }: TemperatureResult) {
  if (isStreamAccepted(tempered)) return holds();
  if (tempered === exchange || !isStreamAccepted(exchange))
    return unproven(`the request with it did not come to a verdict (${outcomeOf(tempered)})`);
  return breach("accepted, as it is without the temperature", outcomeOf(tempered), tempered, exchange);
}

const executionTime = ({ exchange, clockAfterMs }: Pick<TimedStream, "exchange" | "clockAfterMs">) => {
  const seconds = getPath(readEvents(exchange, "done")[0]?.data, "execution_time");
  return typeof seconds === "number"
    ? judgeDuration("`execution_time` of `done`", seconds, exchange, clockAfterMs)
    : unproven("no `done` event came with an `execution_time`");
};

export const stream = suite("Stream", [
  check("SSE-1", streamed, ({ exchange, promised }) => {
    if (isEventStream(exchange)) return holds();
    if (hasStatus(exchange, 429)) return unproven("a limit refused the request (429)");
    const isRefused =
      exchange.answer.kind === "answered" && exchange.answer.status >= 400 && exchange.answer.status < 500;
    if (isRefused && !promised)
      return unproven(`the agent that was found refuses to stream (${outcomeOf(exchange)})`, whoStreams);
    return breach("200 with `Content-Type: text/event-stream`", kindOf(exchange), exchange);
  }),
  check("SSE-1", together, ({ plain, tried }) => judgeCombined(tried, plain.exchange, isStreamAccepted), {
    as: "with every parameter",
  }),
  ...sequenceChecks,
  check("SSE-6", streamed, ({ exchange }) => {
    const unable = missingStream(exchange);
    if (unable !== null) return unable;
    const said = chunksBetween.judge(orderOf(exchange));
    if (said === undefined) return unproven(`the stream did not come to \`done\` (${sequenceText(exchange)})`);
    return said === null ? holds() : breach(chunksBetween.expected, sequenceText(exchange), exchange);
  }),
  ...failureChecks,
  check("SSE-20", { plain: streamed, mistaken: streamedWithoutQuery }, refusedAs(400, null)),
  check("SSE-21", { plain: streamed, mistaken: streamedUnknown }, refusedAs(404, "AGENT_NOT_FOUND")),
  check("SSE-34", together, accepts("temperature"), { as: "temperature" }),
  check("SSE-34", streamedWithDelay, judgeTempered, { as: "temperature 0.0" }),
  check("SSE-34", streamedInSmallChunks, judgeTempered, { as: "temperature 2.0" }),
  check("SSE-34", together, accepts("maxTokens"), { as: "max_tokens" }),
  check("SSE-34", together, accepts("context"), { as: "context" }),
  check("SSE-22", together, accepts("resume"), { as: "resume_from_index" }),
  check("SSE-22", together, accepts("delay"), { as: "stream_delay_ms" }),
  check("SSE-22", together, accepts("size"), { as: "chunk_size" }),
  check("SSE-22", together, accepts("unknownKeys"), { as: "unknown keys" }),
  observe("SSE-23", { plain: streamed, other: streamedFromTwo }, ({ plain, other }) =>
    compared(
      plain,
      other,
      () => `${firstIndex(other.exchange)}; its text is ${partOf(plain.exchange, other.exchange)}`,
    ),
  ),
  observe("SSE-24", { plain: streamed, other: streamedWithDelay }, ({ plain, other }) =>
    compared(
      plain,
      other,
      () => `${spanSeconds(other).toFixed(1)} s from first to last event instead of ${spanSeconds(plain).toFixed(1)} s`,
    ),
  ),
  observe("SSE-25", { plain: streamed, other: streamedInSmallChunks }, ({ plain, other }) =>
    compared(
      plain,
      other,
      () => `the longest has ${longestChunk(other.exchange)} characters instead of ${longestChunk(plain.exchange)}`,
    ),
  ),
  check("SSE-26", together, accepts("session")),
  ...sessionChecks,
  check("SSE-27", { left: disconnected, slow: streamedSlowly }, ({ left: evidence, slow }) => {
    if (evidence.kind === "no known limit")
      return unproven(
        "how many requests the key may have at once is not known",
        anyOf(need("tier"), "`tier` of a key in the target file"),
      );
    if (evidence.kind === "not opened")
      return unproven(
        `not all of ${evidence.held.length} streams began at once (${evidence.held.map(outcomeOf).join(", ")})`,
      );
    const { slots, held, beyond, wanted, after } = evidence;
    const failed = held.find((each) => !isEventStream(each));
    if (failed !== undefined) return unproven(`not all of ${slots} streams opened at once (${outcomeOf(failed)})`);
    if (held.some(isOver)) return unproven("a stream ended before the harness closed it");
    if (!hasStatus(beyond, 429))
      return unproven(
        `with ${slots} streams open one more request was not refused (${outcomeOf(beyond)}), so no slot can be seen`,
      );
    const last = after.at(-1);
    const admitted = after.filter(isSuccess).length;
    if (admitted >= wanted) return holds();
    if (last === undefined || !hasStatus(last, 429) || wholeNumberHeader(last, headerNames.rateRemaining) === 0)
      return unproven(
        `the next request met something else (${last === undefined ? "none was sent" : outcomeOf(last)})`,
      );
    const triedMs = last.sentMs - Math.max(...held.map(({ answer }) => answer.endMs));
    const movedMs = last.clockMs - (after[0]?.clockMs ?? last.clockMs);
    if (!isEnough({ triedMs, movedMs }, slow))
      return unproven("the agent pauses so long between two events that its next write may still have been to come");
    return breach(
      `${wanted} of ${slots} streams are admitted again within a few seconds after all were closed`,
      `${admitted} in ${(triedMs / 1000).toFixed(1)} s; the last of ${after.length} requests was refused with 429`,
      ...held.slice(0, 1),
      last,
    );
  }),
  check("SSE-29", streamedSlowly, (evidence) => {
    const { exchange, clockAtEventsMs } = evidence;
    const unable = missingStream(exchange);
    if (unable !== null) return unable;
    const last = eventsOf(exchange).at(-1);
    if (last === undefined || !isOver(exchange)) return unproven(`the stream did not end (${outcomeOf(exchange)})`);
    const tookMs = last.atMs + (clockAtEventsMs.at(-1) ?? 0) - exchange.sentMs - exchange.clockMs;
    if (tookMs < slowMs) return unproven(`the stream took only ${(tookMs / 1000).toFixed(1)} s`);
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
        `a broken character: ${formatValue(around(text))}`,
        exchange,
      );
    const [harm] = findEchoed(text).corruptions;
    if (harm !== undefined)
      return breach(
        `${formatValue(harm.word)} of the query unharmed`,
        `${formatValue(harm.received)} in the chunks`,
        exchange,
      );
    return /[^\p{ASCII}]/u.test(text)
      ? holds()
      : unproven(
          "the stream's text has no multi-byte character",
          "`agents.streaming` in the target file: an agent that repeats its query",
        );
  }),
  check("SSE-31", streamed, executionTime),
  check("SSE-31", streamedSlowly, executionTime, { as: "slow" }),
  observe("SSE-32", streamedSlowly, ({ exchange, clockAfterMs }) => {
    if (!isEventStream(exchange)) return unproven(`no stream opened (${outcomeOf(exchange)})`);
    const seconds = (exchange.answer.endMs - exchange.sentMs + clockAfterMs - exchange.clockMs) / 1000;
    return observed(`a stream of ${seconds.toFixed(0)} s ended with ${eventsOf(exchange).at(-1)?.name ?? "no event"}`);
  }),
  observe("SSE-33", streamedAsJson, ({ exchange }) =>
    observed(`\`Accept: application/json\` gets ${kindOf(exchange)}`),
  ),
]);

/** A stream shorter than this does not show when its events were sent. */
const slowMs = 1000;

const kindOf = (exchange: Exchange): string =>
  `${outcomeOf(exchange)} with ${headerValues(exchange, "Content-Type")[0] ?? "no content type"}`;

/** Time in which a server notices that its client has disconnected, after a write. */
const noticingMs = 2000;

/** An agent with real gaps of this length between events runs in real time, whatever the target's clock does. */
const realGapMs = 100;

/**
 * Whether the retries lasted longer than the agent's pauses and the time to notice a disconnect. For an agent in real
 * time, advancing the clock does not count. An agent on the target's clock needs both times, because its socket works in
 * real time.
 */
function isEnough(
  { triedMs, movedMs }: { readonly triedMs: number; readonly movedMs: number },
  { exchange, clockAtEventsMs }: Pick<TimedStream, "exchange" | "clockAtEventsMs">,
): boolean {
  const longest = (times: readonly number[]): number =>
    Math.max(0, ...times.slice(1).map((time, index) => time - (times[index] ?? time)));
  const events = eventsOf(exchange);
  const realMs = longest(events.map(({ atMs }) => atMs));
  const isMoved = clockAtEventsMs.some((ms) => ms > exchange.clockMs);
  const targetMs = longest(events.map(({ atMs }, index) => atMs + (clockAtEventsMs[index] ?? 0)));
  return triedMs >= realMs + noticingMs && (!isMoved || realMs >= realGapMs || movedMs >= targetMs + noticingMs);
}

/** Target time between a stream's first and last event, in seconds. */
function spanSeconds({ exchange, clockAtEventsMs }: Pick<TimedStream, "exchange" | "clockAtEventsMs">): number {
  const [first, last] = [eventsOf(exchange)[0], eventsOf(exchange).at(-1)];
  if (first === undefined || last === undefined) return 0;
  return (last.atMs - first.atMs + (clockAtEventsMs.at(-1) ?? 0) - (clockAtEventsMs[0] ?? 0)) / 1000;
}

function compared(plain: TimedStream, other: Pick<TimedStream, "exchange">, detail: () => string) {
  if (!isStreamAccepted(plain.exchange))
    return unproven(`the plain stream did not come (${outcomeOf(plain.exchange)})`);
  const { exchange } = other;
  const code = codeOf(exchange);
  if (!isEventStream(exchange))
    return observed(`answers ${outcomeOf(exchange)}${typeof code === "string" ? ` ${code}` : ""}`);
  const [count, plainCount] = [exchange, plain.exchange].map((each) => readEvents(each, "chunk").length);
  return observed(`${count} chunks instead of ${plainCount}; ${detail()}`);
}

function firstIndex(exchange: Exchange): string {
  const index = readEvents(exchange, "chunk")[0]?.data["index"];
  return index === undefined ? "no index" : `the first index is ${formatValue(index)}`;
}

function partOf(plain: Exchange, other: Exchange): string {
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

function around(text: string): string {
  const points = Array.from(text);
  const at = points.findIndex((point) => point === "\uFFFD" || !point.isWellFormed());
  return points.slice(Math.max(0, at - 8), at + 8).join("");
}
