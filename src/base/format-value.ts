// This file must not import npm packages, because k6 scripts import it.

const maxLength = 160;

/** Formats any value for a message about expected and actual values. Long values are cut. */
export function formatValue(value: unknown): string {
  if (value === undefined) return "nothing";
  const text = shorten(value);
  return text.length > maxLength ? `${text.slice(0, maxLength)}…` : text;
}

function shorten(value: unknown): string {
  try {
    return JSON.stringify(value) ?? typeof value;
  } catch {
    // `JSON.parse` accepts deeper nesting than `JSON.stringify`, which overflows the stack.
    return "a value nested too deep to show";
  }
}
