declare const isMarkup: unique symbol;

/** HTML in which every text has been escaped: only {@link html} makes it, so that nothing else can stand in a page. */
export interface Html {
  readonly [isMarkup]: true;
  readonly source: string;
}

/** What may stand in a hole of {@link html}: text, which is escaped; markup, which is not; several of these; or nothing. */
export type Hole = string | number | Html | null | false | readonly Hole[];

/** Escaped text is safe between tags, and in attributes that stand in double quotes; the names of attributes are never holes. */
export function html(parts: TemplateStringsArray, ...holes: readonly Hole[]): Html {
  return markup(parts.reduce((before, part, at) => before + sourceOf(holes[at - 1] ?? null) + part));
}

/** Markup that our own code wrote as one text, such as a style sheet. Never a text of the target. */
export const trusted = (source: string): Html => markup(source);

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
