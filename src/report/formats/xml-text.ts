import { harmless, harmlessLine } from "../../base/harmless.ts";

/** Text as XML 1.0 can hold it: what may not stand there, as a reference neither, becomes a visible escape. */
export const xmlText = (text: string): string => withoutForbidden(harmless(text));

/** The same on one line, for attributes. */
export const xmlLine = (text: string, most = 300): string => withoutForbidden(harmlessLine(text, most));

/** Of what `harmless` leaves, XML 1.0 forbids just these two. */
const withoutForbidden = (text: string): string =>
  text.replace(/[\uFFFE\uFFFF]/g, (character) => `\\u{${character.charCodeAt(0).toString(16)}}`);
