/** Words of many scripts: two to four bytes a character, combining marks, joined emoji, right to left. */
const words = ["Grüße", "naïve", "Ελλάδα", "Привет", "你好世界", "こんにちは", "שלום", "مرحبا", "🙂", "👩‍👩‍👧", "𝒳𝒴", "€½"];

/** Each word stands between two marks of plain letters, by which what became of it is found again. */
const marked = words.map((word, at) => `w${at}-${word}-${at}w`);

/** What JSON has to escape, and an event stream to keep off its lines. */
const controls = 'And this one:\n"quoted",\tafter a tab, with a \\ in it.';

/** A text whose words can be recognized in an answer that repeats it, unharmed or not. */
export const unicodeText = `Please repeat this line exactly: ${marked.join(" ")} ${controls}`;

/** A word that came back as something else. */
export interface Corruption {
  readonly word: string;
  readonly received: string;
}

/** What an answer shows of {@link unicodeText}. */
export interface EchoedText {
  /** Words that came back, harmed or not. */
  readonly found: number;
  readonly corruptions: readonly Corruption[];
}

/** Finds the words of {@link unicodeText} in an answer's text. A word that is once whole is not harmed, however often it stands there. */
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

/** An agent may quote what it was told as JSON inside its own text. */
const unescaped = (text: string): string =>
  text.replace(/\\+u([0-9a-f]{4})/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
