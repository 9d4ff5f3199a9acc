import { getOrAdd } from "../base/memoize.ts";
import type { Answered, Body, StreamEvent } from "./exchange.ts";
import type { Secret } from "./secret.ts";
import { indexSecrets, type SecretIndex } from "./secret-search.ts";
import { isObject } from "../base/json.ts";
import { parseBoundedJson } from "../base/parsing.ts";

const withheldMark = "[withheld: it held a secret, in pieces]";

/**
 * Withholds fields of a stream's events if a secret is split over several events, e.g. if one event has its first half
 * and the next event has the rest.
 */
function withholdSplitSecrets(answer: Answered, index: SecretIndex): Answered {
  if (answer.events.length < 2) return answer;
  const affected = fieldTexts(answer.events).map((view) => ({ view, at: eventsWithSecrets(view, index) }));
  if (affected.every(({ at }) => at.size === 0)) return answer;
  const events = answer.events.map((event, at) =>
    affected.filter((each) => each.at.has(at)).reduce((current, { view }) => withholdField(current, view.field), event),
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

/** The values of one field in all events of a stream. Joined together, these values may contain a secret. */
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
    getOrAdd(views, field, (): FieldText => ({ field, pieces: [] })).pieces.push({ at, text });
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

/** Replaces the given `data:` lines in the body of a stream, or the whole body if it does not contain all of them. */
function withholdData(body: Body, dataToWithhold: readonly string[]): Body {
  if (body.kind !== "text") return withheldBody(body);
  const data = new Set(dataToWithhold);
  let remaining = dataToWithhold.length;
  const text = body.text.replace(dataLines, (line, start: string, content: string) => {
    if (!data.has(content)) return line;
    remaining -= 1;
    return start + withheldMark;
  });
  return remaining > 0 ? withheldBody(body) : { kind: "text", text, bytes: body.bytes };
}

const dataLines = /(^data: ?)([^\r\n]*)/gm;

const withheldBody = (body: Body): Body =>
  body.kind === "none" ? body : { kind: "text", text: withheldMark, bytes: body.bytes };

export type { Secret } from "./secret.ts";

/** A function that replaces every secret in a text by `[redacted NAME]`. */
export type Redact = (text: string) => string;

export interface Redactor {
  readonly text: Redact;
  readonly deep: <T>(data: T) => T;
}

/**
 * Creates a redactor. It also removes encoded secrets, and parts of at least eight characters. A part of an unencoded
 * secret stays if the harness's own texts, such as clauses, contain it (`isHarnessText`).
 */
export function redactorFor(
  secrets: readonly Secret[],
  isHarnessText: (gram: string) => boolean = () => false,
): Redactor {
  const index = indexSecrets(secrets, isHarnessText);
  if (index.isEmpty) return { text: (text) => text, deep: (data) => data };
  const redact: Redact = (text) => replaceMatches(text, index);
  const redactsNumbers = secrets.some(({ value }) => /\d{8}/.test(value));
  return { text: redact, deep: (data) => createDataRedactor(index, redact, redactsNumbers)(data) as typeof data };
}

function replaceMatches(text: string, { find }: SecretIndex): string {
  const found = find(text);
  if (found.length === 0) return text;
  let [redacted, from] = ["", 0];
  for (const each of found) {
    redacted += `${text.slice(from, each.from)}[redacted ${each.name}]`;
    from = each.to;
  }
  return redacted + text.slice(from);
}

/**
 * Creates a function that redacts the texts in nested data. `redactsNumbers`: whether to redact numbers, too, because a
 * secret contains eight digits in a row.
 */
function createDataRedactor(index: SecretIndex, redact: Redact, redactsNumbers: boolean): (value: unknown) => unknown {
  const done = new Map<object, unknown>();
  const words = new Map<string, string>();
  return walk;

  function walk(value: unknown): unknown {
    if (typeof value === "string") return value.length > maxCachedLength ? redact(value) : walkWord(value);
    if (typeof value === "number") return redactsNumbers && redact(String(value)) !== String(value) ? 0 : value;
    if (typeof value !== "object" || value === null) return value;
    const known = done.get(value);
    if (known !== undefined) return known;
    const walked = Array.isArray(value) ? walkArray(value) : walkObject(value);
    done.set(value, walked);
    return walked;
  }

  function walkArray(array: readonly unknown[]): readonly unknown[] {
    return array.every((each) => walk(each) === each) ? array : array.map(walk);
  }

  function walkObject(object: object): object {
    const searchable = withholdHardToSearch(object, index) as Readonly<Record<string, unknown>>;
    const keys = Object.keys(searchable);
    const isClean = keys.every((key) => walkWord(key) === key && walk(searchable[key]) === searchable[key]);
    return isClean ? searchable : Object.fromEntries(keys.map((key) => [walkWord(key), walk(searchable[key])]));
  }

  /** Redacts a short text. Caches the result, because the same names of fields and headers occur again and again. */
  function walkWord(word: string): string {
    const known = words.get(word);
    if (known !== undefined) return known;
    const redacted = redact(word);
    words.set(word, redacted);
    return redacted;
  }
}

const maxCachedLength = 80;

function withholdHardToSearch(object: object, index: SecretIndex): object {
  if (isBinaryBody(object)) return withholdBinaryBody(object, index);
  return isAnswered(object) ? withholdSplitSecrets(object, index) : object;
}

/** Withholds a binary body if its bytes contain a secret. A search in the body's base64 would not find every secret. */
function withholdBinaryBody(body: BinaryBody, { find }: SecretIndex): Body {
  const isClean = find(Buffer.from(body.base64, "base64").toString("latin1")).length === 0;
  return isClean ? body : { kind: "text", text: "[withheld: it held a secret]", bytes: body.bytes };
}

type BinaryBody = Extract<Body, { kind: "base64" }>;

const isBinaryBody = (object: object): object is BinaryBody =>
  "kind" in object && object.kind === "base64" && "base64" in object && typeof object.base64 === "string";

const isAnswered = (object: object): object is Answered =>
  "kind" in object &&
  object.kind === "answered" &&
  "events" in object &&
  Array.isArray(object.events) &&
  "body" in object;
