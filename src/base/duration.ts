export const minuteMs = 60_000;
export const hourMs = 3_600_000;
export const dayMs = 86_400_000;

const unitMs: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: minuteMs, h: hourMs };

/** Parses a duration such as `90s`, `1h30m` or `0` to milliseconds. Returns `null` if the text is invalid. */
export function parseDuration(text: string): number | null {
  if (text === "0") return 0;
  const parts = [...text.matchAll(/(\d+(?:\.\d+)?)(ms|s|m|h)/g)];
  if (parts.length === 0 || parts.map(([whole]) => whole).join("") !== text) return null;
  return parts.reduce((sum, [, amount, unit]) => sum + Number(amount) * (unitMs[unit ?? ""] ?? 0), 0);
}

/** Returns the date part of a time in ISO 8601, e.g. `2030-01-31` for `2030-01-31T02:00:00Z`. */
export const dayOf = (time: string): string => time.slice(0, 10);

/** Formats a duration in milliseconds for people: `1.84 s`, `12.3 s`, `3 min 20 s`. */
export function formatDuration(ms: number): string {
  const seconds = ms / 1000;
  if (seconds < 10) return `${seconds.toFixed(2)} s`;
  if (seconds < 59.95) return `${seconds.toFixed(1)} s`;
  const whole = Math.round(seconds);
  return `${Math.floor(whole / 60)} min ${whole % 60} s`;
}
