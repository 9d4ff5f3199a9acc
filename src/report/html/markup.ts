declare const isMarkup: unique symbol;

/** HTML in which every text is escaped. Only {@link html} makes such values, so that a page cannot contain unescaped text. */
export interface Html {
  readonly [isMarkup]: true;
  readonly source: string;
}

/** Content that may be interpolated into {@link html}: text, which gets escaped; markup, which does not; lists of these; or nothing. */
export type Hole = string | number | Html | null | false | readonly Hole[];

/**
 * Makes HTML from a template. Interpolated text is escaped, which is safe between tags and in double-quoted attributes, but not as the name
 * of an attribute. The indentation of the template is removed; interpolated content keeps its own.
 */
export function html(parts: TemplateStringsArray, ...holes: readonly Hole[]): Html {
  return markup(
    withoutIndentation(parts).reduce((before, part, at) => before + sourceOf(holes[at - 1] ?? null) + part),
  );
}

const trimmedTemplates = new WeakMap<TemplateStringsArray, readonly string[]>();

/** Removes the indentation of our own templates, which would be a large part of a long page. */
function withoutIndentation(parts: TemplateStringsArray): readonly string[] {
  const known = trimmedTemplates.get(parts);
  if (known !== undefined) return known;
  const trimmed = parts.map((part) => part.replace(/\n\s*/g, "\n"));
  trimmedTemplates.set(parts, trimmed);
  return trimmed;
}

/** Escapes every character that has a meaning in HTML. */
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
