/** An example text for each kind of `query` or `session_id` that `spec/dimensions.ts` lists. */
export const textKinds = {
  plain: "Hello.",
  "not ASCII": "Grüße, 你好 🙂.",
  "digits alone": "20260304",
  true: "true",
  hexadecimal: "deadbeefcafe0123",
  base64: "SGVsbG8sIHdvcmxkISDwn5mC+/8=",
  long: "Please repeat this sentence. ".repeat(70),
} as const satisfies Readonly<Record<string, string>>;

export type TextKind = keyof typeof textKinds;

export const isTextKind = (name: string): name is TextKind => Object.hasOwn(textKinds, name);

const minLong = 1500;

/** Returns the kind of a text, such as `long` or `not ASCII`. */
export function textKindOf(text: string): TextKind {
  if (text.length >= minLong) return "long";
  if (!/^[\x20-\x7e]*$/.test(text)) return "not ASCII";
  if (/^\d+$/.test(text)) return "digits alone";
  if (text === "true") return "true";
  if (/^[0-9a-f]{8,}$/.test(text)) return "hexadecimal";
  return /^[A-Za-z0-9+/]{16,}={1,2}$/.test(text) ? "base64" : "plain";
}
