import { packageVersion } from "./package-root.ts";

/**
 * Returns the `User-Agent` of requests: the harness, its version, and the start of the run if there is one. The report
 * has the same time as `started`. Source: RFC 9110, section 10.1.5.
 */
export const userAgent = (runStarted?: Date): string => {
  const product = `agent-hosting-conformance/${packageVersion()}`;
  return runStarted === undefined ? product : `${product} (run ${runStarted.toISOString()})`;
};
