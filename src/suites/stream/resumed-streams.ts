import type { Exchange } from "../../evidence/exchange.ts";
import { type Check, check, observe } from "../../run/judge/check.ts";
import { type Finding, inapplicable, observed, unproven } from "../../run/judge/finding.ts";
import { hasFewRequests } from "../../run/plan/needs.ts";
import { probe } from "../../run/probe.ts";
import type { Target } from "../../target/target.ts";
import { type InvokeAfterEnds, invokeAfterEnds, judgeFreedSlots, keyForSlotTests } from "../limits/timeouts.ts";
import { describeStatus, isComplete, outcomeOf } from "../shared/response.ts";
import { describeSequence, isEventStream, readEvents } from "./events.ts";
import { probeIfManyRequests } from "../shared/few-requests.ts";

const since = "1.2";

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
  // The harness stops reading after ten seconds. A stream counts toward the rate limit as soon as it begins.
  options: { deadlines: { headMs: 10_000, exchangeMs: 10_000 } },
};

/** Each stream runs twice, because requests of another client can distort one measurement of `Remaining`. */
const measuredStreams = [resumedAtTwo, resumedAtTwo, manyWords, manyWords];

/** Number of GET requests after the streams. Their responses show by how much a GET request lowers `Remaining`. */
const readCountAfter = 4;

export const resumedAndLongStreams = probeIfManyRequests(
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

const resumePastEnd = { query: "Hello.", parameters: { resume_from_index: 100_000 } };

const keyToResume = (target: Target) => (hasFewRequests(target) ? null : keyForSlotTests(target));

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

export const resumedStreamChecks: readonly Check[] = [
  observe(
    "SSE-23",
    resumedAndLongStreams,
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

/** Checks LIM-17: a stream with a `resume_from_index` beyond its last chunk frees its concurrency slot when it ends. */
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
