import { isObject } from "../base/json.ts";

// `editField`, `setField` and `removeField` take a path such as `a.b`. Only `setField` adds a field that is missing.

export function fieldsOf(value: unknown): Readonly<Record<string, unknown>> {
  return isObject(value) ? value : {};
}

export function editField(value: unknown, path: string, change: (old: unknown) => unknown): unknown {
  const [name = "", ...rest] = path.split(".");
  if (!isObject(value) || !(name in value)) return value;
  const next = rest.length === 0 ? change(value[name]) : editField(value[name], rest.join("."), change);
  return { ...value, [name]: next };
}

export function setField(value: unknown, path: string, to: unknown): unknown {
  const [name = "", ...rest] = path.split(".");
  if (!isObject(value)) return value;
  return { ...value, [name]: rest.length === 0 ? to : setField(value[name], rest.join("."), to) };
}

export function removeField(value: unknown, path: string): unknown {
  const [name = "", ...rest] = path.split(".");
  if (!isObject(value) || !(name in value)) return value;
  if (rest.length > 0) return { ...value, [name]: removeField(value[name], rest.join(".")) };
  return Object.fromEntries(Object.entries(value).filter(([key]) => key !== name));
}

export function renameField(value: unknown, from: string, to: string): unknown {
  return isObject(value)
    ? Object.fromEntries(Object.entries(value).map(([key, v]) => [key === from ? to : key, v]))
    : value;
}

export function escapeNonAscii(text: string): string {
  return text.replace(/[^\0-\x7f]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`);
}

export const textOrNull = (value: unknown): string | null => (typeof value === "string" ? value : null);

let lastTime = { second: Number.NaN, text: "" };

export function isoTime(ms: number): string {
  const second = Math.floor(ms / 1000);
  if (second !== lastTime.second)
    lastTime = { second, text: new Date(second * 1000).toISOString().replace(".000Z", "Z") };
  return lastTime.text;
}
