import { isObject, tryParseJson } from "../../../base/json.ts";
import type { ClauseId } from "../../../spec/clauses.ts";
import { fieldTableNames, fieldTableOf } from "../../../spec/fields.ts";
import { replaceAt, jsonText, plainJson, jsonPathsOf, valueAt } from "../../mutants/edits.ts";
import type { WireEvent } from "../dimensions.ts";
import { type FieldChange, fieldChanges } from "./bodies.ts";
import { type EventChange, isSuccess, type Mutation, mutation } from "./mutation.ts";

const onStream = { endpoints: ["stream"], prescribed: "success" } as const;

const isEnd = ({ name }: WireEvent): boolean => name === "done" || name === "error";

const changeEvents =
  (change: (event: WireEvent, earlier: readonly WireEvent[]) => readonly WireEvent[]) => (): EventChange => {
    const earlier: WireEvent[] = [];
    return (event) => {
      if (event === null) return [];
      const events = change(event, earlier);
      earlier.push(event);
      return events;
    };
  };

const isFirst = (event: WireEvent, earlier: readonly WireEvent[]): boolean =>
  !earlier.some(({ name }) => name === event.name);

const agentsWithout = {
  chunk: ["failing", "unhealthy", "overloaded", "timingOut"],
  done: ["failing", "unhealthy", "overloaded", "timingOut", "failingInStream"],
} as const satisfies Readonly<Record<string, readonly string[]>>;

/**
 * Creates a mutation of a stream's events. If `changed` is `chunk` or `done`, excludes agents that never send this
 * event.
 */
const eventMutation = (
  group: string,
  description: string,
  breaks: readonly ClauseId[],
  begin: () => EventChange,
  changed?: string,
): Mutation =>
  mutation({
    class: group,
    description: `${description} (stream)`,
    ...onStream,
    breaks,
    excludes: ({ agent }) =>
      (changed === "chunk" || changed === "done") && agentsWithout[changed].some((role) => role === agent),
    appliesTo: isSuccess,
    change: { kind: "events", begin },
  });

const swapFirstTwo = (): EventChange => {
  let held: WireEvent | null = null;
  let count = 0;
  return (event) => {
    if (event === null) return held === null ? [] : [held];
    count += 1;
    if (count === 1) {
      held = event;
      return [];
    }
    if (count > 2 || held === null) return [event];
    const events = [event, held];
    held = null;
    return events;
  };
};

const chunkAfterEnd: WireEvent = { name: "chunk", data: '{"content":"more","index":9999}' };

const replaceEvents = (
  matches: (event: WireEvent) => boolean,
  replacements: (event: WireEvent) => readonly WireEvent[],
  onlyFirst = false,
): (() => EventChange) =>
  changeEvents((event, earlier) =>
    matches(event) && (!onlyFirst || isFirst(event, earlier)) ? replacements(event) : [event],
  );

const isNamed =
  (wanted: string) =>
  ({ name }: WireEvent): boolean =>
    name === wanted;
const drop = () => [];
const repeat = (event: WireEvent) => [event, event];

const sequenceMutations: readonly Mutation[] = (
  [
    ["drop an event", "`start` left out", "SSE-4", replaceEvents(isNamed("start"), drop)],
    ["drop an event", "the end left out", "SSE-5", replaceEvents(isEnd, drop)],
    // Changes only streams that end with `done`: a stream that ends with `error` needs no chunk.
    ["drop an event", "every `chunk` left out", "SSE-6", replaceEvents(isNamed("chunk"), drop), "done"],
    ["duplicate an event", "`start` twice", "SSE-4", replaceEvents(isNamed("start"), repeat)],
    ["duplicate an event", "the end twice", "SSE-5", replaceEvents(isEnd, repeat)],
    ["reorder events", "a chunk before `start`", "SSE-4", swapFirstTwo],
    ["reorder events", "a chunk after the end", "SSE-5", replaceEvents(isEnd, (event) => [event, chunkAfterEnd])],
    [
      "another value",
      "an unknown event name",
      "SSE-2",
      replaceEvents(isNamed("chunk"), (event) => [{ ...event, name: "delta" }], true),
      "chunk",
    ],
    ...(["start", "chunk", "done"] as const).map(
      (name) =>
        [
          "wrong type",
          `data of \`${name}\` that is no JSON`,
          "SSE-3",
          replaceEvents(isNamed(name), (event) => [{ ...event, data: "plain words" }], true),
          name,
        ] as const,
    ),
  ] as const
).map(([group, description, clause, begin, changed]) => eventMutation(group, description, [clause], begin, changed));

const changeEventField = (name: string, path: string, to: FieldChange["to"], onlyFirst: boolean): (() => EventChange) =>
  replaceEvents(
    isNamed(name),
    (event) => {
      const data = tryParseJson(event.data);
      const [steps] = jsonPathsOf(data, path);
      const changed = steps === undefined ? null : to(valueAt(data, steps));
      return steps === undefined || changed === null
        ? [event]
        : [{ ...event, data: jsonText(replaceAt(data, steps, changed.value)) }];
    },
    onlyFirst,
  );

const fieldMutations: readonly Mutation[] = fieldTableNames.flatMap((table) => {
  const { message, fields: rows } = fieldTableOf(table);
  if (message.kind !== "stream event") return [];
  const { event } = message;
  return (rows ?? []).flatMap((row) =>
    fieldChanges(row)
      .filter(({ breaks }) => breaks.length > 0 || row.path !== "retry_after")
      .map(({ class: group, what, breaks, requires, to }) => ({
        ...eventMutation(
          group,
          `${what} of \`${event}\``,
          breaks,
          changeEventField(event, row.path, to, breaks.length > 0),
          event,
        ),
        // Chooses an agent that sends the field. In `error` events, only an overloaded agent sends `retry_after`.
        requires:
          event === "error" ? { agent: row.path === "retry_after" ? "overloaded" : "failingInStream" } : requires,
      })),
  );
});

const legalTextMutation = (description: string, of: (text: string) => string): Mutation =>
  mutation({ class: "legal: streams", description, endpoints: ["stream"], change: { kind: "stream text", of } });

export const streamMutations: readonly Mutation[] = [
  ...sequenceMutations,
  ...fieldMutations,
  legalTextMutation("comments between the events", (text) => text.replaceAll("event:", ": keep-alive\n\nevent:")),
  legalTextMutation("lines that end with CRLF", (text) => text.replaceAll("\n", "\r\n")),
  legalTextMutation("`id:` and `retry:` fields", (text) => text.replaceAll("event:", "id: 7\nretry: 1000\nevent:")),
  eventMutation(
    "legal: streams",
    "unknown fields in the data",
    [],
    changeEvents((event) => {
      const data = tryParseJson(event.data);
      return isObject(data) ? [{ ...event, data: jsonText({ x_more: null, ...data }, plainJson) }] : [event];
    }),
  ),
];
