import { isObject } from "../../base/json.ts";

/** How a JSON value is written. All of it is the same value to whoever reads it. */
export interface JsonStyle {
  /** Keys of every object from last to first. */
  readonly isReversed: boolean;
  /** Integers as `1.0`. */
  readonly hasFractions: boolean;
  /** Everything but plain letters and digits as `\u00e9`. */
  readonly isEscaped: boolean;
  /** Blanks, tabs and line ends wherever they may stand. */
  readonly isSpaced: boolean;
}

export const plainJson: JsonStyle = { isReversed: false, hasFractions: false, isEscaped: false, isSpaced: false };

/** Writes a JSON value. */
export function jsonText(value: unknown, style: JsonStyle = plainJson): string {
  const space = style.isSpaced ? "\r\n\t " : "";
  if (Array.isArray(value)) return `[${space}${value.map((each) => jsonText(each, style)).join(`${space},${space}`)}]`;
  if (isObject(value)) {
    const entries = Object.entries(value).filter(([, inner]) => inner !== undefined);
    const ordered = style.isReversed ? entries.toReversed() : entries;
    const members = ordered.map(([name, inner]) => `${textOf(name, style)}${space}:${space}${jsonText(inner, style)}`);
    return `{${space}${members.join(`${space},${space}`)}${space}}`;
  }
  if (typeof value === "string") return textOf(value, style);
  if (style.hasFractions && Number.isSafeInteger(value)) return `${String(value)}.0`;
  return JSON.stringify(value);
}

function textOf(text: string, { isEscaped }: JsonStyle): string {
  if (!isEscaped) return JSON.stringify(text);
  const units = Array.from({ length: text.length }, (_, at) => text.charCodeAt(at));
  return `"${units.map((unit) => `\\u${unit.toString(16).padStart(4, "0")}`).join("")}"`;
}
