import { isObject, tryParseJson } from "../../../base/json.ts";
import type { ClauseId } from "../../../spec/clauses.ts";
import { fieldTableNames, fieldTableOf } from "../../../spec/fields.ts";
import { replaceAt, jsonText, plainJson, jsonPathsOf, valueAt } from "../../mutants/edits.ts";
import type { WireEvent } from "../message.ts";
import { type FieldChange, fieldChanges } from "./bodies.ts";
import { type EventChange, isSuccess, type Mutation, mutation } from "./mutation.ts";

const onStream = { endpoints: ["stream"], prescribed: "success" } as const;

const isEnd = ({ name }: WireEvent): boolean => name === "done" || name === "error";

/** Creates a change that replaces each event of a stream by other events. `earlier` are the events before it. */
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

/** Agents of the reference server whose streams fail before the first chunk, and those whose streams have no `done`. */
const agentsWithout = {
  chunk: ["failing", "unhealthy", "overloaded", "timingOut"],
  done: ["failing", "unhealthy", "overloaded", "timingOut", "failingInStream"],
} as const satisfies Readonly<Record<string, readonly string[]>>;

/** @param changed the event that the mutation changes; without one, it changes every stream */
const illegalMutation = (
  group: string,
  description: string,
  breaks: readonly ClauseId[],
  begin: () => EventChange,
  changed: string | null = null,
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

/** Mutations that change the order or the number of events. */
const sequenceMutations: readonly Mutation[] = [
  illegalMutation(
    "drop an event",
    "`start` left out",
    ["SSE-4"],
    changeEvents((event) => (event.name === "start" ? [] : [event])),
  ),
  illegalMutation(
    "drop an event",
    "the end left out",
    ["SSE-5"],
    changeEvents((event) => (isEnd(event) ? [] : [event])),
  ),
  illegalMutation(
    "drop an event",
    "every `chunk` left out",
    ["SSE-6"],
    changeEvents((event) => (event.name === "chunk" ? [] : [event])),
    // A stream that fails needs no chunk.
    "done",
  ),
  illegalMutation(
    "duplicate an event",
    "`start` twice",
    ["SSE-4"],
    changeEvents((event) => (event.name === "start" ? [event, event] : [event])),
  ),
  illegalMutation(
    "duplicate an event",
    "the end twice",
    ["SSE-5"],
    changeEvents((event) => (isEnd(event) ? [event, event] : [event])),
  ),
  illegalMutation("reorder events", "a chunk before `start`", ["SSE-4"], swapFirstTwo),
  illegalMutation(
    "reorder events",
    "a chunk after the end",
    ["SSE-5"],
    changeEvents((event) => (isEnd(event) ? [event, chunkAfterEnd] : [event])),
  ),
  illegalMutation(
    "another value",
    "an unknown event name",
    ["SSE-2"],
    changeEvents((event, earlier) =>
      event.name === "chunk" && isFirst(event, earlier) ? [{ ...event, name: "delta" }] : [event],
    ),
    "chunk",
  ),
  ...(["start", "chunk", "done"] as const).map((name) =>
    illegalMutation(
      "wrong type",
      `data of \`${name}\` that is no JSON`,
      ["SSE-3"],
      changeEvents((event, earlier) =>
        event.name === name && isFirst(event, earlier) ? [{ ...event, data: "plain words" }] : [event],
      ),
      name,
    ),
  ),
];

/** Changes a field in the first event of a name or, with `isOfAll`, in all events of that name. */
const changeFirstField = (name: string, path: string, to: FieldChange["to"], isOfAll: boolean): (() => EventChange) =>
  changeEvents((event, earlier) => {
    if (event.name !== name || !(isOfAll || isFirst(event, earlier))) return [event];
    const data = tryParseJson(event.data);
    const [steps] = jsonPathsOf(data, path);
    const changed = steps === undefined ? null : to(valueAt(data, steps));
    return steps === undefined || changed === null
      ? [event]
      : [{ ...event, data: jsonText(replaceAt(data, steps, changed.value)) }];
  });

const fieldMutations: readonly Mutation[] = fieldTableNames.flatMap((table) => {
  const { message, fields: rows } = fieldTableOf(table);
  if (message.kind !== "stream event") return [];
  const { event } = message;
  return (rows ?? []).flatMap((row) =>
    fieldChanges(row)
      .filter(({ breaks }) => breaks.length > 0 || row.path !== "retry_after")
      .map(({ class: group, what, breaks, requires, to }) => ({
        ...illegalMutation(
          group,
          `${what} of \`${event}\``,
          breaks,
          changeFirstField(event, row.path, to, breaks.length === 0),
          event,
        ),
        // `error` events come only from agents that fail, and `retry_after` only from overloaded agents.
        requires:
          event === "error" ? { agent: row.path === "retry_after" ? "overloaded" : "failingInStream" } : requires,
      })),
  );
});

const legalTextMutation = (description: string, of: (text: string) => string): Mutation =>
  mutation({ class: "legal: streams", description, endpoints: ["stream"], change: { kind: "stream text", of } });

/** Mutations that change the events of streams. */
export const streamMutations: readonly Mutation[] = [
  ...sequenceMutations,
  ...fieldMutations,
  legalTextMutation("comments between the events", (text) => text.replaceAll("event:", ": keep-alive\n\nevent:")),
  legalTextMutation("lines that end with CRLF", (text) => text.replaceAll("\n", "\r\n")),
  legalTextMutation("`id:` and `retry:` fields", (text) => text.replaceAll("event:", "id: 7\nretry: 1000\nevent:")),
  illegalMutation(
    "legal: streams",
    "unknown fields in the data",
    [],
    changeEvents((event) => {
      const data = tryParseJson(event.data);
      return isObject(data) ? [{ ...event, data: jsonText({ x_more: null, ...data }, plainJson) }] : [event];
    }),
  ),
];
