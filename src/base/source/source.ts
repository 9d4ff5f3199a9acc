import { sanitizeLine } from "../sanitize.ts";
import { parseJsonSource } from "./json-source.ts";
import type { PlaceNode, SourceValue } from "./source-value.ts";
import { SourceError } from "./source-value.ts";
import { parseYamlSource } from "./yaml-source.ts";

export const notations = ["JSON", "YAML"] as const;
export type Notation = (typeof notations)[number];

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
  /** Returns the line and column of a value. For a missing value, returns the place of its nearest existing parent. */
  readonly placeOf: (path: ValuePath) => Place;
}

export interface SourceProblem {
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

/** Parses a text that a person wrote. Problems include duplicate names, deep nesting and `__proto__`. */
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
