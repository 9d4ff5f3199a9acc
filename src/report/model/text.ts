/**
 * Text that keeps the harness's own words apart from text from outside (of a target, or of a person). Only a renderer turns it into a
 * string, and makes the parts from outside harmless for its format.
 */
export interface Text {
  readonly parts: readonly TextPart[];
}

export type TextPart = OwnPart | OutsidePart;

/** Words of the harness or of the interface document; backticks mark code. */
interface OwnPart {
  readonly kind: "own";
  readonly words: string;
}

interface OutsidePart {
  readonly kind: "outside";
  readonly raw: string;
  /** Longest form to print, in columns of a terminal. Longer text is cut. */
  readonly max: number;
  /** Whether the part continues a sentence of the harness, such as the reason of a skipped check. Otherwise it is a quoted value. */
  readonly isProse: boolean;
}

/**
 * Content that may be interpolated into {@link text}. Plain strings are not allowed, so that a target's text cannot pass for the harness's
 * own words.
 */
type Hole = Text | number | readonly Text[];

/** Makes text from a template. The template's fixed parts are the harness's own words. Interpolated lists of texts are joined by commas. */
export function text(template: TemplateStringsArray, ...holes: readonly Hole[]): Text {
  const parts = template.flatMap((words, at) => [ownPart(words), ...partsOf(holes[at] ?? [])]);
  return { parts: parts.filter((part) => part.kind === "outside" || part.words !== "") };
}

function partsOf(hole: Hole): readonly TextPart[] {
  if (typeof hole === "number") return [ownPart(String(hole))];
  return "parts" in hole ? hole.parts : joinTexts(hole).parts;
}

const ownPart = (words: string): OwnPart => ({ kind: "own", words });

/** Marks a string as the harness's own words: a constant, a number in words, or a sentence of the document. */
export const own = (words: string): Text => ({ parts: words === "" ? [] : [ownPart(words)] });

/** Marks a string as a value from outside, such as a name or an observed value. */
export const outside = (raw: string, max = 300): Text => ({ parts: [{ kind: "outside", raw, max, isProse: false }] });

/** Marks a string as prose that may contain text from outside, such as the reason of a skipped check. */
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

/** Turns text into a string of some format. The renderer passes a function for its own words, and one for parts from outside. */
export const renderText = (
  { parts }: Text,
  format: { readonly own: (words: string) => string; readonly outside: (part: OutsidePart) => string },
): string => parts.map((part) => (part.kind === "own" ? format.own(part.words) : format.outside(part))).join("");
