import { sanitizeLine } from "../sanitize.ts";
import { endOfString } from "../parsing.ts";
import { type Document, isAlias, isMap, isScalar, isSeq, type ParsedNode, parseDocument, type YAMLMap } from "yaml";

/** Maximum number of values in a YAML file. An alias repeats values, so a short file can contain billions of them. */
const maxValues = 100_000;

/**
 * Parses YAML 1.2, and keeps the offset of each value. Dates stay text (core schema).
 * @throws {SourceError}
 */
function parseYamlSource(text: string): SourceValue {
  const document = parseDocument(text, { prettyErrors: false, schema: "core" });
  const [error] = document.errors;
  if (error !== undefined) throw new SourceError(problemOf(error.code, error.message), error.pos[0]);
  return new YamlReader(document).read(document.contents, 0);
}

function problemOf(code: string, message: string): string {
  if (code === "MULTIPLE_DOCS") return "has several documents, and only one is allowed";
  if (code === "DUPLICATE_KEY") return "has a duplicate name";
  return `is not YAML: ${(message.split("\n")[0] ?? "").replace(/[.:]$/, "")}`;
}

class YamlReader {
  readonly #document: Document.Parsed;
  #count = 0;

  constructor(document: Document.Parsed) {
    this.#document = document;
  }

  read(node: ParsedNode | null, depth: number): SourceValue {
    const offset = node?.range[0] ?? 0;
    assertDepth(depth, offset);
    this.#count += 1;
    if (this.#count > maxValues) throw new SourceError(`has more than ${maxValues} values, with its aliases`, offset);
    if (isAlias(node)) return this.#readAlias(node, offset, depth);
    if (isMap(node)) return this.#readMap(node, offset, depth);
    if (isSeq(node)) return this.#readSequence(node.items, offset, depth);
    return { value: isScalar(node) ? plainValue(node) : null, places: { offset, members: new Map() } };
  }

  /** Reads the value that an alias repeats. The value and everything in it get the offset of the alias. */
  #readAlias(node: ParsedNode, offset: number, depth: number): SourceValue {
    const target = isAlias(node) ? node.resolve(this.#document) : undefined;
    if (target === undefined) throw new SourceError("is not YAML: an alias without its anchor", offset);
    const { value } = this.read(target as ParsedNode, depth + 1);
    return { value, places: { offset, members: new Map() } };
  }

  #readMap(map: YAMLMap.Parsed, offset: number, depth: number): SourceValue {
    const members = new Map<string, PlaceNode>();
    const value: Record<string, unknown> = {};
    for (const { key, value: item } of map.items) {
      const nameAt = key.range[0];
      if (!isScalar(key)) throw new SourceError("has a name that is no plain text", nameAt);
      const name = String(plainValue(key));
      assertName(name, members, nameAt);
      const member = this.read(item, depth + 1);
      value[name] = member.value;
      members.set(name, { ...member.places, offset: nameAt });
    }
    return { value, places: { offset, members } };
  }

  #readSequence(items: readonly ParsedNode[], offset: number, depth: number): SourceValue {
    const read = items.map((item) => this.read(item, depth + 1));
    return {
      value: read.map(({ value }) => value),
      places: { offset, members: new Map(read.map(({ places }, index) => [String(index), places])) },
    };
  }
}

/** Returns a YAML scalar as text, number, boolean or `null`. Another type, e.g. binary data, gives its source text. */
function plainValue({ value, source }: { readonly value: unknown; readonly source?: string | undefined }): unknown {
  const isPlain = value === null || ["string", "number", "boolean"].includes(typeof value);
  return isPlain ? value : (source ?? null);
}

function parseJsonSource(text: string): SourceValue {
  const reader = new JsonReader(text);
  const parsed = reader.readValue(0);
  reader.readEnd();
  return parsed;
}

const scalar = /true|false|null|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;

class JsonReader {
  readonly #text: string;
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  readValue(depth: number): SourceValue {
    const offset = this.#skipSpace();
    assertDepth(depth, offset);
    if (this.#accepts("{")) return this.#readObject(offset, depth);
    if (this.#accepts("[")) return this.#readArray(offset, depth);
    const value = this.#text[offset] === '"' ? this.#readString() : this.#readScalar();
    return { value, places: { offset, members: new Map() } };
  }

  readEnd(): void {
    if (this.#skipSpace() < this.#text.length) throw this.#unexpected("the end of the file");
  }

  #readObject(offset: number, depth: number): SourceValue {
    const members = new Map<string, PlaceNode>();
    const value: Record<string, unknown> = {};
    this.#readList("}", () => {
      const nameAt = this.#skipSpace();
      if (this.#text[nameAt] !== '"') throw this.#unexpected("a name in double quotes");
      const name = this.#readString();
      assertName(name, members, nameAt);
      if (!this.#accepts(":")) throw this.#unexpected("a colon");
      const member = this.readValue(depth + 1);
      value[name] = member.value;
      members.set(name, { ...member.places, offset: nameAt });
    });
    return { value, places: { offset, members } };
  }

  #readArray(offset: number, depth: number): SourceValue {
    const members = new Map<string, PlaceNode>();
    const value: unknown[] = [];
    this.#readList("]", () => {
      const item = this.readValue(depth + 1);
      members.set(String(value.length), item.places);
      value.push(item.value);
    });
    return { value, places: { offset, members } };
  }

  #readList(closing: string, readItem: () => void): void {
    if (this.#accepts(closing)) return;
    do readItem();
    while (this.#accepts(","));
    if (!this.#accepts(closing)) throw this.#unexpected(`a comma or "${closing}"`);
  }

  #readString(): string {
    const start = this.#at;
    const end = endOfString(this.#text, start);
    try {
      const value = JSON.parse(this.#text.slice(start, end + 1)) as string;
      this.#at = end + 1;
      return value;
    } catch {
      throw new SourceError("is not JSON: a string without its end, or with a character that needs an escape", start);
    }
  }

  #readScalar(): unknown {
    scalar.lastIndex = this.#at;
    const [found] = scalar.exec(this.#text) ?? [];
    if (found === undefined) throw this.#unexpected("a value");
    this.#at += found.length;
    return JSON.parse(found);
  }

  #accepts(character: string): boolean {
    const isThere = this.#text[this.#skipSpace()] === character;
    if (isThere) this.#at += 1;
    return isThere;
  }

  #skipSpace(): number {
    while (" \t\n\r".includes(this.#text[this.#at] ?? "end")) this.#at += 1;
    return this.#at;
  }

  #unexpected(wanted: string): SourceError {
    const isEnd = this.#at >= this.#text.length;
    return new SourceError(`is not JSON: expected ${wanted}${isEnd ? ", and the file ends" : ""}`, this.#at);
  }
}

interface PlaceNode {
  /** Position of the value in the text. For a field of an object, the position of the field's name. */
  readonly offset: number;
  readonly members: ReadonlyMap<string, PlaceNode>;
}

interface SourceValue {
  readonly value: unknown;
  readonly places: PlaceNode;
}

class SourceError extends Error {
  override readonly name = "SourceError";
  readonly offset: number;

  constructor(message: string, offset: number) {
    super(message);
    this.offset = offset;
  }
}

/** Maximum depth of nesting. It is limited because the code that reads a value is recursive. */
const maxDepth = 200;

function assertDepth(depth: number, offset: number): void {
  if (depth > maxDepth) throw new SourceError(`is nested deeper than ${maxDepth} levels`, offset);
}

function assertName(name: string, known: ReadonlyMap<string, unknown>, offset: number): void {
  if (name === "__proto__") throw new SourceError('has the name "__proto__", which cannot be used', offset);
  if (known.has(name)) throw new SourceError(`has a duplicate name ${JSON.stringify(name)}`, offset);
}

export type Notation = "JSON" | "YAML";

/** A position in a text, as editors show it. Line and column count from 1. Columns are in UTF-16 units. */
export interface Place {
  readonly line: number;
  readonly column: number;
}

/** The names and indices that lead from the root of a document to a value in it. */
export type ValuePath = readonly PropertyKey[];

export interface Source {
  readonly kind: "value";
  readonly value: unknown;
  /** Returns the place of a value; for a field, that of its name; for a missing value, that of its nearest parent. */
  readonly placeOf: (path: ValuePath) => Place;
}

interface SourceProblem {
  readonly kind: "problem";
  readonly problem: string;
  readonly place: Place;
}

export function notationOf(fileName: string): Notation | null {
  if (/\.json$/i.test(fileName)) return "JSON";
  return /\.ya?ml$/i.test(fileName) ? "YAML" : null;
}

const parsers: Readonly<Record<Notation, (text: string) => SourceValue>> = {
  JSON: parseJsonSource,
  YAML: parseYamlSource,
};

/** Parses JSON or YAML that a person wrote. Reports duplicate names, deep nesting and `__proto__` as problems. */
export function parseSource(written: string, notation: Notation): Source | SourceProblem {
  const text = written.replace(/^\uFEFF/, "");
  try {
    const { value, places } = parsers[notation](text);
    return { kind: "value", value, placeOf: (path) => placeAt(text, offsetOf(places, path)) };
  } catch (error) {
    if (!(error instanceof SourceError)) throw error;
    return { kind: "problem", problem: sanitizeLine(error.message), place: placeAt(text, error.offset) };
  }
}

function offsetOf(root: PlaceNode, path: ValuePath): number {
  let node = root;
  for (const step of path) {
    const next = node.members.get(String(step));
    if (next === undefined) break;
    node = next;
  }
  return node.offset;
}

function placeAt(text: string, offset: number): Place {
  const lines = text.slice(0, offset).split(/\r\n|\r|\n/);
  return { line: lines.length, column: (lines.at(-1) ?? "").length + 1 };
}
