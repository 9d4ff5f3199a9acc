import type { ReplayLack } from "../../app/replay/problem.ts";

/** What is missing for a replay, in the words of the command line. */
export function lackText(lack: ReplayLack): string {
  switch (lack.kind) {
    case "run again":
      return `${lack.check} rests on ${lack.what} \`conformance run --only ${lack.check}\` ${lack.does}.`;
    case "several instances":
      return `${lack.check} has several instances: say with --instance which one. ${lack.names}.`;
    case "one key of several":
      return `--api-key is for a report made with one key; this one was made with ${lack.names}. Give --target, or set ${lack.variables}.`;
    case "no key":
      return `The requests were sent with the key ${JSON.stringify(lack.name)}, which no report holds: ${waysTo(lack.variable)}.`;
    case "two addresses":
      return `The report is of ${lack.ofReport}, the target file of ${lack.ofTarget}: say with --base-url which of them is to be asked.`;
  }
}

const waysTo = (variable: string | null): string =>
  variable === null ? "give --target" : `set ${variable}, or give --target`;
