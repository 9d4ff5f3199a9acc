import { styleText } from "node:util";

const styles = ["bold", "dim", "red", "green", "yellow", "cyan"] as const;
type Style = (typeof styles)[number];

export type Paint = Readonly<Record<Style, (text: string) => string>>;

export function createPaint(colour: boolean): Paint {
  const painter =
    (style: Style) =>
    (text: string): string =>
      colour && text !== "" ? styleText(style, text, { validateStream: false }) : text;
  return Object.fromEntries(styles.map((style) => [style, painter(style)])) as Paint;
}
