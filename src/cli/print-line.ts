import { withInvocation } from "./invocation.ts";
import { redactSecrets } from "./harness-errors.ts";
import { fromOutside, joinLines, type Line } from "../base/line.ts";

/**
 * Prints a message to standard error, and redacts secrets. Accepts only a {@link Line}, from which control characters of outside texts were
 * removed.
 */
export const printLine = (text: Line): void => void process.stderr.write(`${withInvocation(redactSecrets(text))}\n`);

/** Prints several messages, each on a line of its own. */
export const printLines = (texts: readonly Line[]): void => {
  if (texts.length > 0) printLine(joinLines(texts, "\n"));
};

/** Prints lines that may come from another program, such as k6. Removes control characters. */
export const printText = (text: string): void => printLines(text.split("\n").map(fromOutside));
