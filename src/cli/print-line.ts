import { withInvocation } from "./invocation.ts";
import { redactSecrets } from "./harness-errors.ts";
import { fromOutside, joinLines, type Line } from "../base/line.ts";

/** Prints a message for people to standard error, without secrets. Only a {@link Line} is accepted, in which nothing from outside can do harm. */
export const printLine = (text: Line): void => void process.stderr.write(`${withInvocation(redactSecrets(text))}\n`);

/** Prints several messages, each on a line of its own. */
export const printLines = (texts: readonly Line[]): void => {
  if (texts.length > 0) printLine(joinLines(texts, "\n"));
};

/** Prints a text of one or more lines in which anything may come from outside, such as the output of k6. */
export const printText = (text: string): void => printLines(text.split("\n").map(fromOutside));
