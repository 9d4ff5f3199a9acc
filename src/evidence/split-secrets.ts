import { isObject } from "../base/json.ts";
import { parseBoundedJson } from "../base/bounded-json.ts";
import type { Answered, Body, StreamEvent } from "./exchange.ts";
import type { SecretIndex } from "./secret-search.ts";

const withheldMark = "[withheld: it held a secret, in pieces]";

/** Removes secrets that are split over several events of a stream. */
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

const nameField: unique symbol = Symbol("name");
const dataField: unique symbol = Symbol("data");
type Field = string | typeof nameField | typeof dataField;

/** The values of one field in all events of a stream. Joined together, they may contain a secret. */
interface FieldText {
  readonly field: Field;
  readonly pieces: FieldPiece[];
}

interface FieldPiece {
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

function eventsWithSecrets({ pieces }: FieldText, { find }: SecretIndex): Set<number> {
  const affected = new Set<number>();
  let [next, start] = [0, 0];
  for (const { from, to } of find(pieces.map(({ text }) => text).join(""))) {
    while (start + pieceLength(pieces[next]) <= from) start += pieceLength(pieces[next++]);
    const isWithin = start + pieceLength(pieces[next]) >= to;
    for (let [each, begin] = [next, start]; !isWithin && begin < to; begin += pieceLength(pieces[each++]))
      affected.add(pieces[each]?.at ?? 0);
  }
  return affected;
}

const pieceLength = (piece: FieldPiece | undefined): number => piece?.text.length ?? Number.POSITIVE_INFINITY;

function withholdField(event: StreamEvent, field: Field): StreamEvent {
  if (field === nameField) return { ...event, name: withheldMark };
  if (field === dataField) return { ...event, data: withheldMark };
  const json = parseBoundedJson(event.data);
  return isObject(json) ? { ...event, data: JSON.stringify({ ...json, [field]: withheldMark }) } : event;
}

/** Replaces the given `data` lines in a recorded body, or the whole body if one of them cannot be found. */
function withholdData(body: Body, dataToWithhold: readonly string[]): Body {
  if (body.kind !== "text") return withheldBody(body);
  const data = new Set(dataToWithhold);
  let left = dataToWithhold.length;
  const text = body.text.replace(dataLines, (line, start: string, content: string) => {
    if (!data.has(content)) return line;
    left -= 1;
    return start + withheldMark;
  });
  return left > 0 ? withheldBody(body) : { kind: "text", text, bytes: body.bytes };
}

const dataLines = /(^data: ?)([^\r\n]*)/gm;

const withheldBody = (body: Body): Body =>
  body.kind === "none" ? body : { kind: "text", text: withheldMark, bytes: body.bytes };
