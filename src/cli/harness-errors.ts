import { messageOf, traceOf } from "../base/errors.ts";
import { type HarnessLimit, harnessLimitOf } from "../base/harness-limit.ts";
import { sanitizeLine } from "../base/sanitize.ts";
import { type Redact, redactorFor, type Secret } from "../evidence/redaction.ts";
import { exitCodes } from "./exit-codes.ts";
import { secretsOf } from "../app/judge/secrets.ts";
import type { Target } from "../target/target.ts";

/** The keys and secrets that this command has read, to be redacted in its messages. */
let secrets: readonly Secret[] = [];

/** Registers the secrets of a target, so that error messages do not show them. Returns the target. */
export function registerSecrets<T extends Target | null>(target: T): T {
  if (target !== null) secrets = [...secrets, ...secretsOf(target)];
  return target;
}

/** Registers an API key that does not belong to a target yet, so that error messages do not show it. */
export function registerKey(value: string): void {
  secrets = [...secrets, { name: "key", value }];
}

/**
 * Redacts the registered secrets in a text, even where a word of the harness equals a secret. To spare such words, this
 * module would have to load every suite, which is slow.
 */
export const redactSecrets: Redact = (text) => redactorFor(secrets).text(text);

const maxStackLines = 20;

let hasFailed = false;

/** Whether the harness itself has failed during this command, which then affects the exit code. */
export const hasPrintedFailure = (): boolean => hasFailed;

/** Prints that the harness itself failed: one sentence, and the stack trace for a bug report. */
export function printHarnessError(error: unknown): void {
  hasFailed = true;
  const limit = harnessLimitOf(error);
  process.stderr.write(limit === null ? failureText(error) : `${limitText(limit)}\n`);
}

const endCallbacks = new Set<(error: unknown) => void>();
let isCatching = false;

/** Registers a callback for uncaught errors, so that a command can still save its results. Returns a function that removes the callback. */
export function endOnFailure(end: (error: unknown) => void): () => void {
  endCallbacks.add(end);
  return () => void endCallbacks.delete(end);
}

/**
 * Starts the handling of uncaught errors for a new command. An uncaught error is printed. Then it ends the actions that {@link
 * endOnFailure} registered, or the process if there are none.
 */
export function catchFailures(): void {
  hasFailed = false;
  secrets = [];
  if (isCatching) return;
  isCatching = true;
  process.on("uncaughtException", (error) => {
    printHarnessError(error);
    if (endCallbacks.size === 0) process.exit(exitCodes.harnessFailed);
    for (const end of endCallbacks) end(error);
  });
}

const limitText = ({ message }: HarnessLimit): string =>
  `No verdict, and not the target's fault: ${sanitizeLine(message, 500)}.`;

function failureText(error: unknown): string {
  const name = error instanceof Error && error.name !== "Error" ? `${error.name}: ` : "";
  const what = sanitizeLine(redactSecrets(`${name}${messageOf(error)}`), 500).replace(/\.$/, "");
  const places = redactSecrets(traceOf(error))
    .split("\n")
    .filter((line) => /^\s+at /.test(line))
    .slice(0, maxStackLines);
  return [
    `The harness itself failed, which is not the target's fault: ${what}. Please report it, with the lines below.`,
    ...places.map((line) => `    ${sanitizeLine(line.trim(), 300)}`),
    "",
  ].join("\n");
}
