import {
  encodingsOf,
  minLeakLength,
  replacementName,
  type Secret,
  type SecretEncoding,
  unescapeOnce,
} from "./secret.ts";

/** A part of a text that is a secret, or enough of a secret to count as a leak. `to` is exclusive. */
interface SecretMatch {
  readonly from: number;
  readonly to: number;
  readonly name: string;
}

export interface SecretIndex {
  readonly isEmpty: boolean;
  readonly find: (text: string) => readonly SecretMatch[];
}

/** Maximum number of times to unescape a text. For example, a JSON text inside a JSON string is unescaped twice. */
const maxEscapeLayers = 4;

/**
 * Prepares a search for secrets, encoded secrets, and parts of both. The search ignores a part of a plain secret that
 * also occurs in the harness's own texts (`isHarnessText`).
 */
export function indexSecrets(secrets: readonly Secret[], isHarnessText: (gram: string) => boolean): SecretIndex {
  const forms = secrets.filter(({ value }) => value !== "").flatMap(encodingsOf);
  const grams = indexGrams(forms, isHarnessText);
  const words = wholeSecretsToSearch(forms, grams);
  const findIn = (text: string): SecretMatch[] => {
    const found = findGrams(text, grams);
    for (const word of words) found.push(...findWholeSecret(text, word));
    return found;
  };
  return {
    isEmpty: forms.length === 0,
    find: (text) => {
      const found = findIn(text);
      let layer = { text, placeOf: (at: number): number => at };
      for (let depth = 0; depth < maxEscapeLayers; depth++) {
        const unescaped = unescapeOnce(layer.text);
        if (unescaped === null) break;
        const { placeOf } = layer;
        layer = { text: unescaped.text, placeOf: (at) => placeOf(unescaped.places[at] ?? 0) };
        for (const { from, to, name } of findIn(layer.text))
          found.push({ from: layer.placeOf(from), to: layer.placeOf(to), name });
      }
      return found.length < 2 ? found : mergeOverlaps(found);
    },
  };
}

function mergeOverlaps(found: readonly SecretMatch[]): SecretMatch[] {
  const all: SecretMatch[] = [];
  let longest = 0;
  for (const each of found.toSorted((a, b) => a.from - b.from || b.to - a.to)) {
    const last = all.at(-1);
    const length = each.to - each.from;
    if (last === undefined || each.from >= last.to) {
      all.push(each);
      longest = length;
      continue;
    }
    all[all.length - 1] = {
      from: last.from,
      to: Math.max(last.to, each.to),
      name: length > longest ? each.name : last.name,
    };
    longest = Math.max(longest, length);
  }
  return all;
}

interface GramPlace {
  readonly form: SecretEncoding;
  readonly at: number;
}

/** The sequences of `minLeakLength` characters ("grams") that betray a secret or an encoded secret. */
interface GramIndex {
  readonly places: ReadonlyMap<string, readonly GramPlace[]>;
  /**
   * Number of characters by which the search can move on without missing a gram. Index: hash of the last three
   * characters read. Wu and Manber call this the shift table.
   */
  readonly skips: Uint8Array;
}

const blockLength = 3;
const blockBits = 18;
const maxSkip = minLeakLength - blockLength + 1;
const maxPlacesPerGram = 4;

function indexGrams(forms: readonly SecretEncoding[], isHarnessText: (gram: string) => boolean): GramIndex {
  const places = new Map<string, GramPlace[]>();
  const skips = new Uint8Array(1 << blockBits).fill(maxSkip);
  for (const form of forms) {
    // Index where the last block in `skips` ends. Up to here, the next gram could only raise the values, so they stay.
    let lastBlockEnd = -1;
    for (let at = form.prefixLength; at + minLeakLength <= form.text.length; at++) {
      const gram = form.text.slice(at, at + minLeakLength).toLowerCase();
      if (form.isPlain && isHarnessText(gram)) continue;
      const known = places.get(gram) ?? [];
      places.set(gram, known);
      if (known.filter((each) => each.form === form).length < maxPlacesPerGram) known.push({ form, at });
      for (let end = Math.max(at + blockLength - 1, lastBlockEnd + 1); end < at + minLeakLength; end++) {
        const block = blockHash(form.text, end);
        skips[block] = Math.min(skips[block] ?? 0, at + minLeakLength - 1 - end);
      }
      lastBlockEnd = at + minLeakLength - 1;
    }
  }
  return { places, skips };
}

const blockHash = (text: string, end: number): number =>
  (lowerCaseCode(text.charCodeAt(end - 2)) << 11) ^
  (lowerCaseCode(text.charCodeAt(end - 1)) << 5) ^
  lowerCaseCode(text.charCodeAt(end));

/**
 * Maps both cases of an ASCII letter to the same code. Different characters may also get the same code, which only slows
 * the search.
 */
const lowerCaseCode = (code: number): number => (code | 0x20) & 0x7f;

/** Finds parts of secrets by the algorithm of Wu and Manber, which skips most of the text. */
function findGrams(text: string, { places, skips }: GramIndex): SecretMatch[] {
  const found: SecretMatch[] = [];
  let minFrom = 0;
  let end = minLeakLength - 1;
  while (end < text.length) {
    const skip = skips[blockHash(text, end)] ?? 0;
    if (skip > 0) {
      end += skip;
      continue;
    }
    const known = places.get(text.slice(end - minLeakLength + 1, end + 1).toLowerCase());
    const best = known === undefined ? null : longestMatch(known, text, end - minLeakLength + 1, minFrom);
    if (best === null) {
      end += 1;
      continue;
    }
    found.push(best);
    minFrom = best.to;
    end = best.to + minLeakLength - 1;
  }
  return found;
}

/**
 * Extends the gram that was found at `from` to the left and right, and returns the longest match. Of equally long
 * matches, prefers a complete secret.
 */
function longestMatch(known: readonly GramPlace[], text: string, from: number, minFrom: number): SecretMatch | null {
  let best: SecretMatch | null = null;
  for (const { form, at } of known) {
    let [start, end] = [from, from + minLeakLength];
    while (
      start > minFrom &&
      at - (from - start) > 0 &&
      equalsIgnoringCase(text, start - 1, form.text, at - (from - start) - 1)
    )
      start -= 1;
    while (
      end < text.length &&
      at + end - from < form.text.length &&
      equalsIgnoringCase(text, end, form.text, at + end - from)
    )
      end += 1;
    const length = best === null ? 0 : best.to - best.from;
    if (end - start < length) continue;
    const name = replacementName(form, at - (from - start), text.slice(start, end));
    if (end - start > length || name === form.name) best = { from: start, to: end, name };
  }
  return best;
}

function equalsIgnoringCase(text: string, at: number, form: string, place: number): boolean {
  const [one, other] = [text.charCodeAt(at), form.charCodeAt(place)];
  return one === other || (lowerCaseAscii(one) === lowerCaseAscii(other) && one < 0x80);
}

const lowerCaseAscii = (code: number): number => (code >= 0x41 && code <= 0x5a ? code + 0x20 : code);

interface WholeSecret {
  readonly name: string;
  readonly text: string;
  readonly mustBeWholeWord: boolean;
}

/** Secrets of 6 or 7 characters are also found inside longer words. A shorter secret would match ordinary words. */
const minLengthInsideWord = 6;

/** Returns the secrets that {@link findGrams} cannot find: under eight characters, or made of harness texts. */
function wholeSecretsToSearch(forms: readonly SecretEncoding[], { places }: GramIndex): WholeSecret[] {
  const found = new Set([...places.values()].flat().map(({ form }) => form));
  return forms
    .filter((form) => form.isPlain && !found.has(form))
    .map(({ name, text }) => ({
      name,
      text: text.toLowerCase(),
      mustBeWholeWord: text.length < minLengthInsideWord || text.length >= minLeakLength,
    }));
}

function findWholeSecret(text: string, { name, text: word, mustBeWholeWord }: WholeSecret): SecretMatch[] {
  const found: SecretMatch[] = [];
  const lowered = text.toLowerCase().length === text.length ? text.toLowerCase() : text;
  for (let at = lowered.indexOf(word); at !== -1; at = lowered.indexOf(word, at + word.length)) {
    const to = at + word.length;
    const isPart = isWordCharacter(lowered.charAt(at - 1)) || isWordCharacter(lowered.charAt(to));
    if (!mustBeWholeWord || !isPart) found.push({ from: at, to, name });
  }
  return found;
}

const isWordCharacter = (character: string): boolean => /^[\w-]$/.test(character);
