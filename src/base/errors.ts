/** Returns the code of a system error, such as `ENOENT`, or the text of any other error. */
export const errorCodeOrText = (error: unknown): string =>
  error instanceof Error && "code" in error ? String(error.code) : String(error);

/** Returns the message of an error, or the text of any other thrown value. */
export const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

/** Returns an error's message and stack trace, for developers. */
export const traceOf = (error: unknown): string =>
  error instanceof Error ? (error.stack ?? error.message) : String(error);
