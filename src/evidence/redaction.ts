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

/** A deep copy of plain JSON data in which every string, keys of objects included, has passed the redactor. */
export function redactDeep<T>(data: T, redact: Redact, secrets: readonly Secret[]): T {
  return walk(data) as T;

  function walk(value: unknown): unknown {
    if (typeof value === "string") return redact(value);
    if (Array.isArray(value)) return value.map(walk);
    if (typeof value !== "object" || value === null) return value;
    const edges =
      "kind" in value && value.kind === "cut" && "head" in value && "tail" in value
        ? redactCutEdges(String(value.head), String(value.tail), secrets)
        : {};
    return Object.fromEntries(Object.entries({ ...value, ...edges }).map(([key, each]) => [redact(key), walk(each)]));
  }
}
