import { parseDuration } from "../base/duration.ts";
import { UsageProblem } from "../target/problem.ts";

/**
 * A duration as people write it: `90s`, `2m`, `1h30m`, `500ms`. In milliseconds.
 *
 * @throws {UsageProblem}
 */
export function readDuration(text: string, flag: string): number {
  const ms = parseDuration(text);
  if (ms === null) throw new UsageProblem(`${flag} is ${JSON.stringify(text)}; give a duration like 90s, 2m or 1h30m.`);
  return ms;
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
