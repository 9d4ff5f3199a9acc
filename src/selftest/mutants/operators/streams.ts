import type { StreamEvent } from "../../../evidence/exchange.ts";
import { isTerminalName } from "../../../rules/streams/rules.ts";
import type { ClauseId } from "../../../spec/clauses.ts";
import { changedAt, withEvents } from "../edits.ts";
import { replacingExchanges, type Mutant, mutantOf } from "../mutant.ts";
import type { MutationSite } from "../mutation-sites.ts";

type Events = readonly StreamEvent[];

/** Changes the events of a stream. Returns `null` if the change does not apply. */
type Change = (events: Events) => Events | null;

type Row = readonly [
  operator: string,
  expects: readonly ClauseId[],
  /** Returns `null` if the stream does not have the events to change. */
  change: Change,
  /** Whether the change applies to the stream of a request with this body. Default: to every stream. */
  needs?: (requestBody: string) => boolean,
];

const isEnd = ({ name }: StreamEvent): boolean => isTerminalName(name);
const first = (events: Events, name: string): number => events.findIndex((each) => each.name === name);

const without = (events: Events, at: number): Events | null => (at === -1 ? null : events.toSpliced(at, 1));
const twice = (events: Events, at: number): Events | null => {
  const event = events[at];
  return event === undefined ? null : events.toSpliced(at, 0, event);
};
const swapped = (events: Events, one: number, other: number): Events | null => {
  const [before, after] = [events[one], events[other]];
  return before === undefined || after === undefined ? null : events.with(one, after).with(other, before);
};
const renamed = (events: Events, at: number, name: string | null): Events | null => {
  const event = events[at];
  return event === undefined ? null : events.with(at, { ...event, name });
};
const saying = (events: Events, at: number, data: (before: string) => string): Events | null => {
  const event = events[at];
  return event === undefined ? null : events.with(at, { ...event, data: data(event.data) });
};
/** Makes a change apply only to complete streams. A stream that the harness closed has no final event. */
const ended = (change: (events: Events, end: number) => Events | null) => (events: Events) => {
  const end = events.findIndex(isEnd);
  return end === -1 ? null : change(events, end);
};

const endedIn = (name: string, change: (events: Events, end: number) => Events | null) =>
  ended((events, end) => (events[end]?.name === name ? change(events, end) : null));

const operators: readonly Row[] = [
  ["`start` left out", ["SSE-4"], (events) => without(events, first(events, "start"))],
  ["`start` twice", ["SSE-4"], (events) => twice(events, first(events, "start"))],
  [
    "`start` behind the first chunk",
    ["SSE-4"],
    (events) => swapped(events, first(events, "start"), first(events, "chunk")),
  ],
  ["`start` again at the end", ["SSE-4", "SSE-5"], ended((events) => [...events, ...events.slice(0, 1)])],
  ["no `done`", ["SSE-5"], endedIn("done", without)],
  ["no `error`", ["SSE-5", "SSE-17", "SSE-19"], endedIn("error", without)],
  ["the end twice", ["SSE-5"], ended(twice)],
  [
    "a chunk after the end",
    ["SSE-5"],
    ended((events) => {
      const chunk = events[first(events, "chunk")];
      return chunk === undefined ? null : [...events, chunk];
    }),
  ],
  [
    "the end before the last chunk",
    ["SSE-5"],
    ended((events, end) => (events[end - 1]?.name === "chunk" ? swapped(events, end - 1, end) : null)),
  ],
  [
    "`error` after `done`",
    ["SSE-5"],
    ended((events, end) =>
      events[end]?.name === "done"
        ? [...events, { ...events[end], name: "error", data: '{"error":"failed","code":"STREAM_ERROR"}' }]
        : null,
    ),
  ],
  [
    "`done` after `error`",
    ["SSE-5"],
    ended((events, end) =>
      events[end]?.name === "error"
        ? [
            ...events,
            { ...events[end], name: "done", data: '{"message":"Done","usage":{"total_tokens":1},"execution_time":0}' },
          ]
        : null,
    ),
  ],
  ["nothing at all", ["SSE-4", "SSE-5", "SSE-17", "SSE-19", "SVC-2"], ended(() => [])],
  [
    "a chunk left out",
    ["SSE-11"],
    (events) => (chunks(events) < 3 ? null : without(events, first(events, "chunk") + 1)),
  ],
  ["a chunk twice", ["SSE-11"], (events) => twice(events, first(events, "chunk"))],
  [
    "two chunks swapped",
    ["SSE-11"],
    (events) => (chunks(events) < 2 ? null : swapped(events, first(events, "chunk"), first(events, "chunk") + 1)),
  ],
  ...["start", "chunk", "done", "error"].flatMap((name): Row[] => [
    [`\`${name}\` under another name`, ["SSE-2"], (events) => renamed(events, first(events, name), "message_delta")],
    [`\`${name}\` in capitals`, ["SSE-2"], (events) => renamed(events, first(events, name), name.toUpperCase())],
    [`\`${name}\` without a name`, ["SSE-2"], (events) => renamed(events, first(events, name), null)],
    [
      `data of \`${name}\` that is no JSON`,
      ["SSE-3"],
      (events) => saying(events, first(events, name), () => "plain words"),
    ],
    [
      `data of \`${name}\` in a list`,
      ["SSE-3"],
      (events) => saying(events, first(events, name), (data) => `[${data}]`),
    ],
    [`no data of \`${name}\``, ["SSE-3"], (events) => saying(events, first(events, name), () => "")],
  ]),
  [
    "a session that was not asked for",
    ["SSE-35"],
    (events) =>
      saying(events, first(events, "start"), (data) =>
        JSON.stringify(changedAt(JSON.parse(data), ["session_id"], "another-session")),
      ),
    (request) => request.includes('"session_id":"'),
  ],
  ["no `index` at all", [], (events) => everyChunk(events, (data) => changedAt(data, ["index"], undefined))],
  ["every `index` `null`", [], (events) => everyChunk(events, (data) => ({ ...data, index: null }))],
];

const chunks = (events: Events): number => events.filter(({ name }) => name === "chunk").length;

const everyChunk = (events: Events, change: (data: Readonly<Record<string, unknown>>) => unknown): Events | null =>
  chunks(events) === 0
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
  return operators.flatMap(([operator, expects, change, needs = () => true]) => {
    const changed = change(events);
    if (changed === null || !needs(requestBody)) return [];
    const where = { place, subject: "events", id: exchange.id };
    return [mutantOf(operator, where, expects, () => replacingExchanges(withEvents(exchange, changed)))];
  });
}
