/** Words of many writing systems: two to four bytes a character, combining marks, joined emoji, right to left. */
const words = ["Grüße", "naïve", "Ελλάδα", "Привет", "你好世界", "こんにちは", "שלום", "مرحبا", "🙂", "👩‍👩‍👧", "𝒳𝒴", "€½"];

/** Each word between two ASCII marks. The marks locate the word in a response even if it was corrupted. */
const marked = words.map((word, at) => `w${at}-${word}-${at}w`);

/** Characters that JSON has to escape and that must not break the lines of an event stream. */
const controls = 'And this one:\n"quoted",\tafter a tab, with a \\ in it.';

/** A query with marked words. The marks locate each word in a response that repeats the query, even if the word was corrupted. */
export const unicodeText = `Please repeat this line exactly: ${marked.join(" ")} ${controls}`;

/** A word that the response repeats incorrectly. */
export interface Corruption {
  readonly word: string;
  readonly received: string;
}

/** Words of {@link unicodeText} in a response. */
export interface EchoedText {
  /** Number of words found, corrupted or not. */
  readonly found: number;
  readonly corruptions: readonly Corruption[];
}

/** Finds the words of {@link unicodeText} in a response. A word is intact if at least one of its occurrences is intact. */
export function findEchoed(text: string): EchoedText {
  const found = words.map((word, at) => ({ word, forms: formsOf(text, at) })).filter(({ forms }) => forms.length > 0);
  const corruptions = found
    .filter(({ word, forms }) => !forms.some((form) => isSame(form, word)))
    .map(({ word, forms }) => ({ word, received: forms[0] ?? "" }));
  return { found: found.length, corruptions };
}

const formsOf = (text: string, at: number): string[] =>
  [...text.matchAll(new RegExp(`w${at}-(.{0,80}?)-${at}w`, "gsu"))].map(([, between]) => between ?? "");

const isSame = (form: string, word: string): boolean =>
  form.normalize("NFC") === word.normalize("NFC") || unescaped(form).normalize("NFC") === word.normalize("NFC");

/** Decodes `\u` escapes, because an agent may quote the query as JSON inside its own text. */
const unescaped = (text: string): string =>
  text.replace(/\\+u([0-9a-f]{4})/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
