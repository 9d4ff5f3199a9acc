/** Turns a name into a part of a file's name: lower-case letters and digits, a dash for anything else. Empty if there is no letter or digit. */
export const slug = (name: string): string =>
  name
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, "-")
    .replace(/^-|-$/g, "");

/** An instant in UTC for the start of a file's name, so that names sort by time: `2030-01-01T00-00-00-000Z`. */
export const timeInName = (instant: Date): string => instant.toISOString().replace(/[:.]/g, "-");
