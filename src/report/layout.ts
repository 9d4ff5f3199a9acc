/** Colours text, or leaves it as it is. No meaning stands on colour alone. */
export interface Paint {
  readonly bold: (text: string) => string;
  readonly dim: (text: string) => string;
  readonly red: (text: string) => string;
  readonly green: (text: string) => string;
  readonly yellow: (text: string) => string;
  readonly cyan: (text: string) => string;
}

const codes = {
  bold: [1, 22],
  dim: [2, 22],
  red: [31, 39],
  green: [32, 39],
  yellow: [33, 39],
  cyan: [36, 39],
} as const;

export function paintFor(colour: boolean): Paint {
  const painter =
    ([on, off]: readonly [number, number]) =>
    (text: string): string =>
      colour && text !== "" ? `\u001b[${on}m${text}\u001b[${off}m` : text;
  return {
    bold: painter(codes.bold),
    dim: painter(codes.dim),
    red: painter(codes.red),
    green: painter(codes.green),
    yellow: painter(codes.yellow),
    cyan: painter(codes.cyan),
  };
}

/** Breaks text at blanks into lines of at most `width` characters; a longer word stays whole. Never empty. */
export function wrap(text: string, width: number): string[] {
  const lines: string[] = [];
  let line = "";
  for (const word of text.split(" ")) {
    if (line !== "" && line.length + 1 + word.length > width) {
      lines.push(line);
      line = word;
    } else line = line === "" ? word : `${line} ${word}`;
  }
  return [...lines, line];
}

/** Text behind a label, wrapped so that further lines stand under the first. `label` is as wide as it is long unpainted. */
export function labelled(label: string, text: string, width: number, paint: (label: string) => string): string[] {
  const indent = " ".repeat(label.length);
  return wrap(text, Math.max(20, width - label.length)).map((line, at) => (at === 0 ? paint(label) : indent) + line);
}

const numbers = new Intl.NumberFormat("en");

/** `1 clause`, `2 clauses`, `4,213 requests`. */
export const counted = (count: number, noun: string): string =>
  `${numbers.format(count)} ${noun}${count === 1 ? "" : "s"}`;

/** `1.84 s`, `12.3 s`, `3 min 20 s`. */
export function duration(ms: number): string {
  const seconds = ms / 1000;
  if (seconds < 10) return `${seconds.toFixed(2)} s`;
  if (seconds < 59.95) return `${seconds.toFixed(1)} s`;
  const whole = Math.round(seconds);
  return `${Math.floor(whole / 60)} min ${whole % 60} s`;
}

/** The first few of a list, and how many more there are. */
export function firstOf(items: readonly string[], most: number): string {
  if (items.length <= most) return items.join(", ");
  return `${items.slice(0, most).join(", ")} and ${items.length - most} more`;
}
