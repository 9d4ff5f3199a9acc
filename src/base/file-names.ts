/**
 * Turns a name into a part of a file name: lower-case letters and digits, and a dash for anything else. Returns an
 * empty text if the name has no letter or digit.
 */
export const slug = (name: string): string =>
  name
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, "-")
    .replace(/^-|-$/g, "");

/** Formats an instant in UTC for the start of a file name: `2030-01-01T00-00-00-000Z`. Such names sort by time. */
export const timeInName = (instant: Date): string => instant.toISOString().replace(/[:.]/g, "-");
