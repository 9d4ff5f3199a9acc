import { formatValue } from "../../base/json.ts";
import type { Exchange } from "../../evidence/exchange.ts";
import { type Check, check, checkEvery } from "../../run/judge/check.ts";
import { breach, follows, holds, type Unproven, unproven } from "../../run/judge/finding.ts";
import {
  eventNames,
  isStreamEventName,
  exactlyOneEnd,
  startIsFirst,
  type StreamRule,
} from "../../rules/streams/streams.ts";
import { durationUnitMismatch } from "../shared/durations.ts";
import { checkFields, fieldMatrix } from "../shared/cases.ts";
import { negativeQuantity } from "../../rules/bodies/fields.ts";
import { allExchanges } from "../shared/all-exchanges.ts";
import { outcomeOf } from "../shared/response.ts";
import {
  dataOf,
  eventCases,
  eventsOf,
  isResumed,
  isTerminal,
  isWellNamed,
  orderAmong,
  readEvents,
  describeSequence,
} from "./events.ts";
import { type AllStreams, everyStream, streamed, type TimedStream } from "./probes.ts";

interface Streams {
  readonly plain: TimedStream;
  readonly all: AllStreams;
}

const streams = { plain: streamed, all: everyStream };

const nothingToJudge = ({ plain }: Streams): Unproven =>
  unproven(`no stream has events that can be judged (the plain request: ${outcomeOf(plain.exchange)})`);

const wellNamedStreams = ({ all }: Streams): Exchange[] =>
  all.streams.filter((each) => eventsOf(each).length > 0 && isWellNamed(each));

const fieldClauses = {
  "SSE-7": "start",
  "SSE-8": "start",
  "SSE-9": "chunk",
  "SSE-12": "done",
  "SSE-13": "done",
  "SSE-14": "done",
} as const;

const checkField = (clause: keyof typeof fieldClauses): Check => {
  const name = fieldClauses[clause];
  return checkFields(
    clause,
    { ...streams, allExchanges },
    {
      table: name,
      noun: "events",
      members: (evidence) => eventCases(evidence.allExchanges, wellNamedStreams(evidence), name),
      judge: ({ root, tookMs }) =>
        clause === "SSE-14" ? durationUnitMismatch("execution_time", root["execution_time"], tookMs) : null,
      whenEmpty: unproven(`there is no \`${name}\` event with readable data`),
    },
  );
};

const indexValues = (exchange: Exchange): unknown[] =>
  readEvents(exchange, "chunk", "before the end").map(({ data }) => data["index"] ?? undefined);

type IndexReading = "absent" | "from-0" | "from-1" | "otherwise";

function indexReading(exchange: Exchange): IndexReading | null {
  const values = indexValues(exchange);
  if (values.length === 0) return null;
  if (values.every((value) => value === undefined)) return "absent";
  if (isResumed(exchange)) return null;
  const [first] = values;
  return first === 0 ? "from-0" : first === 1 ? "from-1" : "otherwise";
}

function indexMismatch(values: readonly unknown[], isFromStart: boolean): string | null {
  const missing = values.indexOf(undefined);
  if (missing !== -1)
    return `chunk ${missing + 1} has no \`index\`, chunk ${values.findIndex((each) => each !== undefined) + 1} has`;
  const [first] = values;
  if (isFromStart && first !== 0 && first !== 1) return `the first \`index\` is ${String(first)}`;
  const gap = values.findIndex((value, at) => at > 0 && value !== Number(values[at - 1]) + 1);
  return gap === -1 ? null : `${String(values[gap])} after ${String(values[gap - 1])}`;
}

const judgeByRule = (rule: StreamRule, describe: (exchange: Exchange) => string) => (evidence: Streams) => {
  const { streams: found, failing } = evidence.all;
  let judged = 0;
  for (const exchange of found) {
    const order = orderAmong(exchange, found);
    // Ignores how the stream of a failing agent ends, because SSE-17 judges that.
    const mismatch = rule.judge(failing.includes(exchange.id) ? { ...order, isOver: false } : order);
    if (mismatch === undefined) continue;
    if (mismatch !== null) return breach(rule.expected, describe(exchange), exchange);
    judged += 1;
  }
  return judged === 0 ? nothingToJudge(evidence) : holds();
};

function describeUnknownName(exchange: Exchange): string {
  const unknown = eventsOf(exchange).find(({ name }) => !isStreamEventName(name));
  return unknown === undefined || unknown.name === null
    ? `an event without a name: ${formatValue(unknown?.data)}`
    : `\`event: ${unknown.name}\``;
}

export const sequenceChecks = [
  check("SSE-2", streams, judgeByRule(eventNames, describeUnknownName)),
  check("SSE-3", streams, (evidence) => {
    const found = evidence.all.streams.filter((each) => eventsOf(each).length > 0);
    if (found.length === 0) return nothingToJudge(evidence);
    for (const exchange of found) {
      const other = eventsOf(exchange).find((event) => dataOf(event) === undefined);
      if (other !== undefined)
        return breach(
          "`data:` is a JSON object",
          `${other.name ?? "an event"} with ${formatValue(other.data)}`,
          exchange,
        );
    }
    return holds();
  }),
  check("SSE-4", streams, judgeByRule(startIsFirst, describeSequence)),
  check(
    "SSE-5",
    streams,
    judgeByRule(exactlyOneEnd, (exchange) => `${describeSequence(exchange)} (${outcomeOf(exchange)})`),
  ),
  checkField("SSE-7"),
  checkField("SSE-8"),
  checkField("SSE-9"),
  check("SSE-10", streams, (evidence) => {
    const readings = new Set<IndexReading>();
    for (const exchange of wellNamedStreams(evidence)) {
      const other = indexValues(exchange).find((value) => value !== undefined && !Number.isInteger(value));
      if (other !== undefined) return breach("`index` of `chunk`, an integer", formatValue(other), exchange);
      const reading = indexReading(exchange);
      if (reading !== null) readings.add(reading);
    }
    const [reading] = readings;
    if (reading === undefined) return nothingToJudge(evidence);
    return follows(readings.size === 1 ? reading : "otherwise");
  }),
  check("SSE-11", streams, (evidence) => {
    let judged = 0;
    for (const exchange of wellNamedStreams(evidence)) {
      const values = indexValues(exchange);
      const present = values.filter((value) => value !== undefined);
      if (present.length === 0 || values.length < 2 || !present.every(Number.isInteger)) continue;
      // If the JSON of a chunk is invalid, its `index` is unreadable. The next `index` would look like a gap.
      if (eventsOf(exchange).some((event) => dataOf(event) === undefined)) continue;
      judged += 1;
      const mismatch = indexMismatch(values, !isResumed(exchange));
      if (mismatch !== null) return breach("`index` on every chunk, from 0 or 1, rising by 1", mismatch, exchange);
    }
    return judged === 0 ? unproven("no stream has two chunks with an `index`") : holds();
  }),
  checkField("SSE-12"),
  checkField("SSE-13"),
  checkField("SSE-14"),
  checkEvery(
    "SSE-31",
    { ...streams, allExchanges },
    {
      as: "not negative",
      matrix: fieldMatrix("done"),
      noun: "events",
      members: (evidence) => eventCases(evidence.allExchanges, wellNamedStreams(evidence), "done"),
      judge: ({ root }) => negativeQuantity("done", root),
      whenEmpty: unproven("no `done` event has an `execution_time`"),
    },
  ),
  check("SSE-28", streams, (evidence) => {
    let judged = 0;
    for (const exchange of wellNamedStreams(evidence)) {
      const last = eventsOf(exchange).at(-1);
      const { answer } = exchange;
      if (last === undefined || !isTerminal(last) || answer.kind !== "answered") continue;
      if (answer.ending.kind === "closed by us") continue;
      judged += 1;
      const openMs = answer.endMs - last.atMs;
      if (openMs > maxClosingMs || answer.ending.kind === "deadline")
        return breach(
          "the server closes the stream after `done` or `error`",
          `still open ${(openMs / 1000).toFixed(1)} s later`,
          exchange,
        );
    }
    return judged === 0 ? unproven("no stream has a terminal event") : holds();
  }),
] as const;

const maxClosingMs = 2000;
