import { UsageProblem } from "../target/problem.ts";

const unitMs: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000 };

/**
 * A duration as people write it: `90s`, `2m`, `1h30m`, `500ms`. In milliseconds.
 *
 * @throws {UsageProblem}
 */
export function readDuration(text: string, flag: string): number {
  const parts = [...text.matchAll(/(\d+(?:\.\d+)?)(ms|s|m|h)/g)];
  if (parts.length === 0 || parts.map(([whole]) => whole).join("") !== text)
    throw new UsageProblem(`${flag} is ${JSON.stringify(text)}; give a duration like 90s, 2m or 1h30m.`);
  return parts.reduce((sum, [, amount, unit]) => sum + Number(amount) * (unitMs[unit ?? ""] ?? 0), 0);
}

/**
 * A whole number of at least 1.
 *
 * @throws {UsageProblem}
 */
export function readCount(text: string, flag: string): number {
  if (/^[1-9]\d{0,8}$/.test(text)) return Number(text);
  throw new UsageProblem(`${flag} is ${JSON.stringify(text)}; give a whole number of at least 1.`);
}
