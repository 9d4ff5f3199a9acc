import type { Answered } from "./exchange.ts";
import type { Secret } from "./secret.ts";
import { withholdSplitSecrets } from "./split-secrets.ts";

export type { Secret } from "./secret.ts";

/** Replaces every secret in texts that leave the process. */
export type Redact = (text: string) => string;

/** Secrets below this length are replaced only where they stand alone: as part of other words they mean something else. */
const shortestInText = 6;
/** So much of a secret is taken off where a text was cut in the middle of it. */
const shortestPart = 6;
/** So much of a secret's beginning, and at least half of it, is replaced anywhere. */
const shortestBeginning = 8;

/**
 * Makes a redactor for a set of secrets. It finds them raw, percent-encoded, JSON-escaped, in hexadecimal and in
 * base64 (alone or within a longer text), in any letter case, and writes `[redacted NAME]` in their place. A secret that was cut at the head or tail of a
 * kept body is taken off as well.
 */
export function redactorFor(secrets: readonly Secret[]): Redact {
  const named = new Map<string, string>();
  for (const { name, value } of secrets)
    for (const form of formsOf(value)) if (!named.has(form.toLowerCase())) named.set(form.toLowerCase(), name);
  if (named.size === 0) return (text) => text;
  const forms = [...named.keys()].toSorted((a, b) => b.length - a.length);
  const pattern = new RegExp(forms.flatMap(patternsOf).join("|"), "giu");
  const nameOf = (found: string): string =>
    named.get(found) ?? named.get(forms.find((form) => form.startsWith(found)) ?? "") ?? "secret";
  const beginnings = new Set(forms.map((form) => form.slice(0, shortestPart)));
  const mayHold = (text: string): boolean => {
    const lower = text.toLowerCase();
    return beginnings.values().some((beginning) => lower.includes(beginning));
  };
  const replaced = (text: string): string =>
    text.replace(pattern, (found) => `[redacted ${nameOf(found.toLowerCase())}]`);
  // The pattern is long, and hardly any text holds a secret.
  return (text) => (mayHold(text) ? replaced(text) : text);
}

/** The whole form, or so much of its beginning that it gives the secret away; less is enough where a text was shortened. */
function patternsOf(form: string): string[] {
  if (form.length < shortestInText) return [`(?<![\\w-])${escaped(form)}(?![\\w-])`];
  const half = Math.max(shortestBeginning, Math.ceil(form.length / 2));
  return [beginningOf(form, half), `${beginningOf(form, shortestPart)}(?=…|$)`];
}

/** Matches as much of a text's beginning as there is, from `least` characters on. */
const beginningOf = (text: string, least: number): string => {
  const rest = Array.from(text.slice(least), (letter) => `(?:${escaped(letter)}`);
  return escaped(text.slice(0, least)) + rest.join("") + ")?".repeat(rest.length);
};

/** `RegExp.escape` for any part of a longer pattern. */
const escaped = (text: string): string =>
  text.replace(/[^\w]/g, (letter) => `\\u{${letter.codePointAt(0)?.toString(16)}}`);

/** Takes off the part of a secret that a cut left at the end of `head` or the start of `tail`. */
export function redactCutEdges(head: string, tail: string, secrets: readonly Secret[]): { head: string; tail: string } {
  let [keptHead, keptTail] = [head, tail];
  for (const form of secrets.flatMap(({ value }) => formsOf(value)))
    for (let length = form.length - 1; length >= shortestPart; length--) {
      if (keptHead.endsWith(form.slice(0, length))) keptHead = keptHead.slice(0, -length);
      if (keptTail.startsWith(form.slice(-length))) keptTail = keptTail.slice(length);
    }
  return { head: keptHead, tail: keptTail };
}

function formsOf(value: string): string[] {
  if (value === "") return [];
  return [
    value,
    encodeURIComponent(value),
    JSON.stringify(value).slice(1, -1),
    ...(value.length < shortestInText ? [] : [...base64Forms(value), Buffer.from(value, "utf8").toString("hex")]),
  ];
}

/** What stays of a text in the base64 of any longer one: it can begin at three places in a group of four characters. */
function base64Forms(text: string): string[] {
  const forms = [0, 1, 2].map((before) => {
    const bytes = Buffer.concat([Buffer.alloc(before), Buffer.from(text, "utf8")]);
    return bytes.toString("base64").slice(Math.ceil((before * 8) / 6), Math.floor((bytes.length * 8) / 6));
  });
  return [...forms, ...forms.map((form) => form.replaceAll("+", "-").replaceAll("/", "_"))];
}

/**
 * Plain JSON data in which every string, keys of objects included, has passed the redactor. What holds no secret is returned
 * as it is, and what stands in several places stays one and the same object.
 */
export function redactDeep<T>(data: T, redact: Redact, secrets: readonly Secret[]): T {
  const done = new Map<object, unknown>();
  const words = new Map<string, string>();
  return walk(data) as T;

  function walk(value: unknown): unknown {
    if (typeof value === "string") return value.length > longestWord ? redact(value) : walkWord(value);
    if (typeof value !== "object" || value === null) return value;
    if (!done.has(value)) done.set(value, Array.isArray(value) ? walkArray(value) : walkObject(value));
    return done.get(value);
  }

  function walkArray(array: readonly unknown[]): readonly unknown[] {
    const walked = array.map(walk);
    return walked.some((each, index) => each !== array[index]) ? walked : array;
  }

  function walkObject(object: object): object {
    const entries = Object.entries(withoutPieces(object));
    const walked = entries.map(([key, each]): [string, unknown] => [walkWord(key), walk(each)]);
    const isSame = walked.every(
      ([key, each]) => Object.hasOwn(object, key) && (object as Readonly<Record<string, unknown>>)[key] === each,
    );
    return isSame ? object : Object.fromEntries(walked);
  }

  function withoutPieces(object: object): object {
    if (isCutBody(object)) return { ...object, ...redactCutEdges(object.head, object.tail, secrets) };
    return isAnswered(object) ? withholdSplitSecrets(object, secrets) : object;
  }

  /** Names of fields and headers, kinds and the like come again and again. */
  function walkWord(word: string): string {
    const known = words.get(word) ?? redact(word);
    words.set(word, known);
    return known;
  }
}

const longestWord = 40;

const isCutBody = (object: object): object is { readonly head: string; readonly tail: string } =>
  "kind" in object &&
  object.kind === "cut" &&
  "head" in object &&
  "tail" in object &&
  typeof object.head === "string" &&
  typeof object.tail === "string";

const isAnswered = (object: object): object is Answered =>
  "kind" in object &&
  object.kind === "answered" &&
  "events" in object &&
  Array.isArray(object.events) &&
  "body" in object;
