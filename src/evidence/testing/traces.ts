/**
 * Functions that write a key in some encoding, by description. Tests use them, so they share no code with the redactor.
 */
export const keyWritings: Readonly<Record<string, (key: string) => string>> = {
  "as it is": (key) => key,
  "in upper case": (key) => key.toUpperCase(),
  "in lower case": (key) => key.toLowerCase(),
  "without its first character": (key) => key.slice(1),
  "without its last character": (key) => key.slice(0, -1),
  "with another last character": (key) => `${key.slice(0, -1)}~`,
  "eight characters of its middle": (key) => key.slice(9, 17),
  "as JSON": (key) => JSON.stringify(key),
  "as JSON within JSON": (key) => JSON.stringify(JSON.stringify({ key })),
  "as JSON within JSON within JSON": (key) => JSON.stringify(JSON.stringify(JSON.stringify([key]))),
  "in escapes of JSON": (key) => mapCodeUnits(key, (unit) => `\\u${unit.toString(16).padStart(4, "0")}`),
  "in upper-case escapes of JSON within JSON": (key) =>
    mapCodeUnits(key, (unit) => `\\\\u${unit.toString(16).toUpperCase().padStart(4, "0")}`),
  "half of it in escapes": (key) =>
    mapCodeUnits(key, (unit, at) => (at % 2 === 0 ? String.fromCharCode(unit) : `\\u00${unit.toString(16)}`)),
  "in escapes of a shell": (key) => mapCodeUnits(key, (unit) => `\\x${unit.toString(16)}`),
  "percent-encoded": (key) => encodeURIComponent(key),
  "percent-encoded twice": (key) => encodeURIComponent(encodeURIComponent(key)),
  "percent-encoded in each character": (key) => mapCodeUnits(key, (unit) => `%${unit.toString(16)}`),
  "percent-encoded twice in each character": (key) => mapCodeUnits(key, (unit) => `%25${unit.toString(16)}`),
  "percent-encoded, as JSON": (key) => JSON.stringify({ to: `/?k=${encodeURIComponent(key)}` }),
  "as HTML": (key) =>
    key.replaceAll("&", "&amp;").replaceAll('"', "&quot;").replaceAll("'", "&#39;").replaceAll("<", "&lt;"),
  "in decimal entities": (key) => mapCodeUnits(key, (unit) => `&#${unit};`),
  "in hexadecimal entities": (key) => mapCodeUnits(key, (unit) => `&#x${unit.toString(16)};`),
  "in base64": (key) => base64(key),
  "in base64 after one character": (key) => base64(`:${key}`),
  "in base64 after two characters": (key) => base64(`k:${key}`),
  "in base64 of a header line": (key) => base64(`Authorization: Bearer ${key}\r\n`),
  "in base64 for URLs": (key) => Buffer.from(`x${key}`).toString("base64url"),
  "in hexadecimal": (key) => Buffer.from(key).toString("hex"),
  "in upper-case hexadecimal": (key) => Buffer.from(key).toString("hex").toUpperCase(),
  reversed: (key) => Array.from(key).toReversed().join(""),
  "with characters between that nobody sees": (key) => Array.from(key).join("\u200b"),
  "with NUL between": (key) => Array.from(key).join("\0"),
};

const base64 = (text: string): string => Buffer.from(text).toString("base64");

const mapCodeUnits = (text: string, write: (unit: number, at: number) => string): string =>
  Array.from(text, (character, at) => write(character.charCodeAt(0), at)).join("");

const minLength = 8;

/** Returns all sequences of eight characters of a key that a text reveals, in any encoding. */
export function tracesIn(text: string, key: string): string[] {
  const forms = [
    key,
    reversed(key),
    Buffer.from(key).toString("hex"),
    ...["", "a", "ab"].map((each) => innerBase64(each, key)),
  ];
  const traces = new Set(
    forms.flatMap((form) => [...gramsOf(form.toLowerCase()), ...gramsOf(urlSafe(form).toLowerCase())]),
  );
  const found: string[] = [];
  for (let [layer, depth] = [text, 0]; depth < 6; depth++) {
    const lowered = layer.toLowerCase();
    found.push(...[...traces].filter((trace) => lowered.includes(trace)));
    const next = unescapedOnce(layer);
    if (next === layer) break;
    layer = next;
  }
  return [...new Set(found)];
}

const reversed = (text: string): string => Array.from(text).toReversed().join("");
const urlSafe = (text: string): string => text.replaceAll("+", "-").replaceAll("/", "_");
/** Returns the part of a key's base64 that does not depend on the text before and after the key. */
const innerBase64 = (before: string, key: string): string => base64(before + key).slice(before === "" ? 0 : 4, -4);

const gramsOf = (form: string): string[] =>
  Array.from({ length: Math.max(0, form.length - minLength + 1) }, (_, at) => form.slice(at, at + minLength));

/** Undoes one layer of escapes, one kind after another. */
const unescapedOnce = (text: string): string =>
  text
    .replaceAll(/\\u([0-9a-f]{4})/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)))
    .replaceAll(/\\x([0-9a-f]{2})/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)))
    .replaceAll(/\\(["\\/])/g, "$1")
    .replaceAll(/%([0-9a-f]{2})/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)))
    .replaceAll(/&#x([0-9a-f]{2,4});/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)))
    .replaceAll(/&#(\d{2,5});/g, (_, decimal: string) => String.fromCharCode(Number(decimal)))
    .replaceAll("&quot;", '"')
    .replaceAll("&lt;", "<")
    .replaceAll("&amp;", "&")
    .replaceAll(/[\0\u200b]/g, "");
