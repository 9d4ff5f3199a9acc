/** The text that {@link hideKeys} puts in the place of a value that looks like a key. */
export const hiddenKey = "[hidden: it looks like a key]";

/** Matches a word, which may be a key. Words do not contain `/`, so each segment of a path is a separate word. */
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
 * Matches words that begin with two letters and an underscore, as keys of the service do. Names of environment
 * variables, which may look similar, are excluded before.
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
  // In a path, such a word may be the name of a folder, for example `my_acceptance_tests`. So it is hidden only if it
  // has a long run of letters and digits.
  return !isPath || runs.some((run) => run.length >= 12 || (run.length >= 8 && /\d/.test(run)));
}
