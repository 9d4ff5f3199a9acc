declare const isMarkup: unique symbol;

/** HTML in which every text has been escaped: only {@link html} makes it, so that nothing else can stand in a page. */
export interface Html {
  readonly [isMarkup]: true;
  readonly source: string;
}

/** What may stand in a hole of {@link html}: text, which is escaped; markup, which is not; several of these; or nothing. */
export type Hole = string | number | Html | null | false | readonly Hole[];

/**
 * Escaped text is safe between tags, and in attributes that stand in double quotes; the names of attributes are never holes. What a hole holds
 * keeps its blanks; of the template itself, no line begins with any.
 */
export function html(parts: TemplateStringsArray, ...holes: readonly Hole[]): Html {
  return markup(tightened(parts).reduce((before, part, at) => before + sourceOf(holes[at - 1] ?? null) + part));
}

const tight = new WeakMap<TemplateStringsArray, readonly string[]>();

/** Markup without the indentation of our own code, of which a page of hundreds of findings would be made in good part. */
function tightened(parts: TemplateStringsArray): readonly string[] {
  const known = tight.get(parts);
  if (known !== undefined) return known;
  const made = parts.map((part) => part.replace(/\n\s*/g, "\n"));
  tight.set(parts, made);
  return made;
}

/** Text with every character that HTML reads as more than itself written as a reference. */
export const escaped = (text: string): string => text.replace(/[&<>"']/g, (character) => references[character] ?? "");

const references: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};

function sourceOf(hole: Hole): string {
  if (hole === null || hole === false) return "";
  if (typeof hole === "string" || typeof hole === "number") return escaped(String(hole));
  return "source" in hole ? hole.source : hole.map(sourceOf).join("");
}

const markup = (source: string): Html => ({ source }) as Html;
