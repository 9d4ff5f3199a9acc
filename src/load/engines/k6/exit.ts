import { EngineProblem } from "../../engine.ts";
import type { EndLine } from "./lines.ts";
import type { K6End } from "./process.ts";

/** Exit codes of k6 that have a meaning here. Source: k6, errext/exitcodes. */
const codes = { fine: 0, invalidConfig: 104, interrupted: 105, scriptException: 107, aborted: 108 } as const;

/** Why a process of k6 gave no evidence; `null` where it gave some. An exception in an iteration leaves k6's code at 0: the last line tells it. */
export function explain({ code, log }: K6End, end: EndLine | null, wasStopped: boolean): Error | null {
  if (wasStopped) return null;
  const said = log.filter((line) => line !== requestFailed).join("\n");
  if (end !== null && end.errors > 0)
    return new Error(`The k6 script threw an exception in ${end.errors} of its iterations:\n${said}`);
  if (code === codes.fine && end !== null) return null;
  if (code === codes.scriptException || code === codes.invalidConfig || code === codes.aborted)
    return new EngineProblem(`k6 did not start the load:\n${said}`);
  if (code === codes.interrupted) return new EngineProblem("k6 was interrupted by somebody else: run it again.");
  return new EngineProblem(
    `k6 ended ${code === null ? "by a signal" : `with code ${code}`} before it was done:\n${said}`,
  );
}

/** What k6 says of each request without an answer: evidence tells that better. */
const requestFailed = "Request Failed";
