import { withInvocation } from "./invocation.ts";
import { redactSecrets } from "./harness-errors.ts";
import { fromOutside, joinLines, type Line } from "../base/line.ts";

/**
 * Prints a message for people to standard error, without secrets. Accepts only a {@link Line}: control characters that
 * came from outside were removed from it.
 */
export const printLine = (text: Line): void => void process.stderr.write(`${withInvocation(redactSecrets(text))}\n`);

/** Prints several messages, each on a line of its own. */
export const printLines = (texts: readonly Line[]): void => {
  if (texts.length > 0) printLine(joinLines(texts, "\n"));
};

/** Prints lines of which any part may come from outside, such as the output of k6. Control characters are removed. */
export const printText = (text: string): void => printLines(text.split("\n").map(fromOutside));
