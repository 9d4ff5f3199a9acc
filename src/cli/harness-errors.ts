import { messageOf, traceOf } from "../base/errors.ts";
import { sanitizeLine } from "../base/sanitize.ts";
import { type Redact, redactorFor, type Secret } from "../evidence/redaction.ts";
import { exitCodes } from "./exit-codes.ts";
import { secretsOf } from "../app/judge/secrets.ts";
import type { Target } from "../target/target.ts";

/** Secrets of every target that the command has read: an error may quote any of them. */
let told: readonly Secret[] = [];

/** Remembers the secrets of a target, so that {@link failureText} holds none. Gives the target back. */
export function registerSecrets<T extends Target | null>(target: T): T {
  if (target !== null) told = [...told, ...secretsOf(target)];
  return target;
}

/** A key that no target was made of yet. */
export function registerKey(value: string): void {
  told = [...told, { name: "key", value }];
}

/**
 * Takes out of a text what the command was told in confidence so far. Also where it stands in words of the harness: to know all of those takes
 * every suite, and this stands in each command.
 */
export const redactSecrets: Redact = (text) => redactorFor(told).text(text);

const mostTraced = 20;

let hasTold = false;

/** Whether the harness failed while a command ran: that is its exit code, whatever else came of it. */
export const hasPrintedFailure = (): boolean => hasTold;

/** Prints that the harness itself failed: one sentence, and below it where that was, for whoever mends it. */
export function printHarnessError(error: unknown): void {
  hasTold = true;
  process.stderr.write(failureText(error));
}

const enders = new Set<(error: unknown) => void>();
let isCatching = false;

/** Ends a command that has something to keep where something fails that nothing waits for. What is returned takes that back. */
export function endOnFailure(end: (error: unknown) => void): () => void {
  enders.add(end);
  return () => void enders.delete(end);
}

/**
 * To be called before a command, which begins with no secrets. From then on, what fails while nothing waits for it is told, and ends the commands that have something to
 * keep, or the process.
 */
export function catchFailures(): void {
  hasTold = false;
  told = [];
  if (isCatching) return;
  isCatching = true;
  process.on("uncaughtException", (error) => {
    printHarnessError(error);
    if (enders.size === 0) process.exit(exitCodes.harnessFailed);
    for (const end of enders) end(error);
  });
}

function failureText(error: unknown): string {
  const name = error instanceof Error && error.name !== "Error" ? `${error.name}: ` : "";
  const what = sanitizeLine(redactSecrets(`${name}${messageOf(error)}`), 500).replace(/\.$/, "");
  const places = redactSecrets(traceOf(error))
    .split("\n")
    .filter((line) => /^\s+at /.test(line))
    .slice(0, mostTraced);
  return [
    `The harness itself failed, which is not the target's fault: ${what}. Please report it, with the lines below.`,
    ...places.map((line) => `    ${sanitizeLine(line.trim(), 300)}`),
    "",
  ].join("\n");
}
