import { parseDuration } from "../base/duration.ts";
import { line } from "../base/line.ts";
import { UsageError } from "../base/usage-error.ts";

/** Returns the flag for a setting: `--max-wait` for `maxWaitMs`, and `--badge-endpoint` for `badgeEndpoint`. */
export const flagForSetting = (name: string): string =>
  `--${name.replace(/Ms$/, "").replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;

/** Appends the value of a flag that may be given several times to the earlier values. */
export const appendValue = (value: string, before: readonly string[]): string[] => [...before, value];

/**
 * Parses a duration such as `90s`, `2m`, `1h30m` or `500ms`, and returns milliseconds.
 *
 * @throws {UsageError} if it is not a duration
 */
export function readDuration(text: string, flag: string): number {
  const ms = parseDuration(text);
  if (ms === null)
    throw new UsageError(line`${flag} is ${JSON.stringify(text)}; give a duration like 90s, 2m or 1h30m.`);
  return ms;
}

/**
 * Parses a whole number.
 *
 * @throws {UsageError} if it is not one, or smaller than `min`
 */
export function readCount(text: string, flag: string, min = 1): number {
  if (/^(0|[1-9]\d{0,8})$/.test(text) && Number(text) >= min) return Number(text);
  throw new UsageError(line`${flag} is ${JSON.stringify(text)}; give a whole number of at least ${min}.`);
}
