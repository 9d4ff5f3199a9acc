import { endOfString } from "../bounded-json.ts";
import { assertDepth, assertName, type PlaceNode, SourceError, type SourceValue } from "./source-value.ts";

export function parseJsonSource(text: string): SourceValue {
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
