import { jsonIn, member } from "../base/json.ts";
import { type Parsed, parseAs } from "../base/parsing.ts";
import { type Night, nightSchema } from "./night.ts";
import { firstNightFormat, firstNightSchema } from "./night-1.ts";

/** A file of the history as text: small, and ends with a line feed. */
export const nightText = (night: Night): string => `${JSON.stringify(night)}\n`;

/** The night that a text holds, of this version or of those before, or what is wrong with the text. */
export function readNight(text: string): Parsed<Night> {
  const raw = jsonIn(text);
  if (raw === undefined) return { kind: "problem", problem: "it is not JSON: half-written, or damaged" };
  return member(raw, "format") === firstNightFormat ? parseAs(raw, firstNightSchema) : parseAs(raw, nightSchema);
}
