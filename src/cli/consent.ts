import { createInterface } from "node:readline/promises";

import { isLoopback } from "../target/base-url.ts";
import { UsageError } from "../base/usage-error.ts";

/** Whether somebody has to say yes before load is sent to this address. */
export const needsConsent = (baseUrl: string, isYes: boolean): boolean => !isYes && !isLoopback(baseUrl);

/**
 * Before anything is sent at all.
 *
 * @throws {UsageError} if consent is needed and nobody is there to give it
 */
export function assertConsentPossible(baseUrl: string, isYes: boolean): void {
  if (!needsConsent(baseUrl, isYes) || (process.stdin.isTTY && process.stderr.isTTY)) return;
  throw new UsageError(
    `${baseUrl} is not this machine, and there is no terminal to confirm on: give --yes if its owner agrees to the load. Nothing was sent.`,
  );
}

/** Asks on the terminal. Anything but `yes` is a no, and so is the end of the input. */
export async function askConsent(signal: AbortSignal, onInterrupt: () => void): Promise<boolean> {
  const lines = createInterface({ input: process.stdin, output: process.stderr });
  lines.on("SIGINT", onInterrupt);
  try {
    const closed = new Promise<string>((resolve) => lines.once("close", () => resolve("")));
    const asked = lines.question("Does the owner of this target agree to that? Type yes to send it: ", { signal });
    return (await Promise.race([asked, closed])).trim().toLowerCase() === "yes";
  } catch (error) {
    if (signal.aborted) return false;
    throw error;
  } finally {
    lines.close();
  }
}
