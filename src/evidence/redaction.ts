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
  const nameOf = (found: string): string =>
    named.get(found) ?? named.get(forms.find((form) => form.startsWith(found)) ?? "") ?? "secret";
  const candidatesIn = sieveFor(forms);
  const patterns = new Map<string, RegExp>();
  const patternOf = (some: readonly string[]): RegExp => {
    const key = some.join("\n");
    const pattern = patterns.get(key) ?? new RegExp(some.flatMap(patternsOf).join("|"), "giu");
    patterns.set(key, pattern);
    return pattern;
  };
  return (text) => {
    const candidates = candidatesIn(text);
    if (candidates.length === 0) return text;
    return text.replace(patternOf(candidates), (found) => `[redacted ${nameOf(found.toLowerCase())}]`);
  };
}

/**
 * Gives the forms that a text may hold, in their order: a pattern of all of them is long, hardly any text holds one, and secrets of one
 * maker begin alike, with a word that stands in many texts. It never leaves out one that its pattern would find.
 */
function sieveFor(forms: readonly string[]): (text: string) => readonly string[] {
  const beginnings = new Set(forms.map((form) => form.slice(0, shortestPart)));
  const isPlain = forms.every((form) => /^[!-~]+$/.test(form));
  return (text) => {
    // The one letter that a pattern without regard to case takes for an ASCII letter, and that does not become it.
    const lower = isPlain ? text.toLowerCase().replaceAll("ſ", "s") : text.toLowerCase();
    const begun = [...beginnings].filter((beginning) => lower.includes(beginning));
    if (begun.length === 0) return [];
    if (!isPlain) return forms;
    const last = begun.flatMap((beginning) => lastParts(lower, beginning));
    return forms.filter(
      (form) => lower.includes(form.slice(0, leastOf(form))) || last.some((part) => form.startsWith(part)),
    );
  };
}

/** What begins so, and goes on to the end of the text, or to where it was shortened. */
function lastParts(text: string, beginning: string): string[] {
  const parts: string[] = [];
  for (let at = text.indexOf(beginning); at !== -1; at = text.indexOf(beginning, at + 1)) {
    const end = text.indexOf("…", at);
    parts.push(text.slice(at, end === -1 ? undefined : end));
  }
  return parts;
}

/** So much of a form's beginning gives it away. */
const leastOf = ({ length }: string): number =>
  length < shortestInText ? length : Math.max(shortestBeginning, Math.ceil(length / 2));

/** The whole form, or so much of its beginning that it gives the secret away; less is enough where a text was shortened. */
function patternsOf(form: string): string[] {
  if (form.length < shortestInText) return [`(?<![\\w-])${escaped(form)}(?![\\w-])`];
  return [beginningOf(form, leastOf(form)), `${beginningOf(form, shortestPart)}(?=…|$)`];
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
