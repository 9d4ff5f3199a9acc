/** A name as part of a file's: letters and digits in lower case, a dash for anything else. Empty where it has neither. */
export const slug = (name: string): string =>
  name
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, "-")
    .replace(/^-|-$/g, "");

/** An instant as the beginning of a file's name, in UTC, so that names sort by time: `2030-01-01T00-00-00-000Z`. */
export const timeInName = (instant: Date): string => instant.toISOString().replace(/[:.]/g, "-");
