import { createInterface } from "node:readline/promises";

import { isLoopback } from "../target/base-url.ts";
import { line } from "../base/line.ts";
import { UsageError } from "../base/usage-error.ts";

/** Whether the user must consent to load on this base URL: it is not on loopback, and `--yes` is not given. */
export const needsConsent = (baseUrl: string, isYes: boolean): boolean => !isYes && !isLoopback(baseUrl);

/**
 * Checks that the user can be asked for consent. Runs before anything is sent.
 *
 * @throws {UsageError} if consent is needed and there is no terminal
 */
export function assertConsentPossible(baseUrl: string, isYes: boolean): void {
  if (!needsConsent(baseUrl, isYes) || (process.stdin.isTTY && process.stderr.isTTY)) return;
  throw new UsageError(
    line`${baseUrl} is not this machine, and there is no terminal to confirm on: give --yes if its owner agrees to the load. Nothing was sent.`,
  );
}

/**
 * Asks on the terminal whether load may be sent. Only `yes` means consent, and not any other text or the end of input.
 */
export async function askConsent(signal: AbortSignal, onInterrupt: () => void): Promise<boolean> {
  const lines = createInterface({ input: process.stdin, output: process.stderr });
  lines.on("SIGINT", onInterrupt);
  try {
    const closed = new Promise<string>((resolve) => lines.once("close", () => resolve("")));
    const response = lines.question("Does the owner of this target agree to that? Type yes to send it: ", { signal });
    return (await Promise.race([response, closed])).trim().toLowerCase() === "yes";
  } catch (error) {
    if (signal.aborted) return false;
    throw error;
  } finally {
    lines.close();
  }
}
