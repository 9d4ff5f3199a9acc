import { UnsendableLoadError, type NotSentReason, describeNotSent } from "../../app/load/not-sent-reason.ts";
import { UsageError } from "../../base/usage-error.ts";

/** Why there is no load, with the flags that would mend it. */
export function formatNotSent(why: NotSentReason): string {
  switch (why.kind) {
    case "unknown scenario":
      return why.near.length === 0
        ? describeNotSent(why)
        : `${describeNotSent(why)} \`conformance load list\` shows all.`;
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
      return describeNotSent(why);
  }
}

/** @throws {UsageError} in the words of a command line for a {@link UnsendableLoadError} */
export async function withCliMessages<T>(act: () => Promise<T>): Promise<T> {
  try {
    return await act();
  } catch (error) {
    throw error instanceof UnsendableLoadError ? new UsageError(formatNotSent(error.why)) : error;
  }
}
