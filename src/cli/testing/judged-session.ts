import { newestRequirements } from "../../spec/clause.ts";
import { cliMessages } from "../messages.ts";
import { runAndReport, type RedactedRun, type RunAndReportOptions } from "../../app/judge/run-and-report.ts";

export type Judged = Extract<RedactedRun, { kind: "judged" }>;

type Given = "target" | "suites";

/**
 * Runs the suites without waiting and without a limit of requests. Returns the redacted result.
 *
 * @throws {Error} if nothing was judged
 */
export async function judgedRun(
  options: Pick<RunAndReportOptions, Given> & Partial<Omit<RunAndReportOptions, Given>>,
  unselected: readonly string[] = [],
): Promise<Judged> {
  const defaults = {
    maxRequests: Number.POSITIVE_INFINITY,
    maxWaitMs: 0,
    messages: cliMessages,
    requirements: newestRequirements,
  };
  const session = await runAndReport({ ...defaults, signal: new AbortController().signal, ...options }, unselected);
  if (session.kind !== "judged") throw new Error(session.sentence);
  return session;
}
