/** Why the system did not do something, for a sentence in brackets: its code, such as `ENOENT`, or else the error as text. */
export const errorCodeOrText = (error: unknown): string =>
  error instanceof Error && "code" in error ? String(error.code) : String(error);

/** The message of an error, or the text of anything else that was thrown. */
export const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

/** The stack of an error, its message in it, for people who look for the defect. */
export const traceOf = (error: unknown): string =>
  error instanceof Error ? (error.stack ?? error.message) : String(error);
