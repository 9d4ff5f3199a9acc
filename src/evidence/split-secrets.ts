import { isObject } from "../base/json.ts";
import { parseBoundedJson } from "../base/shallow-json.ts";
import type { Answered, Body, StreamEvent } from "./exchange.ts";
import type { SecretIndex } from "./secret-search.ts";

const withheld = "[withheld: it held a secret, in pieces]";

/**
 * Withholds a secret whose pieces are in several events of a stream. In each such event, replaces the field, the whole
 * `data` or the name, both in the recorded event and in the body.
 */
export function withholdSplitSecrets(answer: Answered, index: SecretIndex): Answered {
  if (answer.events.length < 2) return answer;
  const affected = fieldTexts(answer.events).map((view) => ({ view, at: eventsWithSecrets(view, index) }));
  if (affected.every(({ at }) => at.size === 0)) return answer;
  const events = answer.events.map((event, at) =>
    affected.filter((each) => each.at.has(at)).reduce((left, { view }) => withholdField(left, view.field), event),
  );
  const dataToWithhold = answer.events.filter((event, at) => event !== events[at]).map(({ data }) => data);
  const affectsNames = affected.some(({ view, at }) => view.field === nameField && at.size > 0);
  return {
    ...answer,
    events,
    body: affectsNames ? withheldBody(answer.body) : withholdData(answer.body, dataToWithhold),
  };
}

/** These symbols stand for an event's name and for its whole data. All other fields are those of the event's JSON. */
const nameField: unique symbol = Symbol("name");
const dataField: unique symbol = Symbol("data");
type Field = string | typeof nameField | typeof dataField;

/** The values of one field in all events, which may contain a secret when they are joined. */
interface FieldText {
  readonly field: Field;
  readonly pieces: Piece[];
}

interface Piece {
  /** Index of the event. */
  readonly at: number;
  readonly text: string;
}

function fieldTexts(events: readonly StreamEvent[]): FieldText[] {
  const views = new Map<Field, FieldText>();
  const add = (field: Field, at: number, text: unknown): void => {
    if (typeof text !== "string" || text === "") return;
    const known = views.get(field) ?? { field, pieces: [] };
    views.set(field, known);
    known.pieces.push({ at, text });
  };
  events.forEach(({ name, data }, at) => {
    const json = parseBoundedJson(data);
    if (isObject(json)) for (const [field, value] of Object.entries(json)) add(field, at, value);
    add(nameField, at, name);
    add(dataField, at, data);
  });
  return [...views.values()];
}

/**
 * Returns the indexes of the events that share a secret between them. Leaves out a secret that one event contains
 * completely.
 */
function eventsWithSecrets({ pieces }: FieldText, { find }: SecretIndex): Set<number> {
  const affected = new Set<number>();
  let [next, start] = [0, 0];
  for (const { from, to } of find(pieces.map(({ text }) => text).join(""))) {
    while (start + lengthOf(pieces[next]) <= from) start += lengthOf(pieces[next++]);
    const isWithin = start + lengthOf(pieces[next]) >= to;
    for (let [each, begin] = [next, start]; !isWithin && begin < to; begin += lengthOf(pieces[each++]))
      affected.add(pieces[each]?.at ?? 0);
  }
  return affected;
}

/** Returns the length of a piece. After the last piece the length is infinite, which ends the loops. */
const lengthOf = (piece: Piece | undefined): number => piece?.text.length ?? Number.POSITIVE_INFINITY;

/** Withholds one field of an event. Keeps the other fields, so that the event can still be judged. */
function withholdField(event: StreamEvent, field: Field): StreamEvent {
  if (field === nameField) return { ...event, name: withheld };
  if (field === dataField) return { ...event, data: withheld };
  const json = parseBoundedJson(event.data);
  return isObject(json) ? { ...event, data: JSON.stringify({ ...json, [field]: withheld }) } : event;
}

/** Withholds these `data` lines in a body. Withholds the whole body if a line is missing in it. */
function withholdData(body: Body, dataToWithhold: readonly string[]): Body {
  if (body.kind !== "text") return withheldBody(body);
  const data = new Set(dataToWithhold);
  let left = dataToWithhold.length;
  const text = body.text.replace(dataLines, (line, start: string, content: string) => {
    if (!data.has(content)) return line;
    left -= 1;
    return start + withheld;
  });
  return left > 0 ? withheldBody(body) : { kind: "text", text, bytes: body.bytes };
}

const dataLines = /(^data: ?)([^\r\n]*)/gm;

const withheldBody = (body: Body): Body =>
  body.kind === "none" ? body : { kind: "text", text: withheld, bytes: body.bytes };
