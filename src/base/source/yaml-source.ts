import { type Document, isAlias, isMap, isScalar, isSeq, type ParsedNode, parseDocument, type YAMLMap } from "yaml";

import { assertDepth, assertName, type PlaceNode, SourceError, type SourceValue } from "./source-value.ts";

/** Maximum number of values in a YAML file. A short file with aliases can stand for billions of values. */
const maxValues = 100_000;

/**
 * Parses YAML 1.2, and keeps the offset of each value. Dates stay text (core schema).
 * @throws {SourceError}
 */
export function parseYamlSource(text: string): SourceValue {
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

  /** Reads the value that an alias stands for. Every part of this value gets the offset of the alias. */
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

/** Converts a YAML scalar to a JSON value. A type that JSON lacks, such as binary data, becomes its source text. */
function plainValue({ value, source }: { readonly value: unknown; readonly source?: string | undefined }): unknown {
  const isPlain = value === null || ["string", "number", "boolean"].includes(typeof value);
  return isPlain ? value : (source ?? null);
}
