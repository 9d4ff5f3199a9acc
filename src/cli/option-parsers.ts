import { parseDuration } from "../base/duration.ts";
import { UsageError } from "../base/usage-error.ts";

/**
 * A duration as people write it: `90s`, `2m`, `1h30m`, `500ms`. In milliseconds.
 *
 * @throws {UsageError}
 */
export function readDuration(text: string, flag: string): number {
  const ms = parseDuration(text);
  if (ms === null) throw new UsageError(`${flag} is ${JSON.stringify(text)}; give a duration like 90s, 2m or 1h30m.`);
  return ms;
}

/**
 * A whole number of at least 1.
 *
 * @throws {UsageError}
 */
export function readCount(text: string, flag: string): number {
  if (/^[1-9]\d{0,8}$/.test(text)) return Number(text);
  throw new UsageError(`${flag} is ${JSON.stringify(text)}; give a whole number of at least 1.`);
}
