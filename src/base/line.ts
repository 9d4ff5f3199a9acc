import { sanitize, truncate } from "./sanitize.ts";

declare const harmless: unique symbol;

/** A message that is safe to print, without control characters and keys. Only this file makes such messages. */
export type Line = string & { readonly [harmless]: true };

/** Maximum length of a text that is inserted into a message, in UTF-16 units. A longer text is cut. */
const maxInsertedLength = 2000;

/** Makes a line from a template literal: escapes control characters in inserted values, and hides keys. */
export const line = (template: TemplateStringsArray, ...values: readonly (string | number)[]): Line =>
  template.map((words, at) => words + (at < values.length ? safeLine(String(values[at])) : "")).join("") as Line;

/** Makes untrusted text safe to print: cuts it, escapes control characters, and hides keys. Returns one line. */
export function safeLine(text: string): Line {
  const start = truncate(text, maxInsertedLength);
  const safe = hideKeys(sanitize(start).replaceAll("\n", "\\n").replaceAll("\t", "\\t"));
  return (start === text ? safe : `${safe}…`) as Line;
}

export const joinLines = (lines: readonly Line[], separator: string): Line => lines.join(separator) as Line;

export const hiddenKey = "[hidden: it looks like a key]";

/** Matches words that may be API keys. Excludes `/`, so that each segment of a path is one word. */
const wordPattern = /[A-Za-z0-9_\-.~+=$%]+/g;

/** Credentials in a URL, such as `user:password@`. */
const urlCredentials = /(:?\/\/)[^/@\s"'`]+@/g;

const authorization = /\b(Bearer|Basic)\s+[^\s"'`]+/gi;

/**
 * Hides credentials in URLs and after `Bearer` or `Basic`. Also hides words that look like API keys, which users can
 * enter by mistake.
 */
export function hideKeys(text: string): string {
  const isPath = /[/\\]/.test(text);
  return text
    .replace(urlCredentials, "$1…@")
    .replace(authorization, `$1 ${hiddenKey}`)
    .replace(wordPattern, (found) =>
      found
        .split("=")
        .map((part) => (looksLikeKey(part, isPath) ? hiddenKey : part))
        .join("="),
    );
}

/** Matches words that begin like a key of the service: two letters and an underscore. */
const keyPrefixPattern = /^[^A-Za-z0-9]*[a-z]{2}_[\w\-.~+]{6,}$/i;

const fileExtension = /\.[a-z]{1,4}\d?$/i;

const upperCaseName = /^[^a-z]*$/;

function looksLikeKey(text: string, isPath: boolean): boolean {
  if (fileExtension.test(text) || upperCaseName.test(text)) return false;
  const runs = text.match(/[A-Za-z0-9]+/g) ?? [];
  const hasRandomRun = runs.some((run) => run.length >= 16 && /\d.*\d/.test(run) && /[A-Za-z]/.test(run));
  if (hasRandomRun) return true;
  if (!keyPrefixPattern.test(text)) return false;
  // Folder names such as `my_project-files` also begin like a key. But a real key has a long run of letters or digits.
  return !isPath || runs.some((run) => run.length >= 12 || (run.length >= 8 && /\d/.test(run)));
}

/** An error in the user's input. Commands then exit with 2. The library exports this class as `UsageProblem`. */
export class UsageError extends Error {
  override readonly name = "UsageProblem";
  declare readonly message: Line;

  // oxlint-disable-next-line no-useless-constructor -- narrows the parameter from string to Line
  constructor(message: Line) {
    super(message);
  }
}
