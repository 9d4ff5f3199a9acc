/** Replaces a value that looks like a key. */
export const hiddenKey = "[hidden: it looks like a key]";

/** A word that may be a key. Words do not contain `/`, so each segment of a path is a word of its own. */
const wordPattern = /[A-Za-z0-9_\-.~+=$%]+/g;
/** Credentials in a URL, such as `user:password@`. */
const urlCredentials = /(:?\/\/)[^/@\s"'`]+@/g;
const authorization = /\b(Bearer|Basic)\s+[^\s"'`]+/gi;

/**
 * Hides each word of a text that looks like a key, and the credentials of URLs. A person may by mistake give a key in
 * place of something else, and an error message must not repeat it. Does not hide the names of files, clauses, flags,
 * environment variables and hosts.
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

/**
 * Matches words that begin with two lower-case letters and an underscore, as keys of the service do. Environment
 * variables, which may look similar, are in upper case.
 */
const keyPrefixPattern = /^[^A-Za-z0-9]*[a-z]{2}_[\w\-.~+]{6,}$/i;
const fileExtension = /\.[a-z]{1,4}\d?$/i;
const upperCaseName = /^[^a-z]*$/;

function looksLikeKey(text: string, isPath: boolean): boolean {
  if (fileExtension.test(text) || upperCaseName.test(text)) return false;
  const runs = text.match(/[A-Za-z0-9]+/g) ?? [];
  const hasRandomRun = runs.some((run) => run.length >= 16 && /\d.*\d/.test(run) && /[A-Za-z]/.test(run));
  if (hasRandomRun) return true;
  if (!keyPrefixPattern.test(text)) return false;
  // In a path, such a word may be the name of a folder, for example `my_acceptance_tests`. Only long parts, or parts
  // with digits, are hidden.
  return !isPath || runs.some((run) => run.length >= 12 || (run.length >= 8 && /\d/.test(run)));
}
