import type { StreamEvent } from "../../../evidence/exchange.ts";
import type { ClauseId } from "../../../spec/clauses.ts";
import { changedAt, withEvents } from "../edits.ts";
import { inPlaceOf, type Mutant, type MutantKind } from "../mutant.ts";
import type { MutationSite } from "../mutation-sites.ts";

type Events = readonly StreamEvent[];

/** What is done to the events of a stream. */
interface StreamOperator {
  readonly operator: string;
  readonly kind?: MutantKind;
  readonly expects: readonly ClauseId[];
  /** Whether it is wrong after such a request; after any, where it is left out. */
  readonly needs?: (requestBody: string) => boolean;
  /** `null` where the stream has no such events. */
  readonly change: (events: Events) => Events | null;
}

const isEnd = ({ name }: StreamEvent): boolean => name === "done" || name === "error";
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
/** Only of a stream that came to its end: what the harness closed has none. */
const ended = (change: (events: Events, end: number) => Events | null) => (events: Events) => {
  const end = events.findIndex(isEnd);
  return end === -1 ? null : change(events, end);
};

const endedIn = (name: string, change: (events: Events, end: number) => Events | null) =>
  ended((events, end) => (events[end]?.name === name ? change(events, end) : null));

const operators: readonly StreamOperator[] = [
  { operator: "`start` left out", expects: ["SSE-4"], change: (events) => without(events, first(events, "start")) },
  { operator: "`start` twice", expects: ["SSE-4"], change: (events) => twice(events, first(events, "start")) },
  {
    operator: "`start` behind the first chunk",
    expects: ["SSE-4"],
    change: (events) => swapped(events, first(events, "start"), first(events, "chunk")),
  },
  {
    operator: "`start` again at the end",
    expects: ["SSE-4", "SSE-5"],
    change: ended((events) => [...events, ...events.slice(0, 1)]),
  },
  { operator: "no `done`", expects: ["SSE-5"], change: endedIn("done", without) },
  { operator: "no `error`", expects: ["SSE-5", "SSE-17", "SSE-19"], change: endedIn("error", without) },
  { operator: "the end twice", expects: ["SSE-5"], change: ended(twice) },
  {
    operator: "a chunk after the end",
    expects: ["SSE-5"],
    change: ended((events) => {
      const chunk = events[first(events, "chunk")];
      return chunk === undefined ? null : [...events, chunk];
    }),
  },
  {
    operator: "the end before the last chunk",
    expects: ["SSE-5"],
    change: ended((events, end) => (events[end - 1]?.name === "chunk" ? swapped(events, end - 1, end) : null)),
  },
  {
    operator: "`error` after `done`",
    expects: ["SSE-5"],
    change: ended((events, end) =>
      events[end]?.name === "done"
        ? [...events, { ...events[end], name: "error", data: '{"error":"failed","code":"STREAM_ERROR"}' }]
        : null,
    ),
  },
  {
    operator: "`done` after `error`",
    expects: ["SSE-5"],
    change: ended((events, end) =>
      events[end]?.name === "error"
        ? [
            ...events,
            { ...events[end], name: "done", data: '{"message":"Done","usage":{"total_tokens":1},"execution_time":0}' },
          ]
        : null,
    ),
  },
  { operator: "nothing at all", expects: ["SSE-4", "SSE-5", "SSE-17", "SSE-19", "SVC-2"], change: ended(() => []) },
  {
    operator: "a chunk left out",
    expects: ["SSE-11"],
    change: (events) => (chunks(events) < 3 ? null : without(events, first(events, "chunk") + 1)),
  },
  { operator: "a chunk twice", expects: ["SSE-11"], change: (events) => twice(events, first(events, "chunk")) },
  {
    operator: "two chunks swapped",
    expects: ["SSE-11"],
    change: (events) =>
      chunks(events) < 2 ? null : swapped(events, first(events, "chunk"), first(events, "chunk") + 1),
  },
  ...["start", "chunk", "done", "error"].flatMap((name): StreamOperator[] => [
    {
      operator: `\`${name}\` under another name`,
      expects: ["SSE-2"],
      change: (events) => renamed(events, first(events, name), "message_delta"),
    },
    {
      operator: `\`${name}\` in capitals`,
      expects: ["SSE-2"],
      change: (events) => renamed(events, first(events, name), name.toUpperCase()),
    },
    {
      operator: `\`${name}\` without a name`,
      expects: ["SSE-2"],
      change: (events) => renamed(events, first(events, name), null),
    },
    {
      operator: `data of \`${name}\` that is no JSON`,
      expects: ["SSE-3"],
      change: (events) => saying(events, first(events, name), () => "plain words"),
    },
    {
      operator: `data of \`${name}\` in a list`,
      expects: ["SSE-3"],
      change: (events) => saying(events, first(events, name), (data) => `[${data}]`),
    },
    {
      operator: `no data of \`${name}\``,
      expects: ["SSE-3"],
      change: (events) => saying(events, first(events, name), () => ""),
    },
  ]),
  {
    operator: "a session that was not asked for",
    expects: ["SSE-35"],
    needs: (request) => request.includes('"session_id":"'),
    change: (events) =>
      saying(events, first(events, "start"), (data) =>
        JSON.stringify(changedAt(JSON.parse(data), ["session_id"], "another-session")),
      ),
  },
  {
    operator: "no `index` at all",
    kind: "legal",
    expects: [],
    change: (events) => everyChunk(events, (data) => changedAt(data, ["index"], undefined)),
  },
  {
    operator: "every `index` `null`",
    kind: "legal",
    expects: [],
    change: (events) => everyChunk(events, (data) => ({ ...data, index: null })),
  },
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

/** Every way to spoil the events of a stream. */
export function streamMutants({ exchange, name, endpoint, status }: MutationSite): Mutant[] {
  const { events, ending } = exchange.answer;
  if (endpoint !== "stream" || status !== 200 || ending.kind !== "complete") return [];
  const { body } = exchange.request;
  return operators.flatMap(({ operator, kind = "wrong", expects, needs = () => true, change }) => {
    const changed = change(events);
    if (changed === null || !needs(body.kind === "text" ? body.text : "")) return [];
    return [
      {
        kind,
        operator,
        place: name,
        subject: "events",
        id: exchange.id,
        expects,
        make: () => inPlaceOf(withEvents(exchange, changed)),
      },
    ];
  });
}
