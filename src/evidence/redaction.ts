/** Replaces every secret in texts that leave the process. */
export type Redact = (text: string) => string;

/** A secret and the name that stands in its place. */
export interface Secret {
  readonly name: string;
  readonly value: string;
}

/** Secrets below this length are replaced only where they stand alone: as part of other words they mean something else. */
const shortestInText = 6;
const shortestPart = 6;

/**
 * Makes a redactor for a set of secrets. It finds them raw, percent-encoded, JSON-escaped and in base64 (alone or behind
 * `Bearer `), in any letter case, and writes `[redacted NAME]` in their place. A secret that was cut at the head or tail of a
 * kept body is taken off as well.
 */
export function redactorFor(secrets: readonly Secret[]): Redact {
  const named = new Map<string, string>();
  for (const { name, value } of secrets)
    for (const form of formsOf(value)) if (!named.has(form.toLowerCase())) named.set(form.toLowerCase(), name);
  if (named.size === 0) return (text) => text;
  const pattern = new RegExp(
    [...named.keys()]
      .toSorted((a, b) => b.length - a.length)
      .map((form) =>
        form.length < shortestInText ? `(?<![\\w-])${RegExp.escape(form)}(?![\\w-])` : RegExp.escape(form),
      )
      .join("|"),
    "gi",
  );
  return (text) => text.replace(pattern, (found) => `[redacted ${named.get(found.toLowerCase()) ?? "secret"}]`);
}

/** Takes off the part of a secret that a cut left at the end of `head` or the start of `tail`. */
export function redactCutEdges(head: string, tail: string, secrets: readonly Secret[]): { head: string; tail: string } {
  let [keptHead, keptTail] = [head, tail];
  for (const { value } of secrets)
    for (let length = value.length - 1; length >= shortestPart; length--) {
      if (keptHead.endsWith(value.slice(0, length))) keptHead = keptHead.slice(0, -length);
      if (keptTail.startsWith(value.slice(-length))) keptTail = keptTail.slice(length);
    }
  return { head: keptHead, tail: keptTail };
}

function formsOf(value: string): string[] {
  if (value === "") return [];
  const base64 = (text: string) => Buffer.from(text, "utf8").toString("base64").replace(/=+$/, "");
  return [
    value,
    encodeURIComponent(value),
    JSON.stringify(value).slice(1, -1),
    ...(value.length < shortestInText ? [] : [base64(value), base64(`Bearer ${value}`)]),
  ];
}

/**
 * Plain JSON data in which every string, keys of objects included, has passed the redactor. What holds no secret is returned
 * as it is, and what stands in several places stays one and the same object.
 */
export function redactDeep<T>(data: T, redact: Redact, secrets: readonly Secret[]): T {
  const done = new Map<object, unknown>();
  const keys = new Map<string, string>();
  return walk(data) as T;

  function walk(value: unknown): unknown {
    if (typeof value === "string") return redact(value);
    if (typeof value !== "object" || value === null) return value;
    if (!done.has(value)) done.set(value, Array.isArray(value) ? walkArray(value) : walkObject(value));
    return done.get(value);
  }

  function walkArray(array: readonly unknown[]): readonly unknown[] {
    const walked = array.map(walk);
    return walked.some((each, index) => each !== array[index]) ? walked : array;
  }

  function walkObject(object: object): object {
    const entries = Object.entries(
      isCutBody(object) ? { ...object, ...redactCutEdges(object.head, object.tail, secrets) } : object,
    );
    const walked = entries.map(([key, each]): [string, unknown] => [walkKey(key), walk(each)]);
    const isSame = walked.every(
      ([key, each]) => Object.hasOwn(object, key) && (object as Readonly<Record<string, unknown>>)[key] === each,
    );
    return isSame ? object : Object.fromEntries(walked);
  }

  function walkKey(key: string): string {
    const known = keys.get(key) ?? redact(key);
    keys.set(key, known);
    return known;
  }
}

const isCutBody = (object: object): object is { readonly head: string; readonly tail: string } =>
  "kind" in object &&
  object.kind === "cut" &&
  "head" in object &&
  "tail" in object &&
  typeof object.head === "string" &&
  typeof object.tail === "string";
