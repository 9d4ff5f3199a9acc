import { isObject } from "../../base/json.ts";
import { formatValue } from "../../base/format-value.ts";
import type { Mismatch } from "../mismatch.ts";
import type { ClauseId } from "../../spec/clauses.ts";
import {
  type FieldRow,
  type FieldTableName,
  fieldTableOf,
  type FieldType,
  rowsOf,
  stepsOfPath,
} from "../../spec/fields.ts";
import { hasZone, isTimestamp } from "./timestamps.ts";

// Scripts of k6 import this file: it has no Buffer, no URL and no package of others.

const isString = (value: unknown): value is string => typeof value === "string";
const utc = /(?:Z|[+-]00(?::?00)?)$/i;

/** What each type is called, and what has it. */
const types: Readonly<Record<FieldType, readonly [called: string, has: (value: unknown) => boolean]>> = {
  string: ["a string", isString],
  integer: ["a whole number", (value) => Number.isInteger(value)],
  number: ["a number", (value) => Number.isFinite(value)],
  object: ["an object", isObject],
  array: ["an array", (value) => Array.isArray(value)],
  timestamp: ["an ISO 8601 timestamp", (value) => isString(value) && isTimestamp(value)],
  "UTC timestamp": [
    "an ISO 8601 timestamp in UTC",
    (value) => isString(value) && isTimestamp(value) && (utc.test(value) || !hasZone(value)),
  ],
  "operation path": ["a string", isString],
};

/** A value and the name by which it is found. */
export interface FoundValue {
  readonly name: string;
  readonly value: unknown;
}

/** The values that a row speaks of; none where what holds them is not there, or is something else. */
export function valuesAt(root: unknown, path: string): FoundValue[] {
  let found: FoundValue[] = [{ name: "", value: root }];
  for (const step of stepsOfPath(path)) found = found.flatMap((each) => within(each, step));
  return found;
}

function within({ name, value }: FoundValue, step: string): FoundValue[] {
  if (step === "[]")
    return Array.isArray(value) ? value.map((item: unknown, at) => ({ name: `${name}[${at}]`, value: item })) : [];
  if (!isObject(value)) return [];
  const named = (key: string): string => (name === "" ? key : `${name}.${key}`);
  if (step === "*") return Object.entries(value).map(([key, inner]) => ({ name: named(key), value: inner }));
  return [{ name: named(step), value: value[step] }];
}

/** Whether what holds a row's values is of another type, so that the row says nothing. */
function isElsewhere(root: unknown, path: string): boolean {
  let value = root;
  for (const step of stepsOfPath(path)) {
    if (value === undefined || value === null) return false;
    if (step === "[]") return !Array.isArray(value);
    if (!isObject(value)) return true;
    if (step === "*") return false;
    value = value[step];
  }
  return false;
}

/** What is wrong with an object by one row; `undefined` where the row says nothing of it. */
function wrongBy(row: FieldRow, root: unknown): Mismatch | null | undefined {
  const found = valuesAt(root, row.path);
  if (found.length === 0) return row.isRequired || isElsewhere(root, row.path) ? undefined : null;
  const [called, has] = types[row.type];
  for (const { name, value } of found) {
    const isLeftOut = !row.isRequired && (value === undefined || value === null);
    if (isLeftOut) continue;
    if (!has(value)) return { expected: `\`${name}\`, ${called}`, actual: formatValue(value) };
    if (row.oneOf !== null && !row.oneOf.some((each) => each === value))
      return { expected: `\`${name}\`, one of ${row.oneOf.join(", ")}`, actual: formatValue(value) };
  }
  return null;
}

/**
 * Whether a row has nothing against a body, told without a trace in memory, as every answer under load is asked: where this is false, the other
 * functions of this file say why, or that the row says nothing.
 */
export function compileFieldTest({ path, type, isRequired, oneOf }: FieldRow): (root: unknown) => boolean {
  const steps = stepsOfPath(path);
  const [, has] = types[type];
  if (steps.includes("[]") || steps.includes("*")) return () => false;
  return (root) => {
    let value = root;
    // No `for … of`: the interpreter of k6 takes many times as long for what iterates.
    for (let at = 0; at < steps.length; at += 1) {
      if (!isObject(value)) return !isRequired && (value === undefined || value === null);
      value = value[steps[at] ?? ""];
    }
    if (!isRequired && (value === undefined || value === null)) return true;
    return has(value) && (oneOf === null || (oneOf as readonly unknown[]).includes(value));
  };
}

/**
 * What is wrong with an answer's fields by the rows that a clause states; `undefined` where they say nothing of it, because what
 * they stand in is missing or of another type: that is the clause's that states it. Of what is no object at all, the first row speaks.
 */
export function fieldMismatch(table: FieldTableName, clause: ClauseId, root: unknown): Mismatch | null | undefined {
  const rows = rowsOf(table, clause);
  const [lead] = fieldTableOf(table).fields ?? [];
  if (!isObject(root) && lead !== undefined && rows.includes(lead))
    return { expected: `\`${lead.path}\`, ${types[lead.type][0]}`, actual: `it stands in ${formatValue(root)}` };
  const said = rows.map((row) => wrongBy(row, root)).filter((each) => each !== undefined);
  return said.length === 0 ? undefined : (said.find((each) => each !== null) ?? null);
}

/** As {@link fieldMismatch}, where nothing need be there: what is there has its type all the same. */
export function optionalFieldMismatch(table: FieldTableName, clause: ClauseId, root: unknown): Mismatch | null {
  const said = rowsOf(table, clause).map((row) => wrongBy({ ...row, isRequired: false }, root));
  return said.find((each) => each !== null && each !== undefined) ?? null;
}

/** What is below zero of the quantities to which a table gives a unit, but no range; `undefined` where none of them is told. */
export function negativeQuantity(table: FieldTableName, root: unknown): Mismatch | null | undefined {
  const told = (fieldTableOf(table).fields ?? [])
    .filter(({ unit }) => unit !== null)
    .flatMap(({ path }) => valuesAt(root, path))
    .filter(({ value }) => typeof value === "number");
  const odd = told.find(({ value }) => Number(value) < 0);
  if (odd !== undefined) return { expected: `\`${odd.name}\` is not negative`, actual: formatValue(odd.value) };
  return told.length === 0 ? undefined : null;
}
