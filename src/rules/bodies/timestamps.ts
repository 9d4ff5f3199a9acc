import { dayMs, hourMs, minuteMs } from "../../base/duration.ts";

// k6 scripts import this file, so it uses no Buffer, no URL and no npm package: k6 has none of them.

/** Creates the pattern of an ISO 8601 calendar, ordinal or week date, optionally followed by a time and a zone. */
const formWith = (dash: string, colon: string, separator: string): RegExp =>
  new RegExp(
    String.raw`^(\d{4})${dash}(?:(\d\d)${dash}(\d\d)|(\d{3})|W(\d\d)${dash}([1-7]))` +
      String.raw`(?:${separator}(\d\d)(?:${colon}(\d\d)(?:${colon}(\d\d))?)?([.,]\d+)?` +
      String.raw`(Z|([+-])(\d\d)(?:(?:${colon}|)(\d\d))?)?)?$`,
    "i",
  );

const extendedForm = formWith("-", ":", "[T ]");
const basicForm = formWith("", "", "T");

/**
 * Splits an ISO 8601 text into its parts; `null` for other texts. Rejects a text of digits alone, because it could be
 * Unix seconds.
 */
const partsOf = (text: string): RegExpExecArray | null =>
  /^\d+$/.test(text) ? null : (extendedForm.exec(text) ?? basicForm.exec(text));

const utcDate = (year: number, month: number, day: number): Date =>
  new Date(new Date(0).setUTCFullYear(year, month - 1, day));

/** Returns the Unix ms at which a day begins in UTC; `NaN` if the calendar has no such day. */
function dayStartMs(parts: RegExpExecArray): number {
  const [, year = 0, month = 0, day = 0, dayOfYear = 0, week = 0, weekday = 0] = parts.map(Number);
  if (parts[2] !== undefined) {
    const date = utcDate(year, month, day);
    return date.getUTCMonth() + 1 === month && date.getUTCDate() === day ? date.getTime() : NaN;
  }
  if (parts[4] !== undefined) {
    const date = utcDate(year, 1, dayOfYear);
    return date.getUTCFullYear() === year ? date.getTime() : NaN;
  }
  // Week 1 contains 4 January. A week belongs to the year of its Thursday.
  const weekdayOf4January = utcDate(year, 1, 4).getUTCDay() || 7;
  const thursday = utcDate(year, 1, 8 - weekdayOf4January + 7 * (week - 1));
  return thursday.getUTCFullYear() === year ? thursday.getTime() + (weekday - 4) * dayMs : NaN;
}

/**
 * Returns the Unix ms of an ISO 8601 date, or date and time; `NaN` for other texts. Assumes UTC if the zone is missing.
 * `Date.parse` would accept only some of these texts.
 */
export function unixMsOf(text: string): number {
  const parts = partsOf(text);
  if (parts === null) return NaN;
  const [hour = 0, minute = 0, second = 0] = parts.slice(7, 10).map((part) => Number(part ?? 0));
  const [zoneHour, zoneMinute] = [Number(parts[13] ?? 0), Number(parts[14] ?? 0)];
  if (minute > 59 || second > 60 || zoneHour > 23 || zoneMinute > 59) return NaN;
  // A fraction belongs to the last unit that is written: `10:30,5` is half a minute after 10:30.
  const unitMs = parts[9] === undefined ? (parts[8] === undefined ? hourMs : minuteMs) : 1000;
  const fractionMs = unitMs * Number((parts[10] ?? ".0").replace(",", "."));
  const sinceMidnightMs = hour * hourMs + minute * minuteMs + second * 1000 + fractionMs;
  // `24:00` is legal: the end of the day. `24:01` is not.
  if (hour > 23 && sinceMidnightMs > dayMs) return NaN;
  const zoneMs = zoneHour * hourMs + zoneMinute * minuteMs;
  const localMs = dayStartMs(parts) + sinceMidnightMs;
  return parts[12] === "-" ? localMs + zoneMs : localMs - zoneMs;
}

/** Whether a text is an ISO 8601 date, or date and time, of a day that exists. The zone is optional. */
export const isTimestamp = (text: string): boolean => !Number.isNaN(unixMsOf(text));

export const hasZone = (text: string): boolean => partsOf(text)?.[11] !== undefined;

export const statesSeconds = (text: string): boolean => partsOf(text)?.[9] !== undefined;

/**
 * Returns the Unix ms of a timestamp for comparison with a clock; `NaN` if the value is no timestamp, or has no
 * minutes. A time such as `2030-02-05T10Z` can be almost an hour old.
 */
export const instantMsOf = (value: unknown): number =>
  typeof value === "string" && partsOf(value)?.[8] !== undefined ? unixMsOf(value) : NaN;
