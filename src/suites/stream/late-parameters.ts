import type { Exchange } from "../../evidence/exchange.ts";
import { type Check, check, observe } from "../../run/judge/check.ts";
import { breach, type Finding, holds, inapplicable, observed, unproven } from "../../run/judge/finding.ts";
import { hasFewRequests } from "../../run/plan/needs.ts";
import { type Probe, probe } from "../../run/probe.ts";
import type { Target } from "../../target/target.ts";
import { invoked } from "../invoke/probes.ts";
import { type InvokeAfterEnds, invokeAfterEnds, judgeFreedSlots, keyWithFewestSlots } from "../limits/timeouts.ts";
import type { Accepts } from "../shared/acceptance.ts";
import { tookMsOf } from "../shared/durations.ts";
import { describeStatus, hasStatus, isComplete, isSuccess, outcomeOf } from "../shared/response.ts";
import { describeSequence, doneSeconds, isEventStream, isStreamAccepted, readEvents } from "./events.ts";
import { streamed } from "./probes.ts";
import { fewRequests, probeIfManyRequests } from "../shared/few-requests.ts";

const since = "1.2";

/** A query with an empty line. A faulty server could cut the query at this line. */
const queryOfLines = "Hello.\n\nPlease answer in a few words.";

interface LineFeedsSent {
  readonly invoked: Exchange;
  readonly streamed: Exchange;
}

const lineFeedsSent = probeIfManyRequests(
  "an agent is invoked, and streams, with two line feeds in the query",
  {
    needs: ["agents.answering", "agents.streaming"],
    requests: 2,
    since,
  },
  async ({ client, given }): Promise<LineFeedsSent> => ({
    invoked: await client.invoke(given["agents.answering"], { query: queryOfLines }),
    streamed: await client.stream(given["agents.streaming"], { query: queryOfLines }),
  }),
);

const resumedAtTwo = {
  body: { query: "Please count: one two three four five six", parameters: { resume_from_index: 2 } },
  options: {},
};
/** A request for at least 150 chunks, whether `chunk_size` counts words or characters. */
const manyWords = {
  body: {
    query: `Please repeat: ${Array.from({ length: 150 }, (_, at) => at + 1).join(" ")}`,
    parameters: { chunk_size: 1 },
  },
  // Ten seconds are enough, because a stream counts toward the limit when it begins.
  options: { deadlines: { headMs: 10_000, exchangeMs: 10_000 } },
};
/** Each stream runs twice, because another client of the key can distort one measurement. */
const measuredStreams = [resumedAtTwo, resumedAtTwo, manyWords, manyWords];
/** Number of GET requests after the streams. They show by how much a GET request lowers `Remaining`. */
const readCountAfter = 4;
const lastIndex = 100_000;

export const resumedLate = probeIfManyRequests(
  "streams resume at index 2, or have many chunks, between readings of usage, and one resumes after its last chunk",
  {
    needs: ["agents.streaming"],
    requests: measuredStreams.length * 2 + readCountAfter + 1,
    executions: measuredStreams.length + 1,
    stage: "coverage",
    since,
  },
  async ({ client, given }): Promise<{ readonly pastTheEnd: Exchange }> => {
    for (const { body, options } of measuredStreams) {
      await client.send("GET", "/usage");
      await client.stream(given["agents.streaming"], body, options);
    }
    for (let sent = 0; sent < readCountAfter; sent += 1) await client.send("GET", "/usage");
    return { pastTheEnd: await client.stream(given["agents.streaming"], resumePastEnd) };
  },
);

const resumePastEnd = { query: "Hello.", parameters: { resume_from_index: lastIndex } };

const keyToResume = (target: Target) => (hasFewRequests(target) ? null : keyWithFewestSlots(target));

interface ResumedOnFewSlots extends InvokeAfterEnds {
  readonly streams: readonly Exchange[];
}

const resumedOnFewSlots = probe(
  "streams resume past their end, one for each slot of a key, and the key is used again",
  {
    needs: ["agents.streaming", "agents.answering"],
    requests: (target) => (keyToResume(target)?.slots ?? -1) + 1,
    executions: (target) => (keyToResume(target)?.slots ?? -1) + 1,
    keys: (target) => [keyToResume(target)?.key ?? []].flat(),
    stage: "exclusive",
    since,
  },
  async ({ client, given, target, time }): Promise<ResumedOnFewSlots | null> => {
    const smallest = keyToResume(target);
    if (smallest === null) return null;
    const own = client.as(smallest.key);
    const streams: Exchange[] = [];
    while (streams.length < smallest.slots)
      streams.push(await own.stream(given["agents.streaming"], resumePastEnd, { noRetry: true }));
    return { streams, ...(await invokeAfterEnds(own, given["agents.answering"], time)) };
  },
);

const checkLineFeeds = (
  clause: "INV-1" | "SSE-1",
  name: keyof LineFeedsSent,
  control: Probe<{ readonly exchange: Exchange }>,
  accepts: Accepts,
): Check =>
  check(
    clause,
    { lines: lineFeedsSent, control },
    ({ lines, control: { exchange: plain } }): Finding<never> => {
      if (lines === null) return fewRequests;
      if (!accepts(plain)) return unproven(`the same request without line feeds did not succeed (${outcomeOf(plain)})`);
      const exchange = lines[name];
      if (accepts(exchange)) return holds();
      return hasStatus(exchange, 400, 422)
        ? breach("a query with two line feeds is accepted", describeStatus(exchange), exchange, plain)
        : unproven(`the request got ${outcomeOf(exchange)}`);
    },
    { as: "line feeds", since },
  );

export const invokedLinesCheck = checkLineFeeds("INV-1", "invoked", invoked, isSuccess);

export const lateParameterChecks: readonly Check[] = [
  checkLineFeeds("SSE-1", "streamed", streamed, isEventStream),
  observe(
    "SSE-23",
    resumedLate,
    (resumed) => {
      if (resumed === null) return unproven("the key has few requests a minute");
      const { pastTheEnd } = resumed;
      if (!isEventStream(pastTheEnd)) return observed(`after the last chunk: ${describeStatus(pastTheEnd)}`);
      const count = readEvents(pastTheEnd, "chunk").length;
      return observed(`after the last chunk: ${count} chunks (${describeSequence(pastTheEnd)})`);
    },
    { as: "past the end", since },
  ),
];

/**
 * Checks LIM-17 (a request frees its concurrency slot when it ends). The probe resumes streams from an index beyond
 * their last chunk.
 */
export const resumedSlotsCheck: Check = check(
  "LIM-17",
  resumedOnFewSlots,
  (resumed): Finding<never> => {
    if (resumed === null) return inapplicable("no key of few slots and many requests, or no test clock");
    const other = resumed.streams.find((each) => !isComplete(each));
    return other === undefined
      ? judgeFreedSlots(resumed, resumed.streams, "a stream that resumes past its end")
      : unproven(`a stream did not end (${outcomeOf(other)})`);
  },
  { as: "streams that resume past their end", since },
);

/** A stream with a requested delay between its chunks. */
interface PacedStream {
  readonly delayMs: number;
  readonly exchange: Exchange;
  /** Upper bound of the stream's duration, in ms of the target's clock. */
  readonly tookMs: number;
}

const query = "Please count: one two three four five six seven eight nine ten eleven twelve";
/** With about fifteen chunks, the delays add up to 0.7, 1.6 and 2.2 seconds. */
const delaysMs = [50, 110, 150] as const;
const maxMs = 30_000;
/** The test clock advances in these steps. With larger steps, each delay would last longer than requested. */
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

/** A reported time matches if it is at most `roundingSeconds` below or `workSeconds` above the expected time. */
const [roundingSeconds, workSeconds] = [0.05, 0.2];
const minDelaysSeconds = 0.3;

const isNear = (seconds: number, expected: number): boolean =>
  seconds >= expected - roundingSeconds && seconds <= expected + workSeconds;

/** Whether `done` reports the summed delays without their whole seconds, e.g. 0.6 instead of 1.6. */
function hasLostSeconds(stream: PacedStream, delays: number): boolean {
  const seconds = delaySeconds(stream, delays);
  return seconds >= 1 && stream.tookMs / 1000 >= seconds && isNear(reportedSeconds(stream), seconds % 1);
}

/** Whether the fractional parts of two numbers differ clearly, e.g. 1.6 and 2.2. */
const areApart = (one: number, other: number): boolean =>
  Math.abs((one % 1) - (other % 1)) > roundingSeconds + workSeconds;

/**
 * Judges SSE-14: `execution_time` must not lose whole seconds, e.g. report 0.6 instead of 1.6. Inapplicable if
 * `execution_time` does not count the delays between chunks.
 */
export function judgePacedTimes(streams: readonly PacedStream[] | null): Finding<never> {
  if (streams === null) return fewRequests;
  const [short, ...longer] = streams;
  const failed = streams.find(({ exchange }) => !isStreamAccepted(exchange));
  if (short === undefined || failed !== undefined)
    return unproven(`a stream was not accepted (${failed === undefined ? "none" : outcomeOf(failed.exchange)})`);
  if (streams.some((each) => Number.isNaN(reportedSeconds(each)))) return unproven("a stream ended without its time");
  const chunks = chunksOf(short);
  if (streams.some((each) => chunksOf(each) !== chunks)) return unproven("the streams differ in their chunks");
  // The server may also wait before the first chunk, or after the last one.
  const counted = [chunks - 1, chunks, chunks + 1].filter(
    (delays) =>
      delaySeconds(short, delays) >= minDelaysSeconds &&
      delaySeconds(short, delays) < 1 &&
      isNear(reportedSeconds(short), delaySeconds(short, delays)),
  );
  if (counted.length === 0) return inapplicable("`execution_time` does not count the delays between chunks");
  const lost = counted.find((delays) => {
    const remainders = longer.map((each) => delaySeconds(each, delays));
    return areApart(remainders[0] ?? 0, remainders[1] ?? 0) && longer.every((each) => hasLostSeconds(each, delays));
  });
  if (lost === undefined) return holds();
  const expected = streams.map((each) => delaySeconds(each, lost).toFixed(2)).join(", ");
  return breach(
    `\`execution_time\` of about ${expected} s, the sums of the delays`,
    `${streams.map(reportedSeconds).join(", ")}: the whole seconds are lost`,
    ...streams.map(({ exchange }) => exchange),
  );
}

export const pacedTimesCheck: Check = check("SSE-14", streamsPaced, judgePacedTimes, { as: "of paced streams", since });
