import { type UseCaseProblem, UseCaseError } from "../app/use-case-error.ts";
import { UsageError } from "../base/usage-error.ts";
import { line, type Line } from "../base/line.ts";

/** Formats an error as one line if the user can fix it. Returns `null` for any other error. */
export function formatUsageError(error: unknown): Line | null {
  if (error instanceof UsageError) return error.message;
  return error instanceof UseCaseError ? problemText(error.problem) : null;
}

function problemText(problem: UseCaseProblem): Line {
  switch (problem.kind) {
    case "run again":
      return line`${problem.check} rests on ${problem.what} \`conformance run --only ${problem.check}\` ${problem.does}.`;
    case "report on a client":
      return line`The requests of this report are those of a client, and only its command sends them. Run \`conformance client\` again.`;
    case "several instances":
      return line`${problem.check} has several instances: choose one with --instance. ${problem.names}.`;
    case "one key of several":
      return line`--api-key is for a report made with one key; this one was made with ${problem.names}. Give --target, or set ${problem.variables}.`;
    case "no key":
      return line`The requests were sent with the key ${JSON.stringify(problem.name)}, which no report contains: ${keySources(problem.variable)}.`;
    case "two addresses":
      return line`The report is of ${problem.ofReport}, the target file of ${problem.ofTarget}: choose one with --base-url.`;
    case "report of load":
      return line`${problem.folder} is the report of a load run: \`conformance load judge ${problem.folder}\` judges it again.`;
    case "nothing to watch":
      return line`Nothing is left to watch in ${problem.folder}: it has no ${problem.file}. \`conformance run --watch\` writes one.`;
    case "unreadable watch":
      return line`${problem.file} is not a valid watch state. Run with --watch again.`;
    case "unwritable watch":
      return line`${problem.folder} cannot be written (${problem.reason}), so nothing can be watched. Give another with --out.`;
    case "rewritten statement":
      return line`${problem.file} is not a conformance statement: it has a duplicate field, or an ambiguous one. Give it as --statement has written it.`;
  }
}

const keySources = (variable: string | null): string =>
  variable === null ? "give --target" : `set ${variable}, or give --target`;
