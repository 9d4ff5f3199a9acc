/** The code of a system error, such as `ENOENT`, or else the error as text. For a reason in brackets. */
export const errorCodeOrText = (error: unknown): string =>
  error instanceof Error && "code" in error ? String(error.code) : String(error);

/** The message of an error, or the text of anything else that was thrown. */
export const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

/** The stack of an error, with its message, for people who look for the defect. */
export const traceOf = (error: unknown): string =>
  error instanceof Error ? (error.stack ?? error.message) : String(error);
