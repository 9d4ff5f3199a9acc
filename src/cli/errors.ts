import { messageOf, traceOf } from "../base/errors.ts";
import { line, type Line, UsageError } from "../base/line.ts";
import { type HarnessLimitError, harnessLimitOf } from "../base/harness-limit.ts";
import { sanitizeLine } from "../base/sanitize.ts";
import { type Redact, redactorFor, type Secret } from "../evidence/redaction.ts";
import { exitCodes } from "../base/process-end.ts";
import { secretsOf } from "../app/judge/secrets.ts";
import type { Target } from "../target/target.ts";
import { type UseCaseProblem, UseCaseError } from "../app/use-case-error.ts";

let secrets: readonly Secret[] = [];

export function registerSecrets<T extends Target | null>(target: T): T {
  if (target !== null) secrets = [...secrets, ...secretsOf(target)];
  return target;
}

export function registerKey(value: string): void {
  secrets = [...secrets, { name: "key", value }];
}

/** Replaces registered secrets in a text, plain or encoded, and any eight consecutive characters of a secret. */
export const redactSecrets: Redact = (text) => redactorFor(secrets).text(text);

const maxStackLines = 20;

let hasFailed = false;

export const hasPrintedFailure = (): boolean => hasFailed;

export function printHarnessError(error: unknown): void {
  hasFailed = true;
  const limit = harnessLimitOf(error);
  process.stderr.write(limit === null ? failureText(error) : `${limitText(limit)}\n`);
}

const endCallbacks = new Set<(error: unknown) => void>();
let isCatching = false;

export function onUncaughtError(end: (error: unknown) => void): () => void {
  endCallbacks.add(end);
  return () => void endCallbacks.delete(end);
}

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

const limitText = ({ message }: HarnessLimitError): string =>
  `No verdict, and not the target's fault: ${sanitizeLine(message, 500)}.`;

function failureText(error: unknown): string {
  const name = error instanceof Error && error.name !== "Error" ? `${error.name}: ` : "";
  const what = sanitizeLine(redactSecrets(`${name}${messageOf(error)}`), 500).replace(/\.$/, "");
  const places = redactSecrets(traceOf(error))
    .split("\n")
    .filter((text) => /^\s+at /.test(text))
    .slice(0, maxStackLines);
  return [
    `The harness itself failed, which is not the target's fault: ${what}. Please report it, with the lines below.`,
    ...places.map((place) => `    ${sanitizeLine(place.trim(), 300)}`),
    "",
  ].join("\n");
}

/** Returns the message of an error that the user can correct, as one line. Returns `null` for any other error. */
export function formatUsageError(error: unknown): Line | null {
  if (error instanceof UsageError) return error.message;
  return error instanceof UseCaseError ? problemText(error.problem) : null;
}

function problemText(problem: UseCaseProblem): Line {
  switch (problem.kind) {
    case "run again":
      return line`${problem.check} rests on ${problem.what} \`conformance run --only ${problem.check}\` ${problem.does}.`;
    case "report on a client":
      return line`The requests of this report are those of a client, and only its command sends them. Run \`conformance client\` again.`;
    case "several instances":
      return line`${problem.check} has several instances: choose one with --instance. ${problem.names}.`;
    case "one key of several":
      return line`--api-key is for a report made with one key; this one was made with ${problem.names}. Give --target, or set ${problem.variables}.`;
    case "no key":
      return line`The requests were sent with the key ${JSON.stringify(problem.name)}, which no report contains: ${keySources(problem.variable)}.`;
    case "two addresses":
      return line`The report is of ${problem.ofReport}, the target file of ${problem.ofTarget}: choose one with --base-url.`;
    case "report of load":
      return line`${problem.folder} is the report of a load run: \`conformance load judge ${problem.folder}\` judges it again.`;
    case "nothing to watch":
      return line`Nothing is left to watch in ${problem.folder}: it has no ${problem.file}. \`conformance run --watch\` writes one.`;
    case "unreadable watch":
      return line`${problem.file} is not a valid watch state. Run with --watch again.`;
    case "unwritable watch":
      return line`${problem.folder} cannot be written (${problem.reason}), so nothing can be watched. Give another with --out.`;
    case "rewritten statement":
      return line`${problem.file} is not a conformance statement: it has a duplicate field, or an ambiguous one. Give it as --statement has written it.`;
  }
}

const keySources = (variable: string | null): string =>
  variable === null ? "give --target" : `set ${variable}, or give --target`;
