import type { StreamEvent } from "../../../evidence/exchange.ts";
import { isFinalEventName } from "../../../rules/streams/streams.ts";
import type { ClauseId } from "../../../spec/clauses.ts";
import { replaceAt, withEvents } from "../edits.ts";
import { replacingExchanges, type Mutant, mutantOf } from "../mutant.ts";
import type { MutationSite } from "../messages.ts";

type StreamEvents = readonly StreamEvent[];

type StreamChange = (events: StreamEvents) => StreamEvents | null;

type StreamOperator = readonly [
  operator: string,
  expects: readonly ClauseId[],
  change: StreamChange,
  /** Whether to change a stream whose request has this body. By default, every stream is changed. */
  needs?: (requestBody: string) => boolean,
];

const isEnd = ({ name }: StreamEvent): boolean => isFinalEventName(name);
const indexOfFirst = (events: StreamEvents, name: string): number => events.findIndex((each) => each.name === name);

type EventEdit = (events: StreamEvents, at: number) => StreamEvents | null;

const editEvent =
  (edit: (event: StreamEvent) => readonly StreamEvent[]): EventEdit =>
  (events, at) => {
    const event = events[at];
    return event === undefined ? null : events.toSpliced(at, 1, ...edit(event));
  };
const dropEvent = editEvent(() => []);
const repeatEvent = editEvent((event) => [event, event]);
const rename = (name: string | null): EventEdit => editEvent((event) => [{ ...event, name }]);
const replaceData = (data: (before: string) => string): EventEdit =>
  editEvent((event) => [{ ...event, data: data(event.data) }]);
const swapEvents = (events: StreamEvents, one: number, other: number): StreamEvents | null => {
  const [before, after] = [events[one], events[other]];
  return before === undefined || after === undefined ? null : events.with(one, after).with(other, before);
};

const first =
  (name: string, edit: EventEdit): StreamChange =>
  (events) =>
    edit(events, indexOfFirst(events, name));
const firstData = (name: string, data: (before: string) => string): StreamChange => first(name, replaceData(data));
/** Returns a change of a stream's final event, `done` or `error`. A stream without a final event gets no mutant. */
const atEnd =
  (edit: EventEdit): StreamChange =>
  (events) => {
    const end = events.findIndex(isEnd);
    return end === -1 ? null : edit(events, end);
  };
const atEndOf = (name: string, edit: EventEdit): StreamChange =>
  atEnd((events, end) => (events[end]?.name === name ? edit(events, end) : null));
const append =
  (name: string, data: string): EventEdit =>
  (events, end) =>
    events[end] === undefined ? null : [...events, { ...events[end], name, data }];

const streamOperators: readonly StreamOperator[] = [
  ["`start` left out", ["SSE-4"], first("start", dropEvent)],
  ["`start` twice", ["SSE-4"], first("start", repeatEvent)],
  [
    "`start` behind the first chunk",
    ["SSE-4"],
    first("start", (events, at) => swapEvents(events, at, indexOfFirst(events, "chunk"))),
  ],
  ["`start` again at the end", ["SSE-4", "SSE-5"], atEnd((events) => [...events, ...events.slice(0, 1)])],
  ["no `done`", ["SSE-5"], atEndOf("done", dropEvent)],
  ["no `error`", ["SSE-5", "SSE-17", "SSE-19"], atEndOf("error", dropEvent)],
  ["the end twice", ["SSE-5"], atEnd(repeatEvent)],
  [
    "a chunk after the end",
    ["SSE-5"],
    atEnd((events) => {
      const chunk = events[indexOfFirst(events, "chunk")];
      return chunk === undefined ? null : [...events, chunk];
    }),
  ],
  [
    "the end before the last chunk",
    ["SSE-5"],
    atEnd((events, end) => (events[end - 1]?.name === "chunk" ? swapEvents(events, end - 1, end) : null)),
  ],
  ["`error` after `done`", ["SSE-5"], atEndOf("done", append("error", '{"error":"failed","code":"STREAM_ERROR"}'))],
  [
    "`done` after `error`",
    ["SSE-5"],
    atEndOf("error", append("done", '{"message":"Done","usage":{"total_tokens":1},"execution_time":0}')),
  ],
  ["nothing at all", ["SSE-4", "SSE-5", "SSE-17", "SSE-19", "SVC-2"], atEnd(() => [])],
  [
    "a chunk left out",
    ["SSE-11"],
    first("chunk", (events, at) => (countChunks(events) < 3 ? null : dropEvent(events, at + 1))),
  ],
  ["a chunk twice", ["SSE-11"], first("chunk", repeatEvent)],
  [
    "two chunks swapped",
    ["SSE-11"],
    first("chunk", (events, at) => (countChunks(events) < 2 ? null : swapEvents(events, at, at + 1))),
  ],
  ...["start", "chunk", "done", "error"].flatMap((name): StreamOperator[] => [
    [`\`${name}\` under another name`, ["SSE-2"], first(name, rename("message_delta"))],
    [`\`${name}\` in capitals`, ["SSE-2"], first(name, rename(name.toUpperCase()))],
    [`\`${name}\` without a name`, ["SSE-2"], first(name, rename(null))],
    [`data of \`${name}\` that is no JSON`, ["SSE-3"], firstData(name, () => "plain words")],
    [`data of \`${name}\` in a list`, ["SSE-3"], firstData(name, (data) => `[${data}]`)],
    [`no data of \`${name}\``, ["SSE-3"], firstData(name, () => "")],
  ]),
  [
    "a session that was not asked for",
    ["SSE-35"],
    firstData("start", (data) => JSON.stringify(replaceAt(JSON.parse(data), ["session_id"], "another-session"))),
    (request) => request.includes('"session_id":"'),
  ],
  ["no `index` at all", [], (events) => changeChunks(events, (data) => replaceAt(data, ["index"], undefined))],
  ["every `index` `null`", [], (events) => changeChunks(events, (data) => ({ ...data, index: null }))],
];

const countChunks = (events: StreamEvents): number => events.filter(({ name }) => name === "chunk").length;

const changeChunks = (
  events: StreamEvents,
  change: (data: Readonly<Record<string, unknown>>) => unknown,
): StreamEvents | null =>
  countChunks(events) === 0
    ? null
    : events.map((event) =>
        event.name === "chunk"
          ? { ...event, data: JSON.stringify(change(JSON.parse(event.data) as Readonly<Record<string, unknown>>)) }
          : event,
      );

export function streamMutants({ exchange, name: place, endpoint, status }: MutationSite): Mutant[] {
  const { events, ending } = exchange.answer;
  if (endpoint !== "stream" || status !== 200 || ending.kind !== "complete") return [];
  const { body } = exchange.request;
  const requestBody = body.kind === "text" ? body.text : "";
  return streamOperators.flatMap(([operator, expects, change, needs = () => true]) => {
    const changed = change(events);
    if (changed === null || !needs(requestBody)) return [];
    const where = { place, subject: "events", id: exchange.id };
    return [mutantOf(operator, where, expects, () => replacingExchanges(withEvents(exchange, changed)))];
  });
}
