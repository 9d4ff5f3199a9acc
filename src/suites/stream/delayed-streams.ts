import type { Exchange } from "../../evidence/exchange.ts";
import { type Check, check } from "../../run/judge/check.ts";
import { breach, type Finding, holds, inapplicable, unproven } from "../../run/judge/finding.ts";
import { tookMsOf } from "../shared/durations.ts";
import { outcomeOf } from "../shared/response.ts";
import { doneSeconds, isStreamAccepted, readEvents } from "./events.ts";
import { inapplicableForFewRequests, probeIfManyRequests } from "../shared/few-requests.ts";

const since = "1.2";

/** A stream with a requested delay between its chunks. */
interface PacedStream {
  readonly delayMs: number;
  readonly exchange: Exchange;
  /** Upper bound of the stream's duration, in ms of the target's clock. */
  readonly tookMs: number;
}

const query = "Please count: one two three four five six seven eight nine ten eleven twelve";

/**
 * Requested delays between two chunks. With about fifteen chunks, they add up to 0.7, 1.6 and 2.2 s. A server that
 * loses whole seconds would report 0.7, 0.6 and 0.2 s.
 */
const delaysMs = [50, 110, 150] as const;

const maxMs = 30_000;

/** Step by which the test clock advances. With a larger step, each delay would last longer than requested. */
const stepMs = 25;

const restMs = 2;

const streamsPaced = probeIfManyRequests(
  "an agent streams with three delays between chunks, for the time that `done` reports",
  { needs: ["agents.streaming"], requests: delaysMs.length, stage: "agent time", since },
  async ({ client, given, time }): Promise<readonly PacedStream[]> => {
    const stream = async (delayMs: number): Promise<PacedStream> => {
      const body = { query, parameters: { stream_delay_ms: delayMs } };
      const exchange = await client.stream(given["agents.streaming"], body, { noRetry: true });
      return { delayMs, exchange, tookMs: tookMsOf({ exchange, clockAfterMs: time.maxClockOffsetMs() }) };
    };
    const streamAll = () => time.awaitAgent(Promise.all(delaysMs.map(stream)), maxMs, stepMs, restMs);
    const streams = await streamAll();
    // Repeats the streams after a breach, because one breach may be a coincidence.
    return judgePacedTimes(streams).kind === "breach" ? streamAll() : streams;
  },
);

const reportedSeconds = ({ exchange }: PacedStream): number => doneSeconds(exchange) ?? Number.NaN;

const chunksOf = ({ exchange }: PacedStream): number => readEvents(exchange, "chunk").length;

const delaySeconds = ({ delayMs }: PacedStream, delays: number): number => (delays * delayMs) / 1000;

const minDelaysSeconds = 0.3;

/** Tolerances: a reported time may be less than the summed delays (rounding), or more (the agent's own work). */
const [roundingSeconds, workSeconds] = [0.05, 0.2];

const isClose = (seconds: number, expected: number): boolean =>
  seconds >= expected - roundingSeconds && seconds <= expected + workSeconds;

/** Whether `done` reports the summed delays without their whole seconds, e.g. 0.6 instead of 1.6. */
function hasLostSeconds(stream: PacedStream, delays: number): boolean {
  const seconds = delaySeconds(stream, delays);
  return seconds >= 1 && stream.tookMs / 1000 >= seconds && isClose(reportedSeconds(stream), seconds % 1);
}

/** Whether the fractional parts of two numbers differ clearly, e.g. 1.6 and 2.2. */
const areApart = (one: number, other: number): boolean =>
  Math.abs((one % 1) - (other % 1)) > roundingSeconds + workSeconds;

/**
 * Judges SSE-14: `execution_time` must not lose whole seconds, e.g. report 0.6 instead of 1.6. Inapplicable if
 * `execution_time` does not count the delays between chunks.
 */
export function judgePacedTimes(streams: readonly PacedStream[] | null): Finding<never> {
  if (streams === null) return inapplicableForFewRequests;
  const [short, ...longer] = streams;
  const failed = streams.find(({ exchange }) => !isStreamAccepted(exchange));
  if (short === undefined || failed !== undefined)
    return unproven(`a stream was not accepted (${failed === undefined ? "none" : outcomeOf(failed.exchange)})`);
  if (streams.some((each) => Number.isNaN(reportedSeconds(each)))) return unproven("a stream ended without its time");
  const chunks = chunksOf(short);
  if (streams.some((each) => chunksOf(each) !== chunks)) return unproven("the streams differ in their chunks");
  // 15 chunks have 14, 15 or 16 delays: the server may also wait before the first chunk, after the last one, or both.
  const counted = [chunks - 1, chunks, chunks + 1].filter(
    (delays) =>
      delaySeconds(short, delays) >= minDelaysSeconds &&
      delaySeconds(short, delays) < 1 &&
      isClose(reportedSeconds(short), delaySeconds(short, delays)),
  );
  if (counted.length === 0) return inapplicable("`execution_time` does not count the delays between chunks");
  const affected = counted.find((delays) => {
    const sums = longer.map((each) => delaySeconds(each, delays));
    return areApart(sums[0] ?? 0, sums[1] ?? 0) && longer.every((each) => hasLostSeconds(each, delays));
  });
  if (affected === undefined) return holds();
  const expected = streams.map((each) => delaySeconds(each, affected).toFixed(2)).join(", ");
  return breach(
    `\`execution_time\` of about ${expected} s, the sums of the delays`,
    `${streams.map(reportedSeconds).join(", ")}: the whole seconds are lost`,
    ...streams.map(({ exchange }) => exchange),
  );
}

export const delayedStreamTimesCheck: Check = check("SSE-14", streamsPaced, judgePacedTimes, {
  as: "of paced streams",
  since,
});
