/** Returns the code of a system error, such as `ENOENT`, or the text of any other error. */
export const errorCodeOrText = (error: unknown): string =>
  error instanceof Error && "code" in error ? String(error.code) : String(error);

/** Error codes of a connection that was never made, so that no request was sent. */
export const unconnectedCodes: ReadonlySet<string> = new Set([
  "ECONNREFUSED",
  "ENOTFOUND",
  "EAI_AGAIN",
  "EHOSTUNREACH",
  "ENETUNREACH",
  "EADDRNOTAVAIL",
  "UND_ERR_CONNECT_TIMEOUT",
]);

export const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

export const traceOf = (error: unknown): string =>
  error instanceof Error ? (error.stack ?? error.message) : String(error);
