const wordsOfScripts = [
  "Grüße",
  "naïve",
  "Ελλάδα",
  "Привет",
  "你好世界",
  "こんにちは",
  "שלום",
  "مرحبا",
  "🙂",
  "👩‍👩‍👧",
  "𝒳𝒴",
  "€½",
];

/** Words between ASCII marks, e.g. `w0-Grüße-0w`. The marks help to find a corrupted word in a response. */
const marked = wordsOfScripts.map((word, at) => `w${at}-${word}-${at}w`);

/** Characters that JSON must escape. For example, an unescaped line feed would break an event stream. */
const controls = 'And this one:\n"quoted",\tafter a tab, with a \\ in it.';

export const unicodeText = `Please repeat this line exactly: ${marked.join(" ")} ${controls}`;

/** Finds the words of {@link unicodeText} in a response. If a word occurs several times, one correct copy is enough. */
export function findEchoed(text: string) {
  const found = wordsOfScripts
    .map((word, at) => ({ word, forms: formsOf(text, at) }))
    .filter(({ forms }) => forms.length > 0);
  const corruptions = found
    .filter(({ word, forms }) => !forms.some((form) => isSame(form, word)))
    .map(({ word, forms }) => ({ word, received: forms[0] ?? "" }));
  return { found: found.length, corruptions };
}

const formsOf = (text: string, at: number): string[] =>
  [...text.matchAll(new RegExp(`w${at}-(.{0,80}?)-${at}w`, "gsu"))].map(([, between]) => between ?? "");

const isSame = (form: string, word: string): boolean =>
  form.normalize("NFC") === word.normalize("NFC") || unescapeJson(form).normalize("NFC") === word.normalize("NFC");

/** Decodes `\u` escapes, because an agent may quote the query as JSON. */
const unescapeJson = (text: string): string =>
  text.replace(/\\+u([0-9a-f]{4})/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
