import { z } from "zod";

import type { Exchange } from "../../evidence/exchange.ts";
import type { StreamEventName } from "../../interface/events.ts";
import { check } from "../../run/check.ts";
import { type Breach, breach, follows, holds, type Unproven, unproven } from "../../run/finding.ts";
import { eventNames, isKnownName, oneEnd, startFirst, type StreamRule } from "../../streams/rules.ts";
import { indexesOf } from "../../streams/shape.ts";
import { member, misshapen, outcomeOf, show } from "../answers/shape.ts";
import { dataOf, eventsOf, isResumed, isTerminal, isWellNamed, orderOf, readEvents, sequenceText } from "./events.ts";
import { type AllStreams, everyStream, streamed, type TimedStream } from "./probes.ts";

interface Streams {
  readonly plain: TimedStream;
  readonly all: AllStreams;
}

/** All streams of the run; the plain one is named so that it is sent whenever one of these checks is wanted. */
const streams = { plain: streamed, all: everyStream };

const nothingToJudge = ({ plain }: Streams): Unproven =>
  unproven(`no stream came whose events can be judged (the plain one: ${outcomeOf(plain.exchange)})`);

/** Streams whose events all have one of the document's names; the others are SSE-2's. */
const wellNamed = ({ all }: Streams): Exchange[] =>
  all.streams.filter((each) => eventsOf(each).length > 0 && isWellNamed(each));

/** Judges a field of every event of one name, wherever its data can be read. */
function everyField(evidence: Streams, name: StreamEventName, path: readonly string[], schema: z.ZodType) {
  const what = `\`${path.join(".")}\` of \`${name}\``;
  let seen = 0;
  for (const exchange of wellNamed(evidence))
    for (const { data } of readEvents(exchange, name)) {
      seen += 1;
      const broken = misshapen(schema, member(data, ...path), what, exchange);
      if (broken !== null) return broken;
    }
  return seen === 0 ? unproven(`no \`${name}\` event came whose data can be read`) : holds();
}

const string = z.string();

const indexValues = (exchange: Exchange): unknown[] =>
  readEvents(exchange, "chunk", "before the end").map(({ data }) => data["index"]);

/** What is wrong with the `index` of a chunk. */
function oddIndex(values: readonly unknown[], at: number): string {
  const value = values[at];
  if (value === undefined)
    return `chunk ${at + 1} has no \`index\`, chunk ${values.findIndex((each) => each !== undefined) + 1} has`;
  return Number.isInteger(value)
    ? `${Number(value)} after ${Number(values[at - 1])}`
    : `chunk ${at + 1} has the \`index\` ${show(value)}`;
}

type IndexReading = "absent" | "from-0" | "from-1";

const expectedIndexes = "`index` on every chunk of a stream or on none, integers that rise, from 0 or from 1";

/** Which reading one stream's indexes follow; `null` where it cannot tell. */
function indexReading(exchange: Exchange): IndexReading | Breach | null {
  const values = indexValues(exchange);
  if (values.length === 0) return null;
  const indexes = indexesOf(values);
  if (indexes.kind === "absent") return "absent";
  if (indexes.kind === "broken") return breach(expectedIndexes, oddIndex(values, indexes.at), exchange);
  if (isResumed(exchange)) return null;
  const [first] = indexes.values;
  if (first === 0) return "from-0";
  return first === 1 ? "from-1" : breach(expectedIndexes, `the first \`index\` is ${String(first)}`, exchange);
}

/** Judges the order of every stream's events by a rule; `tell` shows what is wrong with one. */
const judgedBy = (rule: StreamRule, tell: (exchange: Exchange) => string) => (evidence: Streams) => {
  const { streams: given, failing } = evidence.all;
  let judged = 0;
  for (const exchange of given) {
    // That an agent's failure ends in an `error` event is SSE-17's to say.
    const said = rule.say(failing.includes(exchange.id) ? { ...orderOf(exchange), isOver: false } : orderOf(exchange));
    if (said === undefined) continue;
    if (said !== null) return breach(rule.expected, tell(exchange), exchange);
    judged += 1;
  }
  return judged === 0 ? nothingToJudge(evidence) : holds();
};

function oddName(exchange: Exchange): string {
  const odd = eventsOf(exchange).find(({ name }) => !isKnownName(name));
  return odd === undefined || odd.name === null
    ? `an event without a name: ${show(odd?.data)}`
    : `\`event: ${odd.name}\``;
}

/** Checks over every stream of the run: names, data, order and fields of its events. */
export const sequenceChecks = [
  check("SSE-2", streams, judgedBy(eventNames, oddName)),
  check("SSE-3", streams, (evidence) => {
    const given = evidence.all.streams.filter((each) => eventsOf(each).length > 0);
    if (given.length === 0) return nothingToJudge(evidence);
    for (const exchange of given) {
      const odd = eventsOf(exchange).find((event) => dataOf(event) === undefined);
      if (odd !== undefined)
        return breach("`data:` is a JSON object", `${odd.name ?? "an event"} with ${show(odd.data)}`, exchange);
    }
    return holds();
  }),
  check("SSE-4", streams, judgedBy(startFirst, sequenceText)),
  check(
    "SSE-5",
    streams,
    judgedBy(oneEnd, (exchange) => `${sequenceText(exchange)} (${outcomeOf(exchange)})`),
  ),
  check("SSE-7", streams, (evidence) => everyField(evidence, "start", ["message"], string)),
  check("SSE-8", streams, (evidence) => {
    const finding = everyField(evidence, "start", ["session_id"], string.optional());
    if (finding.kind !== "holds") return finding;
    const isThere = wellNamed(evidence).some((exchange) =>
      readEvents(exchange, "start").some(({ data }) => data["session_id"] !== undefined),
    );
    return follows(isThere ? "present" : "absent");
  }),
  check("SSE-9", streams, (evidence) => everyField(evidence, "chunk", ["content"], string)),
  check("SSE-10", streams, (evidence) => {
    let followed: { reading: IndexReading; exchange: Exchange } | null = null;
    for (const exchange of wellNamed(evidence)) {
      const reading = indexReading(exchange);
      if (reading === null) continue;
      if (typeof reading !== "string") return reading;
      followed ??= { reading, exchange };
      if (reading !== followed.reading)
        return breach(
          "all streams treat `index` alike",
          `${followed.reading} in one stream, ${reading} in another`,
          followed.exchange,
          exchange,
        );
    }
    return followed === null ? nothingToJudge(evidence) : follows(followed.reading);
  }),
  check("SSE-11", streams, (evidence) => {
    let seen = 0;
    for (const exchange of wellNamed(evidence)) {
      const indexes = indexesOf(indexValues(exchange));
      if (indexes.kind !== "rising" || indexes.values.length < 2) continue;
      seen += 1;
      const gap = indexes.values.findIndex((value, at) => at > 0 && value !== (indexes.values[at - 1] ?? 0) + 1);
      if (gap !== -1)
        return breach("`index` rises by one", `${indexes.values[gap]} after ${indexes.values[gap - 1]}`, exchange);
    }
    return seen === 0 ? unproven("no stream had two chunks with an `index` that rises") : holds();
  }),
  check("SSE-12", streams, (evidence) => everyField(evidence, "done", ["message"], string)),
  check("SSE-13", streams, (evidence) =>
    everyField(evidence, "done", ["usage"], z.looseObject({ total_tokens: z.int() })),
  ),
  check("SSE-14", streams, (evidence) => everyField(evidence, "done", ["execution_time"], z.number())),
  check("SSE-28", streams, (evidence) => {
    let seen = 0;
    for (const exchange of wellNamed(evidence)) {
      const last = eventsOf(exchange).at(-1);
      const { answer } = exchange;
      if (last === undefined || !isTerminal(last) || answer.kind !== "answered") continue;
      if (answer.ending.kind === "closed by us") continue;
      seen += 1;
      const openMs = answer.endMs - last.atMs;
      if (openMs > closingMs || answer.ending.kind === "deadline")
        return breach(closes, `still open ${(openMs / 1000).toFixed(1)} s later`, exchange);
    }
    return seen === 0 ? unproven("no stream came to its terminal event") : holds();
  }),
] as const;

/** Time for the end of a stream to follow its last event over a network. */
const closingMs = 2000;
const closes = "the server closes the stream after `done` or `error`";
