// Scripts of k6 import this file: it has no package of others.

const longestShown = 160;

/** A short, printable form of any value, for what was expected and what came. */
export function formatValue(value: unknown): string {
  if (value === undefined) return "nothing";
  const text = shorten(value);
  return text.length > longestShown ? `${text.slice(0, longestShown)}…` : text;
}

function shorten(value: unknown): string {
  try {
    return JSON.stringify(value) ?? typeof value;
  } catch {
    // JSON nested deeper than the stack parses, but cannot be written again.
    return "a value nested too deep to show";
  }
}
