import { createInterface } from "node:readline/promises";
import { type Readable, Writable } from "node:stream";

import { sanitizeLine } from "../../base/sanitize.ts";
import { line } from "../../base/line.ts";
import { UsageError } from "../../base/usage-error.ts";

/** Thrown if the user ends the dialog with Ctrl-C, or closes the input. */
export class Interrupted extends Error {
  override readonly name = "Interrupted";
}

export interface Question<T> {
  readonly text: string;
  readonly fallback: string | null;
  /**
   * Parses the user's answer.
   *
   * @throws {UsageError} if the answer is invalid; then the question is asked again
   */
  readonly read: (answer: string) => T;
  readonly isHidden?: boolean;
}

export interface Prompter {
  readonly ask: <T>(question: Question<T>) => Promise<T>;
  readonly close: () => void;
}

export interface PrompterOptions {
  readonly input: Readable;
  readonly output: NodeJS.WritableStream & { readonly columns?: number };
  readonly isTerminal: boolean;
  readonly signal: AbortSignal;
  /** Called on Ctrl-C, which causes no signal while a question is open. */
  readonly onInterrupt: () => void;
}

export function openPrompter({ input, output, isTerminal, signal, onInterrupt }: PrompterOptions): Prompter {
  let isHidden = false;
  const echo = new Writable({
    write: (chunk: Buffer, _, done) => {
      if (!isHidden) output.write(chunk);
      done();
    },
  });
  const lines = createInterface({
    input,
    output: Object.assign(echo, { columns: output.columns ?? 80 }),
    terminal: isTerminal,
    historySize: 0,
  });
  const over = Promise.withResolvers<never>();
  // The input can end while no question waits for an answer. Without this handler, the rejection would be unhandled.
  over.promise.catch(() => {});
  lines.on("SIGINT", onInterrupt);
  lines.on("close", () =>
    over.reject(new UsageError(line`The input ended before all was answered; nothing was written.`)),
  );
  const stop = (): void => over.reject(new Interrupted());
  if (signal.aborted) stop();
  signal.addEventListener("abort", stop, { once: true });

  const readLine = async (question: Question<unknown>): Promise<string> => {
    const hint =
      question.fallback === null || question.fallback === "" ? "" : ` [${sanitizeLine(question.fallback, 120)}]`;
    // The question is printed before `isHidden` suppresses all further output.
    const answer = lines.question(`${question.text}${hint}: `);
    isHidden = question.isHidden === true;
    try {
      return (await Promise.race([answer, over.promise])).trim();
    } finally {
      if (isHidden) output.write("\n");
      isHidden = false;
    }
  };

  return {
    ask: async ({ ...question }) => {
      for (;;) {
        const answer = await readLine(question);
        const meant = answer === "" ? question.fallback : answer;
        try {
          if (meant === null) throw new UsageError(line`An answer is needed.`);
          return question.read(meant);
        } catch (error) {
          if (!(error instanceof UsageError)) throw error;
          output.write(`  ${error.message}\n`);
        }
      }
    },
    close: () => {
      signal.removeEventListener("abort", stop);
      lines.close();
    },
  };
}
