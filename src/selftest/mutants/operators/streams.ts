import type { StreamEvent } from "../../../evidence/exchange.ts";
import { isTerminalName } from "../../../rules/streams/streams.ts";
import type { ClauseId } from "../../../spec/clauses.ts";
import { replaceAt, withEvents } from "../edits.ts";
import { replacingExchanges, type Mutant, mutantOf } from "../mutant.ts";
import type { MutationSite } from "../mutation-sites.ts";

type StreamEvents = readonly StreamEvent[];

/** Changes the events of a stream. Returns `null` if the change does not apply. */
type StreamChange = (events: StreamEvents) => StreamEvents | null;

type StreamOperator = readonly [
  operator: string,
  expects: readonly ClauseId[],
  change: StreamChange,
  /** Whether the change applies, given the body of the request. Default: to every stream. */
  needs?: (requestBody: string) => boolean,
];

const isEnd = ({ name }: StreamEvent): boolean => isTerminalName(name);
const indexOfFirst = (events: StreamEvents, name: string): number => events.findIndex((each) => each.name === name);

const dropEvent = (events: StreamEvents, at: number): StreamEvents | null =>
  at === -1 ? null : events.toSpliced(at, 1);
const repeatEvent = (events: StreamEvents, at: number): StreamEvents | null => {
  const event = events[at];
  return event === undefined ? null : events.toSpliced(at, 0, event);
};
const swapEvents = (events: StreamEvents, one: number, other: number): StreamEvents | null => {
  const [before, after] = [events[one], events[other]];
  return before === undefined || after === undefined ? null : events.with(one, after).with(other, before);
};
const renameEvent = (events: StreamEvents, at: number, name: string | null): StreamEvents | null => {
  const event = events[at];
  return event === undefined ? null : events.with(at, { ...event, name });
};
const replaceData = (events: StreamEvents, at: number, data: (before: string) => string): StreamEvents | null => {
  const event = events[at];
  return event === undefined ? null : events.with(at, { ...event, data: data(event.data) });
};
/** Makes a change apply only to streams with a final event. A stream that the harness closed has none. */
const ifComplete = (change: (events: StreamEvents, end: number) => StreamEvents | null) => (events: StreamEvents) => {
  const end = events.findIndex(isEnd);
  return end === -1 ? null : change(events, end);
};

const ifEndedBy = (name: string, change: (events: StreamEvents, end: number) => StreamEvents | null) =>
  ifComplete((events, end) => (events[end]?.name === name ? change(events, end) : null));

const streamOperators: readonly StreamOperator[] = [
  ["`start` left out", ["SSE-4"], (events) => dropEvent(events, indexOfFirst(events, "start"))],
  ["`start` twice", ["SSE-4"], (events) => repeatEvent(events, indexOfFirst(events, "start"))],
  [
    "`start` behind the first chunk",
    ["SSE-4"],
    (events) => swapEvents(events, indexOfFirst(events, "start"), indexOfFirst(events, "chunk")),
  ],
  ["`start` again at the end", ["SSE-4", "SSE-5"], ifComplete((events) => [...events, ...events.slice(0, 1)])],
  ["no `done`", ["SSE-5"], ifEndedBy("done", dropEvent)],
  ["no `error`", ["SSE-5", "SSE-17", "SSE-19"], ifEndedBy("error", dropEvent)],
  ["the end twice", ["SSE-5"], ifComplete(repeatEvent)],
  [
    "a chunk after the end",
    ["SSE-5"],
    ifComplete((events) => {
      const chunk = events[indexOfFirst(events, "chunk")];
      return chunk === undefined ? null : [...events, chunk];
    }),
  ],
  [
    "the end before the last chunk",
    ["SSE-5"],
    ifComplete((events, end) => (events[end - 1]?.name === "chunk" ? swapEvents(events, end - 1, end) : null)),
  ],
  [
    "`error` after `done`",
    ["SSE-5"],
    ifComplete((events, end) =>
      events[end]?.name === "done"
        ? [...events, { ...events[end], name: "error", data: '{"error":"failed","code":"STREAM_ERROR"}' }]
        : null,
    ),
  ],
  [
    "`done` after `error`",
    ["SSE-5"],
    ifComplete((events, end) =>
      events[end]?.name === "error"
        ? [
            ...events,
            { ...events[end], name: "done", data: '{"message":"Done","usage":{"total_tokens":1},"execution_time":0}' },
          ]
        : null,
    ),
  ],
  ["nothing at all", ["SSE-4", "SSE-5", "SSE-17", "SSE-19", "SVC-2"], ifComplete(() => [])],
  [
    "a chunk left out",
    ["SSE-11"],
    (events) => (countChunks(events) < 3 ? null : dropEvent(events, indexOfFirst(events, "chunk") + 1)),
  ],
  ["a chunk twice", ["SSE-11"], (events) => repeatEvent(events, indexOfFirst(events, "chunk"))],
  [
    "two chunks swapped",
    ["SSE-11"],
    (events) =>
      countChunks(events) < 2
        ? null
        : swapEvents(events, indexOfFirst(events, "chunk"), indexOfFirst(events, "chunk") + 1),
  ],
  ...["start", "chunk", "done", "error"].flatMap((name): StreamOperator[] => [
    [
      `\`${name}\` under another name`,
      ["SSE-2"],
      (events) => renameEvent(events, indexOfFirst(events, name), "message_delta"),
    ],
    [
      `\`${name}\` in capitals`,
      ["SSE-2"],
      (events) => renameEvent(events, indexOfFirst(events, name), name.toUpperCase()),
    ],
    [`\`${name}\` without a name`, ["SSE-2"], (events) => renameEvent(events, indexOfFirst(events, name), null)],
    [
      `data of \`${name}\` that is no JSON`,
      ["SSE-3"],
      (events) => replaceData(events, indexOfFirst(events, name), () => "plain words"),
    ],
    [
      `data of \`${name}\` in a list`,
      ["SSE-3"],
      (events) => replaceData(events, indexOfFirst(events, name), (data) => `[${data}]`),
    ],
    [`no data of \`${name}\``, ["SSE-3"], (events) => replaceData(events, indexOfFirst(events, name), () => "")],
  ]),
  [
    "a session that was not asked for",
    ["SSE-35"],
    (events) =>
      replaceData(events, indexOfFirst(events, "start"), (data) =>
        JSON.stringify(replaceAt(JSON.parse(data), ["session_id"], "another-session")),
      ),
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

/** Returns mutants in which the events of a complete stream are changed. */
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
