// k6 scripts import this file, so it must not import npm packages.

/** Parses a text as JSON. Returns `undefined` if the text is not JSON. */
export function tryParseJson(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

/** Whether a JSON value is an object, not an array or `null`. */
export const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

export function getPath(value: unknown, ...path: readonly string[]): unknown {
  let current = value;
  for (const name of path) {
    if (typeof current !== "object" || current === null || !Object.hasOwn(current, name)) return undefined;
    current = (current as Readonly<Record<string, unknown>>)[name];
  }
  return current;
}

/** Makes a type read-only at every depth. The types that zod infers are mutable. */
export type DeepReadonly<T> = T extends object ? { readonly [K in keyof T]: DeepReadonly<T[K]> } : T;

type Defined<T> = { [K in keyof T as undefined extends T[K] ? never : K]: T[K] } & {
  [K in keyof T as undefined extends T[K] ? K : never]?: Exclude<T[K], undefined>;
};

export const withoutUndefined = <T extends object>(value: T): Defined<T> =>
  Object.fromEntries(Object.entries(value).filter(([, each]) => each !== undefined)) as Defined<T>;

const maxValueChars = 160;

export function formatValue(value: unknown): string {
  if (value === undefined) return "nothing";
  const text = shorten(value);
  return text.length > maxValueChars ? `${text.slice(0, maxValueChars)}…` : text;
}

function shorten(value: unknown): string {
  try {
    return JSON.stringify(value) ?? typeof value;
  } catch {
    // `JSON.parse` can return a value so deeply nested that `JSON.stringify` overflows the stack.
    return "a value nested too deep to show";
  }
}
