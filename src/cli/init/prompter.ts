import { createInterface } from "node:readline/promises";
import { type Readable, Writable } from "node:stream";

import { sanitizeLine } from "../../base/sanitize.ts";
import { UsageError } from "../../base/usage-error.ts";

/** The person has had enough. */
export class Interrupted extends Error {
  override readonly name = "Interrupted";
}

export interface Question<T> {
  readonly text: string;
  /** What an empty answer means; `null` where there has to be one. */
  readonly fallback: string | null;
  /** @throws {UsageError} where the answer cannot be; the question is asked again. */
  readonly read: (answer: string) => T;
  /** What is typed is not shown. */
  readonly isHidden?: boolean;
}

/** Asks a person, one question at a time. */
export interface Prompter {
  /** @throws {Interrupted} */
  readonly ask: <T>(question: Question<T>) => Promise<T>;
  readonly close: () => void;
}

export interface PrompterOptions {
  readonly input: Readable;
  readonly output: NodeJS.WritableStream & { readonly columns?: number };
  /** Whether both are a terminal. */
  readonly isTerminal: boolean;
  /** Ends the asking. */
  readonly signal: AbortSignal;
  /** Told of Ctrl-C, which reaches a process as a key while it reads a terminal. */
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
  // Nobody may be asking when it ends.
  over.promise.catch(() => {});
  lines.on("SIGINT", onInterrupt);
  lines.on("close", () => over.reject(new UsageError("The input ended before all was answered; nothing was written.")));
  const stop = (): void => over.reject(new Interrupted());
  if (signal.aborted) stop();
  signal.addEventListener("abort", stop, { once: true });

  const readLine = async (question: Question<unknown>): Promise<string> => {
    const hint =
      question.fallback === null || question.fallback === "" ? "" : ` [${sanitizeLine(question.fallback, 120)}]`;
    // The question itself is written at once, and shown in any case.
    const line = lines.question(`${question.text}${hint}: `);
    isHidden = question.isHidden === true;
    try {
      return (await Promise.race([line, over.promise])).trim();
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
          if (meant === null) throw new UsageError("An answer is needed.");
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
