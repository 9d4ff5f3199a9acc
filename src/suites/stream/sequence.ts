import { z } from "zod";

import type { Exchange } from "../../evidence/exchange.ts";
import type { StreamEventName } from "../../interface/events.ts";
import { check } from "../../run/check.ts";
import { type Breach, breach, follows, holds, type Unproven, unproven } from "../../run/finding.ts";
import { member, misshapen, outcomeOf, show } from "../answers/shape.ts";
import {
  dataOf,
  eventsOf,
  isKnownName,
  isOver,
  isResumed,
  isTerminal,
  isWellNamed,
  readEvents,
  sequenceOf,
} from "./events.ts";
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

/** `index` of a stream's chunks, where all of them have one that rises. */
type Indexes =
  | { readonly kind: "none" }
  | { readonly kind: "rising"; readonly values: readonly number[] }
  | { readonly kind: "broken"; readonly actual: string };

function indexesOf(exchange: Exchange): Indexes {
  const values = readEvents(exchange, "chunk", "before the end").map(({ data }) => data["index"]);
  const first = values.findIndex((value) => value !== undefined);
  if (first === -1) return { kind: "none" };
  const missing = values.indexOf(undefined);
  if (missing !== -1)
    return { kind: "broken", actual: `chunk ${missing + 1} has no \`index\`, chunk ${first + 1} has` };
  for (const [at, value] of values.entries()) {
    if (!Number.isInteger(value)) return { kind: "broken", actual: `chunk ${at + 1} has the \`index\` ${show(value)}` };
    const before = values[at - 1];
    if (typeof before === "number" && Number(value) <= before)
      return { kind: "broken", actual: `${String(value)} after ${before}` };
  }
  return { kind: "rising", values: values.map(Number) };
}

type IndexReading = "absent" | "from-0" | "from-1";

const expectedIndexes = "`index` on every chunk of a stream or on none, integers that rise, from 0 or from 1";

/** Which reading one stream's indexes follow; `null` where it cannot tell. */
function indexReading(exchange: Exchange): IndexReading | Breach | null {
  if (readEvents(exchange, "chunk", "before the end").length === 0) return null;
  const indexes = indexesOf(exchange);
  if (indexes.kind === "none") return "absent";
  if (indexes.kind === "broken") return breach(expectedIndexes, indexes.actual, exchange);
  if (isResumed(exchange)) return null;
  const [first] = indexes.values;
  if (first === 0) return "from-0";
  return first === 1 ? "from-1" : breach(expectedIndexes, `the first \`index\` is ${String(first)}`, exchange);
}

/** Checks over every stream of the run: names, data, order and fields of its events. */
export const sequenceChecks = [
  check("SSE-2", streams, (evidence) => {
    const given = evidence.all.streams.filter((each) => eventsOf(each).length > 0);
    if (given.length === 0) return nothingToJudge(evidence);
    for (const exchange of given) {
      const odd = eventsOf(exchange).find(({ name }) => !isKnownName(name));
      if (odd === undefined) continue;
      const actual = odd.name === null ? `an event without a name: ${show(odd.data)}` : `\`event: ${odd.name}\``;
      return breach("`event:` is one of start, chunk, error and done", actual, exchange);
    }
    return holds();
  }),
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
  check("SSE-4", streams, (evidence) => {
    const given = wellNamed(evidence);
    if (given.length === 0) return nothingToJudge(evidence);
    const wrong = given.find((exchange) => {
      const starts = eventsOf(exchange).flatMap(({ name }, at) => (name === "start" ? [at] : []));
      return starts.length !== 1 || starts[0] !== 0;
    });
    return wrong === undefined ? holds() : breach("`start` first, and once", sequenceOf(wrong), wrong);
  }),
  check("SSE-5", streams, (evidence) => {
    const { all } = evidence;
    const given = all.streams.filter(
      (exchange) => isWellNamed(exchange) && (eventsOf(exchange).some(isTerminal) || isOver(exchange)),
    );
    if (given.length === 0) return nothingToJudge(evidence);
    const wrong = given.find((exchange) => {
      const ends = eventsOf(exchange).flatMap((event, at) => (isTerminal(event) ? [at] : []));
      // That an agent's failure ends in an `error` event is SSE-17's to say.
      if (ends.length === 0) return !all.failing.includes(exchange.id);
      return ends.length > 1 || ends[0] !== eventsOf(exchange).length - 1;
    });
    if (wrong === undefined) return holds();
    const actual = `${sequenceOf(wrong)} (${outcomeOf(wrong)})`;
    return breach("exactly one of `done` and `error`, and nothing after it", actual, wrong);
  }),
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
      const indexes = indexesOf(exchange);
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
