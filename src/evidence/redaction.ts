import type { Answered, Body } from "./exchange.ts";
import type { Secret } from "./secret.ts";
import { indexSecrets, type SecretIndex } from "./secret-search.ts";
import { withholdSplitSecrets } from "./split-secrets.ts";

export type { Secret } from "./secret.ts";

/** Returns a text with every secret replaced by `[redacted NAME]`. */
export type Redact = (text: string) => string;

export interface Redactor {
  readonly text: Redact;
  readonly deep: <T>(data: T) => T;
}

/** Creates a redactor. It also removes encoded secrets, and any eight consecutive characters of a secret. */
export function redactorFor(
  secrets: readonly Secret[],
  isHarnessText: (gram: string) => boolean = () => false,
): Redactor {
  const index = indexSecrets(secrets, isHarnessText);
  if (index.isEmpty) return { text: (text) => text, deep: (data) => data };
  const redact: Redact = (text) => replaceMatches(text, index);
  const digits = secrets.some(({ value }) => /\d{8}/.test(value));
  return { text: redact, deep: (data) => createDataRedactor(index, redact, digits)(data) as typeof data };
}

function replaceMatches(text: string, { find }: SecretIndex): string {
  const found = find(text);
  if (found.length === 0) return text;
  let [left, from] = ["", 0];
  for (const each of found) {
    left += `${text.slice(from, each.from)}[redacted ${each.name}]`;
    from = each.to;
  }
  return left + text.slice(from);
}

/**
 * `redactsNumbers`: whether to redact numbers too. Only a secret with eight digits in a row can leak through a number.
 */
function createDataRedactor(index: SecretIndex, redact: Redact, redactsNumbers: boolean): (value: unknown) => unknown {
  const done = new Map<object, unknown>();
  const words = new Map<string, string>();
  return walk;

  function walk(value: unknown): unknown {
    if (typeof value === "string") return value.length > maxCachedLength ? redact(value) : walkWord(value);
    if (typeof value === "number") return redactsNumbers && redact(String(value)) !== String(value) ? 0 : value;
    if (typeof value !== "object" || value === null) return value;
    const known = done.get(value);
    if (known !== undefined) return known;
    const walked = Array.isArray(value) ? walkArray(value) : walkObject(value);
    done.set(value, walked);
    return walked;
  }

  function walkArray(array: readonly unknown[]): readonly unknown[] {
    return array.every((each) => walk(each) === each) ? array : array.map(walk);
  }

  function walkObject(object: object): object {
    const searchable = withholdHardToSearch(object, index) as Readonly<Record<string, unknown>>;
    const keys = Object.keys(searchable);
    const isClean = keys.every((key) => walkWord(key) === key && walk(searchable[key]) === searchable[key]);
    return isClean ? searchable : Object.fromEntries(keys.map((key) => [walkWord(key), walk(searchable[key])]));
  }

  /** Caches the result, because the same names of fields and headers occur again and again. */
  function walkWord(word: string): string {
    const known = words.get(word);
    if (known !== undefined) return known;
    const redacted = redact(word);
    words.set(word, redacted);
    return redacted;
  }
}

const maxCachedLength = 80;

function withholdHardToSearch(object: object, index: SecretIndex): object {
  if (isBinaryBody(object)) return withholdBinaryBody(object, index);
  return isAnswered(object) ? withholdSplitSecrets(object, index) : object;
}

/** Removes a binary body if its bytes contain a secret. A search in its base64 would not find every secret. */
function withholdBinaryBody(body: BinaryBody, { find }: SecretIndex): Body {
  const isClean = find(Buffer.from(body.base64, "base64").toString("latin1")).length === 0;
  return isClean ? body : { kind: "text", text: "[withheld: it held a secret]", bytes: body.bytes };
}

type BinaryBody = Extract<Body, { kind: "base64" }>;

const isBinaryBody = (object: object): object is BinaryBody =>
  "kind" in object && object.kind === "base64" && "base64" in object && typeof object.base64 === "string";

const isAnswered = (object: object): object is Answered =>
  "kind" in object &&
  object.kind === "answered" &&
  "events" in object &&
  Array.isArray(object.events) &&
  "body" in object;
