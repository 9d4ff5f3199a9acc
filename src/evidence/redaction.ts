import type { Answered, Body } from "./exchange.ts";
import type { Secret } from "./secret.ts";
import { indexSecrets, type SecretIndex } from "./secret-search.ts";
import { withholdSplitSecrets } from "./split-secrets.ts";

export type { Secret } from "./secret.ts";

/** Replaces every secret in texts that leave the process. */
export type Redact = (text: string) => string;

/** Takes secrets out of what leaves the process. */
export interface Redactor {
  readonly text: Redact;
  /**
   * Plain JSON data in which every string, keys of objects included, has passed. What holds no secret is returned as it is, and what stands in
   * several places stays one and the same object.
   */
  readonly deep: <T>(data: T) => T;
}

/**
 * Makes a redactor for a set of secrets. Wherever eight consecutive characters of one stand, in whatever letter case, with escapes of JSON, URLs or HTML
 * (twice and mixed, too), reversed, in hexadecimal, or in base64 alone or within a longer text, it writes `[redacted NAME]` in the place of as
 * much of the secret as stands there. Of what a target says no pattern is made, and the time that it takes is in proportion to the text.
 *
 * @param isOwn whether the harness itself writes this text into every report, so that it gives nothing away
 */
export function redactorFor(secrets: readonly Secret[], isOwn: (gram: string) => boolean = () => false): Redactor {
  const index = indexSecrets(secrets, isOwn);
  if (index.isEmpty) return { text: (text) => text, deep: (data) => data };
  const redact: Redact = (text) => replaced(text, index);
  const digits = secrets.some(({ value }) => /\d{8}/.test(value));
  return { text: redact, deep: (data) => walkerFor(index, redact, digits)(data) as typeof data };
}

function replaced(text: string, { find }: SecretIndex): string {
  const found = find(text);
  if (found.length === 0) return text;
  let [left, from] = ["", 0];
  for (const each of found) {
    left += `${text.slice(from, each.from)}[redacted ${each.name}]`;
    from = each.to;
  }
  return left + text.slice(from);
}

/** @param mindsNumbers a secret has so many digits in a row that a number may hold them */
function walkerFor(index: SecretIndex, redact: Redact, mindsNumbers: boolean): (value: unknown) => unknown {
  const done = new Map<object, unknown>();
  const words = new Map<string, string>();
  return walk;

  function walk(value: unknown): unknown {
    if (typeof value === "string") return value.length > longestWord ? redact(value) : walkWord(value);
    if (typeof value === "number") return mindsNumbers && redact(String(value)) !== String(value) ? 0 : value;
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

  /** Nearly all is clean, and comes by the ten thousand: nothing is made of it. */
  function walkObject(object: object): object {
    const whole = withoutPieces(object, index) as Readonly<Record<string, unknown>>;
    const keys = Object.keys(whole);
    const isClean = keys.every((key) => walkWord(key) === key && walk(whole[key]) === whole[key]);
    return isClean ? whole : Object.fromEntries(keys.map((key) => [walkWord(key), walk(whole[key])]));
  }

  /** Names of fields and headers, kinds, paths and the like come again and again. */
  function walkWord(word: string): string {
    const known = words.get(word);
    if (known !== undefined) return known;
    const redacted = redact(word);
    words.set(word, redacted);
    return redacted;
  }
}

const longestWord = 80;

function withoutPieces(object: object, index: SecretIndex): object {
  if (isBytes(object)) return withoutBytes(object, index);
  return isAnswered(object) ? withholdSplitSecrets(object, index) : object;
}

/** What is no text may hold a secret all the same, where its base64 does not show it. */
function withoutBytes(body: Bytes, { find }: SecretIndex): Body {
  const isClean = find(Buffer.from(body.base64, "base64").toString("latin1")).length === 0;
  return isClean ? body : { kind: "text", text: "[withheld: it held a secret]", bytes: body.bytes };
}

type Bytes = Extract<Body, { kind: "base64" }>;

const isBytes = (object: object): object is Bytes =>
  "kind" in object && object.kind === "base64" && "base64" in object && typeof object.base64 === "string";

const isAnswered = (object: object): object is Answered =>
  "kind" in object &&
  object.kind === "answered" &&
  "events" in object &&
  Array.isArray(object.events) &&
  "body" in object;
