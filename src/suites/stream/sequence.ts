import type { Exchange } from "../../evidence/exchange.ts";
import { type Check, check } from "../../run/judge/check.ts";
import { breach, follows, holds, type Unproven, unproven } from "../../run/judge/finding.ts";
import { checkEvery } from "../../run/judge/check-every.ts";
import { eventNames, isKnownName, oneEnd, startFirst, type StreamRule } from "../../rules/streams/rules.ts";
import { unitMismatch } from "../shared/durations.ts";
import { fieldMatrix } from "../shared/matrices.ts";
import { negativeQuantity, fieldMismatch } from "../../rules/bodies/fields.ts";
import { judgePresence } from "../shared/cases.ts";
import { allExchanges } from "../shared/all-exchanges.ts";
import { outcomeOf } from "../shared/response.ts";
import { formatValue } from "../../base/format-value.ts";
import { eventCases } from "./event-fields.ts";
import {
  dataOf,
  eventsOf,
  isResumed,
  isTerminal,
  isWellNamed,
  orderAmong,
  readEvents,
  sequenceText,
} from "./events.ts";
import { type AllStreams, everyStream, streamed, type TimedStream } from "./probes.ts";

interface Streams {
  readonly plain: TimedStream;
  readonly all: AllStreams;
}

/** All streams of the run. Includes the plain stream so that its probe runs whenever one of these checks is selected. */
const streams = { plain: streamed, all: everyStream };

const nothingToJudge = ({ plain }: Streams): Unproven =>
  unproven(`no stream came whose events can be judged (the plain one: ${outcomeOf(plain.exchange)})`);

/** Streams whose events all have names of the document. The others break SSE-2. */
const wellNamed = ({ all }: Streams): Exchange[] =>
  all.streams.filter((each) => eventsOf(each).length > 0 && isWellNamed(each));

/** Field clauses by event. `index` has checks of its own. */
const fieldClauses = {
  "SSE-7": "start",
  "SSE-8": "start",
  "SSE-9": "chunk",
  "SSE-12": "done",
  "SSE-13": "done",
  "SSE-14": "done",
} as const;

/** Checks the fields of a clause on all its events in the run. */
const field = (clause: keyof typeof fieldClauses): Check => {
  const name = fieldClauses[clause];
  return checkEvery(
    clause,
    { ...streams, everything: allExchanges },
    {
      matrix: fieldMatrix(name),
      noun: "events",
      members: (evidence) => eventCases(evidence, wellNamed(evidence), name),
      judge: ({ data, tookMs }) => {
        const wrong = fieldMismatch(name, clause, data);
        return clause === "SSE-14" && wrong === null
          ? unitMismatch("execution_time", data["execution_time"], tookMs)
          : wrong;
      },
      whenEmpty: unproven(`no \`${name}\` event came whose data can be read`),
      judgeAcross: (events) =>
        judgePresence(
          name,
          clause,
          events.map(({ data }) => data),
        ),
    },
  );
};

const indexValues = (exchange: Exchange): unknown[] =>
  readEvents(exchange, "chunk", "before the end").map(({ data }) => data["index"] ?? undefined);

type IndexReading = "absent" | "from-0" | "from-1" | "otherwise";

/** How a stream numbers its chunks; `null` if it does not show that. */
function indexReading(exchange: Exchange): IndexReading | null {
  const values = indexValues(exchange);
  if (values.length === 0) return null;
  if (values.every((value) => value === undefined)) return "absent";
  if (isResumed(exchange)) return null;
  const [first] = values;
  return first === 0 ? "from-0" : first === 1 ? "from-1" : "otherwise";
}

/** Describes the first gap in a stream's integer indexes; `null` if there is none. */
function oddIndexes(values: readonly unknown[], isFromStart: boolean): string | null {
  const missing = values.indexOf(undefined);
  if (missing !== -1)
    return `chunk ${missing + 1} has no \`index\`, chunk ${values.findIndex((each) => each !== undefined) + 1} has`;
  const [first] = values;
  if (isFromStart && first !== 0 && first !== 1) return `the first \`index\` is ${String(first)}`;
  const gap = values.findIndex((value, at) => at > 0 && value !== Number(values[at - 1]) + 1);
  return gap === -1 ? null : `${String(values[gap])} after ${String(values[gap - 1])}`;
}

/**
 * Judges the event order of every stream by a rule.
 * @param describe describes a stream that breaks the rule
 */
const judgedBy = (rule: StreamRule, tell: (exchange: Exchange) => string) => (evidence: Streams) => {
  const { streams: given, failing } = evidence.all;
  let judged = 0;
  for (const exchange of given) {
    // SSE-17 judges how the stream of a failing agent ends.
    const order = orderAmong(exchange, given);
    const said = rule.judge(failing.includes(exchange.id) ? { ...order, isOver: false } : order);
    if (said === undefined) continue;
    if (said !== null) return breach(rule.expected, tell(exchange), exchange);
    judged += 1;
  }
  return judged === 0 ? nothingToJudge(evidence) : holds();
};

function oddName(exchange: Exchange): string {
  const odd = eventsOf(exchange).find(({ name }) => !isKnownName(name));
  return odd === undefined || odd.name === null
    ? `an event without a name: ${formatValue(odd?.data)}`
    : `\`event: ${odd.name}\``;
}

/** Checks of all streams of the run: names, data, order and fields of events. */
export const sequenceChecks = [
  check("SSE-2", streams, judgedBy(eventNames, oddName)),
  check("SSE-3", streams, (evidence) => {
    const given = evidence.all.streams.filter((each) => eventsOf(each).length > 0);
    if (given.length === 0) return nothingToJudge(evidence);
    for (const exchange of given) {
      const odd = eventsOf(exchange).find((event) => dataOf(event) === undefined);
      if (odd !== undefined)
        return breach("`data:` is a JSON object", `${odd.name ?? "an event"} with ${formatValue(odd.data)}`, exchange);
    }
    return holds();
  }),
  check("SSE-4", streams, judgedBy(startFirst, sequenceText)),
  check(
    "SSE-5",
    streams,
    judgedBy(oneEnd, (exchange) => `${sequenceText(exchange)} (${outcomeOf(exchange)})`),
  ),
  field("SSE-7"),
  field("SSE-8"),
  field("SSE-9"),
  check("SSE-10", streams, (evidence) => {
    const seen = new Set<IndexReading>();
    for (const exchange of wellNamed(evidence)) {
      const odd = indexValues(exchange).find((value) => value !== undefined && !Number.isInteger(value));
      if (odd !== undefined) return breach("`index` of `chunk`, an integer", formatValue(odd), exchange);
      const reading = indexReading(exchange);
      if (reading !== null) seen.add(reading);
    }
    const [reading] = seen;
    if (reading === undefined) return nothingToJudge(evidence);
    return follows(seen.size === 1 ? reading : "otherwise");
  }),
  check("SSE-11", streams, (evidence) => {
    let seen = 0;
    for (const exchange of wellNamed(evidence)) {
      const values = indexValues(exchange);
      const present = values.filter((value) => value !== undefined);
      if (present.length === 0 || values.length < 2 || !present.every(Number.isInteger)) continue;
      // An event with unreadable data breaks SSE-3 and leaves a gap in the indexes.
      if (eventsOf(exchange).some((event) => dataOf(event) === undefined)) continue;
      seen += 1;
      const odd = oddIndexes(values, !isResumed(exchange));
      if (odd !== null) return breach("`index` on every chunk, from 0 or 1, that rises by one", odd, exchange);
    }
    return seen === 0 ? unproven("no stream had two chunks with an `index`") : holds();
  }),
  field("SSE-12"),
  field("SSE-13"),
  field("SSE-14"),
  checkEvery(
    "SSE-31",
    { ...streams, everything: allExchanges },
    {
      as: "not negative",
      matrix: fieldMatrix("done"),
      noun: "events",
      members: (evidence) => eventCases(evidence, wellNamed(evidence), "done"),
      judge: ({ data }) => negativeQuantity("done", data),
      whenEmpty: unproven("no `done` event told an `execution_time`"),
    },
  ),
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

/** Maximum time from the last event to the end of the stream. */
const closingMs = 2000;
const closes = "the server closes the stream after `done` or `error`";
