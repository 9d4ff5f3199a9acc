import { formatValue, isObject } from "../../base/json.ts";
import type { Mismatch } from "./errors.ts";
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

// k6 scripts import this file, so it uses no Buffer, no URL and no npm package: k6 has none of them.

const isString = (value: unknown): value is string => typeof value === "string";
const utc = /(?:Z|[+-]00(?::?00)?)$/i;

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

interface FoundValue {
  readonly name: string;
  readonly value: unknown;
}

/**
 * Returns the values at a path of a JSON value. A path with `[]` or `*` can have several. A field that is absent from an
 * existing object gives `undefined`. If there is no such object, the result is empty.
 */
export function valuesAt(root: unknown, path: string): FoundValue[] {
  let found: FoundValue[] = [{ name: "", value: root }];
  for (const step of stepsOfPath(path)) found = found.flatMap((each) => valuesWithin(each, step));
  return found;
}

function valuesWithin({ name, value }: FoundValue, step: string): FoundValue[] {
  if (step === "[]")
    return Array.isArray(value) ? value.map((item: unknown, at) => ({ name: `${name}[${at}]`, value: item })) : [];
  if (!isObject(value)) return [];
  const named = (key: string): string => (name === "" ? key : `${name}.${key}`);
  if (step === "*") return Object.entries(value).map(([key, inner]) => ({ name: named(key), value: inner }));
  return [{ name: named(step), value: value[step] }];
}

/** Whether a parent of the field has the wrong type. Another clause judges that type. */
function hasWrongParent(root: unknown, path: string): boolean {
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

/**
 * Formats a value of the wrong type. Names the type of a string, as in `the string "5"`, because readers may overlook
 * quotation marks.
 */
const formatWrongType = (value: unknown, type: FieldType): string =>
  isString(value) && !type.includes("timestamp") ? `the string ${formatValue(value)}` : formatValue(value);

function judgeRow(row: FieldRow, root: unknown): Mismatch | null | undefined {
  const found = valuesAt(root, row.path);
  if (found.length === 0) return row.isRequired || hasWrongParent(root, row.path) ? undefined : null;
  const [called, has] = types[row.type];
  for (const { name, value } of found) {
    const isLeftOut = !row.isRequired && (value === undefined || value === null);
    if (isLeftOut) continue;
    if (!has(value)) return { expected: `\`${name}\`, ${called}`, actual: formatWrongType(value, row.type) };
    if (row.oneOf !== null && !row.oneOf.some((each) => each === value))
      return { expected: `\`${name}\`, one of ${row.oneOf.join(", ")}`, actual: formatValue(value) };
  }
  return null;
}

/** Creates a quick test of a field row. `true`: the value fits. `false`: the slower {@link fieldMismatch} decides. */
export function compileFieldTest({ path, type, isRequired, oneOf }: FieldRow): (root: unknown) => boolean {
  const steps = stepsOfPath(path);
  const [, has] = types[type];
  if (steps.includes("[]") || steps.includes("*")) return () => false;
  return (root) => {
    let value = root;
    // No `for … of`: iterators are many times slower in k6's interpreter.
    for (let at = 0; at < steps.length; at += 1) {
      if (!isObject(value)) return !isRequired && (value === undefined || value === null);
      value = value[steps[at] ?? ""];
    }
    if (!isRequired && (value === undefined || value === null)) return true;
    return has(value) && (oneOf === null || (oneOf as readonly unknown[]).includes(value));
  };
}

/** Judges a JSON value by the rows of a field table that belong to a clause. Returns `undefined` if no row applies. */
export function fieldMismatch(table: FieldTableName, clause: ClauseId, root: unknown): Mismatch | null | undefined {
  const rows = rowsOf(table, clause);
  const [lead] = fieldTableOf(table).fields ?? [];
  if (!isObject(root) && lead !== undefined && rows.includes(lead))
    return { expected: `\`${lead.path}\`, ${types[lead.type][0]}`, actual: `it stands in ${formatValue(root)}` };
  const results = rows.map((row) => judgeRow(row, root)).filter((each) => each !== undefined);
  return results.length === 0 ? undefined : (results.find((each) => each !== null) ?? null);
}

/** Like {@link fieldMismatch}, but with all fields optional. A field that is present must have its type. */
export function optionalFieldMismatch(table: FieldTableName, clause: ClauseId, root: unknown): Mismatch | null {
  const results = rowsOf(table, clause).map((row) => judgeRow({ ...row, isRequired: false }, root));
  return results.find((each) => each !== null && each !== undefined) ?? null;
}

/**
 * Finds the first negative number in fields with a unit, such as `milliseconds`. Returns `undefined` if these fields
 * contain no number.
 */
export function negativeQuantity(table: FieldTableName, root: unknown): Mismatch | null | undefined {
  const quantities = (fieldTableOf(table).fields ?? [])
    .filter(({ unit }) => unit !== null)
    .flatMap(({ path }) => valuesAt(root, path))
    .filter(({ value }) => typeof value === "number");
  const odd = quantities.find(({ value }) => Number(value) < 0);
  if (odd !== undefined) return { expected: `\`${odd.name}\` is not negative`, actual: formatValue(odd.value) };
  return quantities.length === 0 ? undefined : null;
}
