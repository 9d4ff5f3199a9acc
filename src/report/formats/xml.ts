import XmlBuilder from "fast-xml-builder";

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
  `${builder.build([{ "?xml": [], ":@": { version: "1.0", encoding: "UTF-8" } }, nodeOf(root)])}\n`;

const text = "#text";
const builder = new XmlBuilder({
  preserveOrder: true,
  ignoreAttributes: false,
  attributeNamePrefix: "",
  textNodeName: text,
  format: true,
  suppressEmptyNode: true,
  suppressBooleanAttributes: false,
});

/** As the builder has it: children under the element's name, beside its attributes. */
const nodeOf = ({ name, attributes, content }: XmlElement): object => ({
  [name]: typeof content !== "string" ? content.map(nodeOf) : content === "" ? [] : [{ [text]: content }],
  ":@": attributes,
});
