// k6 scripts import this file, so it must not import npm packages.

const maxLength = 160;

export function formatValue(value: unknown): string {
  if (value === undefined) return "nothing";
  const text = shorten(value);
  return text.length > maxLength ? `${text.slice(0, maxLength)}…` : text;
}

function shorten(value: unknown): string {
  try {
    return JSON.stringify(value) ?? typeof value;
  } catch {
    // `JSON.parse` can return a value so deeply nested that `JSON.stringify` overflows the stack.
    return "a value nested too deep to show";
  }
}
