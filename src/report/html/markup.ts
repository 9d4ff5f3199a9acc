declare const isMarkup: unique symbol;

/** HTML source in which all text is escaped. Only the function {@link html} creates a value of this type. */
export interface Html {
  readonly [isMarkup]: true;
  readonly source: string;
}

/** A value to insert into an {@link html} template. Strings are escaped. `null` and `false` insert nothing. */
export type HtmlContent = string | number | Html | null | false | readonly HtmlContent[];

/** Creates HTML from a template. Inserted strings are safe between tags and in double-quoted attributes. */
export function html(parts: TemplateStringsArray, ...holes: readonly HtmlContent[]): Html {
  return htmlFromSource(
    removeIndentation(parts).reduce((before, part, at) => before + contentSource(holes[at - 1] ?? null) + part),
  );
}

const trimmedTemplates = new WeakMap<TemplateStringsArray, readonly string[]>();

function removeIndentation(parts: TemplateStringsArray): readonly string[] {
  const known = trimmedTemplates.get(parts);
  if (known !== undefined) return known;
  const trimmed = parts.map((part) => part.replace(/\n\s*/g, "\n"));
  trimmedTemplates.set(parts, trimmed);
  return trimmed;
}

export const escapeHtml = (text: string): string =>
  text.replace(/[&<>"']/g, (character) => characterReferences[character] ?? "");

const characterReferences: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};

function contentSource(hole: HtmlContent): string {
  if (hole === null || hole === false) return "";
  if (typeof hole === "string" || typeof hole === "number") return escapeHtml(String(hole));
  return "source" in hole ? hole.source : hole.map(contentSource).join("");
}

const htmlFromSource = (source: string): Html => ({ source }) as Html;
