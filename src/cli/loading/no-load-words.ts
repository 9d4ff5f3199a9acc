import { LoadProblem, type NoLoad, noLoadText } from "../../app/load/no-load.ts";
import { UsageProblem } from "../../target/problem.ts";

/** Why there is no load, with the flags that would mend it. */
export function noLoadWords(why: NoLoad): string {
  switch (why.kind) {
    case "unknown scenario":
      return why.near.length === 0 ? noLoadText(why) : `${noLoadText(why)} \`conformance load list\` shows all.`;
    case "no tier":
      return "The tier of no key is known, or its numbers are not: give --tier, or `tier` and `tiers` in a target file.";
    case "several runs":
      return `--emit k6-operator writes one run, and ${why.runs} are chosen: name one scenario, and its --tier.`;
    case "unsendable agent":
      return `${why.problem}: name another agent with --agent, or in the target file. Nothing was sent.`;
    case "no engine":
    case "no key of the tier":
    case "nothing to send":
    case "lacks what it needs":
    case "nothing to load":
    case "read only":
    case "interrupted":
    case "not agreed":
      return noLoadText(why);
  }
}

/** @throws {UsageProblem} in the words of a command line for a {@link LoadProblem} */
export async function inFlags<T>(act: () => Promise<T>): Promise<T> {
  try {
    return await act();
  } catch (error) {
    throw error instanceof LoadProblem ? new UsageProblem(noLoadWords(error.why)) : error;
  }
}
