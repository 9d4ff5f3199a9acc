import type { FigureUnit, LoadFigure } from "./comparison.ts";

const numbers = new Intl.NumberFormat("en", { maximumFractionDigits: 0 });

/** `1,234`, `12.5 ms`, `88.1 MiB`; a dash where there is none. */
export function figureText(value: number | null, unit: FigureUnit): string {
  if (value === null) return "–";
  switch (unit) {
    case "requests":
      return numbers.format(value);
    case "requests/s":
      return `${rounded(value)}/s`;
    case "ms":
      return `${rounded(value)} ms`;
    case "bytes":
      return `${rounded(value / 1024 ** 2)} MiB`;
  }
}

const rounded = (value: number): string => (value < 100 ? value.toFixed(1) : numbers.format(value));

/** `+12 %`, `-3 %`, `=`; empty where no share can be told. */
export function shareText({ was, is, changeShare }: Pick<LoadFigure, "was" | "is" | "changeShare">): string {
  if (was === is) return "=";
  if (changeShare === null) return "";
  const percent = changeShare * 100;
  const text = Math.abs(percent) < 1 ? percent.toPrecision(1) : numbers.format(percent);
  return `${percent > 0 ? "+" : ""}${text} %`;
}

/** `admitted p99 40.4 ms → 60.1 ms (+49 %)`. */
export function figureChange(figure: LoadFigure): string {
  const { name, unit, was, is } = figure;
  const share = shareText(figure);
  return `${name} ${figureText(was, unit)} → ${figureText(is, unit)}${share === "" ? "" : ` (${share})`}`;
}
