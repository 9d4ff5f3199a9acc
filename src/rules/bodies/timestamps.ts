const extendedForm =
  /^(\d{4})-(\d{2})-(\d{2})(?:[T ](\d{2}):(\d{2})(?::(\d{2})(?:[.,]\d+)?)?(Z|[+-]\d{2}(?::?\d{2})?)?)?$/i;
const basicForm = /^(\d{4})(\d{2})(\d{2})T(\d{2})(\d{2})(?:(\d{2})(?:[.,]\d+)?)?(Z|[+-]\d{2}(?:\d{2})?)?$/i;

/**
 * Whether a text is an ISO 8601 date, or date and time, in the extended or the basic form, and such a day exists. The
 * zone is optional, because the document asks for UTC in some fields only.
 */
export function isTimestamp(text: string): boolean {
  const found = extendedForm.exec(text) ?? basicForm.exec(text);
  if (found === null) return false;
  const [year, month, day, hour, minute, second] = found.slice(1, 7).map((part) => Number(part ?? 0));
  const date = new Date(Date.UTC(year ?? 0, (month ?? 0) - 1, day));
  return (
    date.getUTCMonth() + 1 === month &&
    date.getUTCDate() === day &&
    (hour ?? 0) < 25 &&
    (minute ?? 0) < 60 &&
    (second ?? 0) < 61
  );
}

/** Whether a timestamp with a time of day names its time zone. */
export const hasZone = (text: string): boolean => (extendedForm.exec(text) ?? basicForm.exec(text))?.[7] !== undefined;

/**
 * Returns the Unix milliseconds of a timestamp in the extended form. A timestamp without a zone counts as UTC. Returns
 * `NaN` for any other text.
 */
export const unixMsOf = (text: string): number => Date.parse(hasZone(text) || !text.includes("T") ? text : `${text}Z`);
