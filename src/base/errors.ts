/** Why the system did not do something, for a sentence in brackets: its code, such as `ENOENT`, or else the error as text. */
export const reasonOf = (error: unknown): string =>
  error instanceof Error && "code" in error ? String(error.code) : String(error);

/** What was thrown says, whatever it is. */
export const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

/** The same with the places that it came through, for people who mend it. */
export const traceOf = (error: unknown): string =>
  error instanceof Error ? (error.stack ?? error.message) : String(error);
