import { isObject } from "../base/json.ts";

// A path in this file has the form `a.b.c`. An edit of an absent field changes nothing.

/** Returns the fields of an object. Returns an empty object for any other value. */
export function fieldsOf(value: unknown): Readonly<Record<string, unknown>> {
  return isObject(value) ? value : {};
}

/** Returns the value with the field at `path` changed. */
export function editField(value: unknown, path: string, change: (old: unknown) => unknown): unknown {
  const [name = "", ...rest] = path.split(".");
  if (!isObject(value) || !(name in value)) return value;
  const next = rest.length === 0 ? change(value[name]) : editField(value[name], rest.join("."), change);
  return { ...value, [name]: next };
}

/** Returns the value with the field at `path` set to `to`. The object that holds the field must exist. */
export function setField(value: unknown, path: string, to: unknown): unknown {
  const [name = "", ...rest] = path.split(".");
  if (!isObject(value)) return value;
  return { ...value, [name]: rest.length === 0 ? to : setField(value[name], rest.join("."), to) };
}

/** Returns the value without the field at `path`. */
export function removeField(value: unknown, path: string): unknown {
  const [name = "", ...rest] = path.split(".");
  if (!isObject(value) || !(name in value)) return value;
  if (rest.length > 0) return { ...value, [name]: removeField(value[name], rest.join(".")) };
  return Object.fromEntries(Object.entries(value).filter(([key]) => key !== name));
}

/** Returns the value with the field `from` renamed to `to`. */
export function renameField(value: unknown, from: string, to: string): unknown {
  return isObject(value)
    ? Object.fromEntries(Object.entries(value).map(([key, v]) => [key === from ? to : key, v]))
    : value;
}

/** Writes each character outside ASCII as `\uXXXX`, as many JSON libraries do. */
export function escapeNonAscii(text: string): string {
  return text.replace(/[^\0-\x7f]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`);
}

/** Returns the value if it is a text, else `null`. */
export const textOrNull = (value: unknown): string | null => (typeof value === "string" ? value : null);
