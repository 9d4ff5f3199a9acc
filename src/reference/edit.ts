/** Changes to plain JSON values, for patches. A path is `a.b.c`; what is not there is left alone. */

type Fields = Readonly<Record<string, unknown>>;

export function isFields(value: unknown): value is Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** The value with the field at `path` changed. */
export function changed(value: unknown, path: string, change: (old: unknown) => unknown): unknown {
  const [name = "", ...rest] = path.split(".");
  if (!isFields(value) || !(name in value)) return value;
  const next = rest.length === 0 ? change(value[name]) : changed(value[name], rest.join("."), change);
  return { ...value, [name]: next };
}

/** The value with the field at `path` set to `to`; a missing field is added to an object that is there. */
export function set(value: unknown, path: string, to: unknown): unknown {
  const [name = "", ...rest] = path.split(".");
  if (!isFields(value)) return value;
  return { ...value, [name]: rest.length === 0 ? to : set(value[name], rest.join("."), to) };
}

/** The value without the field at `path`. */
export function without(value: unknown, path: string): unknown {
  const [name = "", ...rest] = path.split(".");
  if (!isFields(value) || !(name in value)) return value;
  if (rest.length > 0) return { ...value, [name]: without(value[name], rest.join(".")) };
  return Object.fromEntries(Object.entries(value).filter(([key]) => key !== name));
}

/** The value with the field `from` called `to`. */
export function renamed(value: unknown, from: string, to: string): unknown {
  return isFields(value)
    ? Object.fromEntries(Object.entries(value).map(([key, v]) => [key === from ? to : key, v]))
    : value;
}
