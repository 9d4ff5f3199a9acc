/** An element, with a text or with other elements in it. */
export interface XmlElement {
  readonly name: string;
  readonly attributes: XmlAttributes;
  readonly content: string | readonly XmlElement[];
}

export type XmlAttributes = Readonly<Record<string, string | number>>;

/**
 * Every character of a text and of an attribute's value has to be one that XML 1.0 can hold; of a value, none may be a line feed or a tab, of which
 * a parser makes blanks.
 */
export const element = (name: string, attributes: XmlAttributes, content: XmlElement["content"] = ""): XmlElement => ({
  name,
  attributes,
  content,
});

/** A document in UTF-8: two spaces a level, a text between its tags as it is, and a line feed at the end. */
export const xmlDocument = (root: XmlElement): string =>
  `<?xml version="1.0" encoding="UTF-8"?>\n${linesOf(root, "").join("\n")}\n`;

function linesOf({ name, attributes, content }: XmlElement, indent: string): string[] {
  const said = Object.entries(attributes).map(([attribute, value]) => ` ${attribute}="${escapedValue(String(value))}"`);
  const opening = `${indent}<${name}${said.join("")}`;
  if (content.length === 0) return [`${opening}/>`];
  if (typeof content === "string") return [`${opening}>${escaped(content)}</${name}>`];
  return [`${opening}>`, ...content.flatMap((each) => linesOf(each, `${indent}  `)), `${indent}</${name}>`];
}

const escaped = (text: string): string => text.replace(/[&<>]/g, (character) => references[character] ?? "");

const escapedValue = (text: string): string => escaped(text).replaceAll('"', "&quot;");

const references: Readonly<Record<string, string>> = { "&": "&amp;", "<": "&lt;", ">": "&gt;" };
