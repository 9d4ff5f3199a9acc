import { createInterface } from "node:readline/promises";

import { sanitizeLine } from "../base/sanitize.ts";
import { joinWithOr } from "../base/text.ts";
import { type PublishedTier, publishedTierNames } from "../spec/tiers.ts";

/**
 * Asks on the terminal which tier a key has. Without a terminal, prints which flag or which line of the target file
 * sets the tier.
 *
 * @returns `null` if the user does not know the tier, or there is no terminal
 */
export async function askTier(
  keyName: string,
  isQuiet: boolean,
  signal: AbortSignal,
  onInterrupt: () => void,
): Promise<PublishedTier | null> {
  if (isQuiet) return null;
  const fact = `The rate-limit headers do not show the tier of the key \`${sanitizeLine(keyName, 80)}\``;
  if (!process.stdin.isTTY || !process.stderr.isTTY) {
    const advice = `give --tier, or \`tier\` of the key in a target file. Without it, limits are not judged`;
    process.stderr.write(`${fact}: ${advice}, and the run keeps to 10 requests a minute.\n\n`);
    return null;
  }
  const question = `${fact}. Which is it: ${joinWithOr(publishedTierNames)}? Press Enter if you do not know: `;
  const lines = createInterface({ input: process.stdin, output: process.stderr });
  lines.on("SIGINT", onInterrupt);
  try {
    const closed = new Promise<string>((resolve) => lines.once("close", () => resolve("")));
    const answer = await Promise.race([lines.question(question, { signal }), closed]);
    return publishedTierNames.find((tier) => tier === answer.trim().toLowerCase()) ?? null;
  } catch (error) {
    if (signal.aborted) return null;
    throw error;
  } finally {
    lines.close();
  }
}
