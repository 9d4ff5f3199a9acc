/** A text that tells the harness's own words from those of a target or a person. A renderer escapes the latter for its format. */
export interface Text {
  readonly parts: readonly TextPart[];
}

export type TextPart = OwnPart | OutsidePart;

/** A part with words of the harness or of the interface document. Backticks mark code. */
interface OwnPart {
  readonly kind: "own";
  readonly words: string;
}

interface OutsidePart {
  readonly kind: "outside";
  readonly raw: string;
  /** Maximum width in columns of a terminal. Longer text is cut. */
  readonly max: number;
  /** Whether the part continues a sentence of the harness, such as the reason of a skipped check. If not, it is a quoted value. */
  readonly isProse: boolean;
}

/** A value to insert into a {@link text} template. No strings, so that a target's text cannot pass for words of the harness. */
type TextContent = Text | number | readonly Text[];

/** Creates a text from a template, whose fixed parts are words of the harness. An inserted list of texts is joined by commas. */
export function text(template: TemplateStringsArray, ...holes: readonly TextContent[]): Text {
  const parts = template.flatMap((words, at) => [ownPart(words), ...partsOf(holes[at] ?? [])]);
  return { parts: parts.filter((part) => part.kind === "outside" || part.words !== "") };
}

function partsOf(hole: TextContent): readonly TextPart[] {
  if (typeof hole === "number") return [ownPart(String(hole))];
  return "parts" in hole ? hole.parts : joinTexts(hole).parts;
}

const ownPart = (words: string): OwnPart => ({ kind: "own", words });

/** Creates a text of the harness's own words: a constant, a formatted number, or a sentence of the document. */
export const own = (words: string): Text => ({ parts: words === "" ? [] : [ownPart(words)] });

/** Creates a text of a value from outside, such as a name or an observed value. */
export const outside = (raw: string, max = 300): Text => ({ parts: [{ kind: "outside", raw, max, isProse: false }] });

/** Creates a text of prose that may contain words from outside, such as the reason of a skipped check. */
export const outsideProse = (raw: string, max = 300): Text => ({
  parts: [{ kind: "outside", raw, max, isProse: true }],
});

export const joinTexts = (texts: readonly Text[], separator = ", "): Text => ({
  parts: texts.flatMap(({ parts }, at) => (at === 0 ? parts : [ownPart(separator), ...parts])),
});

/** Joins the first `max` texts, and says how many more there are: `SSE-5, SSE-6 and 3 more`. */
export function joinFirstTexts(texts: readonly Text[], max: number): Text {
  const hiddenCount = texts.length - max;
  const joined = joinTexts(texts.slice(0, max));
  return hiddenCount > 0 ? text`${joined} and ${hiddenCount} more` : joined;
}

/** Turns a text into a string. The renderer passes one function for the harness's own words, and one for words from outside. */
export const renderText = (
  { parts }: Text,
  format: { readonly own: (words: string) => string; readonly outside: (part: OutsidePart) => string },
): string => parts.map((part) => (part.kind === "own" ? format.own(part.words) : format.outside(part))).join("");
