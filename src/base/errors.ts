/** Returns the code of a system error, such as `ENOENT`, or the text of any other error. */
export const errorCodeOrText = (error: unknown): string =>
  error instanceof Error && "code" in error ? String(error.code) : String(error);

export const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

export const traceOf = (error: unknown): string =>
  error instanceof Error ? (error.stack ?? error.message) : String(error);
