import { messageOf, traceOf } from "../base/errors.ts";
import { type HarnessLimit, harnessLimitOf } from "../base/harness-limit.ts";
import { sanitizeLine } from "../base/sanitize.ts";
import { type Redact, redactorFor, type Secret } from "../evidence/redaction.ts";
import { exitCodes } from "./exit-codes.ts";
import { secretsOf } from "../app/judge/secrets.ts";
import type { Target } from "../target/target.ts";

/** Secrets that the command has read: an error message may contain them. */
let secrets: readonly Secret[] = [];

/** Registers the secrets of a target for redaction in error messages. Returns the target. */
export function registerSecrets<T extends Target | null>(target: T): T {
  if (target !== null) secrets = [...secrets, ...secretsOf(target)];
  return target;
}

/** Registers a key that does not belong to a target yet. */
export function registerKey(value: string): void {
  secrets = [...secrets, { name: "key", value }];
}

/**
 * Redacts the registered secrets in a text. A secret that is also a word of the harness's own messages is redacted
 * there, too. To tell the two apart, every suite would have to be loaded, which is too slow: every command loads this
 * module.
 */
export const redactSecrets: Redact = (text) => redactorFor(secrets).text(text);

const maxStackLines = 20;

let hasFailed = false;

/** Whether the harness itself failed during the command. If so, this decides the exit code, whatever the result is. */
export const hasPrintedFailure = (): boolean => hasFailed;

/** Prints that the harness itself failed: a sentence, and the stack for a bug report. */
export function printHarnessError(error: unknown): void {
  hasFailed = true;
  const limit = harnessLimitOf(error);
  process.stderr.write(limit === null ? failureText(error) : `${limitText(limit)}\n`);
}

const enders = new Set<(error: unknown) => void>();
let isCatching = false;

/** Registers a callback for uncaught errors, so that a command can save its results. Returns a function that removes the callback. */
export function endOnFailure(end: (error: unknown) => void): () => void {
  enders.add(end);
  return () => void enders.delete(end);
}

/**
 * Forgets the secrets of an earlier command, and handles uncaught errors. Prints such an error, and then ends the
 * commands that registered with {@link endOnFailure}, or, if there are none, the process.
 */
export function catchFailures(): void {
  hasFailed = false;
  secrets = [];
  if (isCatching) return;
  isCatching = true;
  process.on("uncaughtException", (error) => {
    printHarnessError(error);
    if (enders.size === 0) process.exit(exitCodes.harnessFailed);
    for (const end of enders) end(error);
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
