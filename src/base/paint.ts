/** Colours text, or leaves it as it is. No output relies on colour alone. */
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
