import { createInterface } from "node:readline/promises";

import { line, UsageError } from "../base/line.ts";
import { isLoopback } from "../base/network/network.ts";
import { sanitizeLine } from "../base/sanitize.ts";
import { joinWithOr } from "../base/text.ts";
import { type PublishedTier, publishedTierNames } from "../spec/tiers.ts";
import type { Interruption } from "./interruption.ts";

type Stop = Pick<Interruption, "signal" | "interrupt">;

export const canAsk = (): boolean => process.stdin.isTTY && process.stderr.isTTY;

async function ask(question: string, { signal, interrupt }: Stop): Promise<string> {
  const lines = createInterface({ input: process.stdin, output: process.stderr });
  lines.on("SIGINT", interrupt);
  try {
    const closed = new Promise<string>((resolve) => lines.once("close", () => resolve("")));
    return (await Promise.race([lines.question(question, { signal }), closed])).trim().toLowerCase();
  } catch (error) {
    if (signal.aborted) return "";
    throw error;
  } finally {
    lines.close();
  }
}

export const needsConsent = (baseUrl: string, isYes: boolean): boolean => !isYes && !isLoopback(baseUrl);

export function assertConsentPossible(baseUrl: string, isYes: boolean): void {
  if (!needsConsent(baseUrl, isYes) || canAsk()) return;
  throw new UsageError(
    line`${baseUrl} is not this machine, and there is no terminal to confirm on: give --yes if its owner agrees to the load. Nothing was sent.`,
  );
}

export const askConsent = async (stop: Stop): Promise<boolean> =>
  (await ask("Does the owner of this target agree to that? Type yes to send it: ", stop)) === "yes";

export async function askTier(keyName: string, isQuiet: boolean, stop: Stop): Promise<PublishedTier | null> {
  if (isQuiet) return null;
  const fact = `The rate-limit headers do not show the tier of the key \`${sanitizeLine(keyName, 80)}\``;
  if (!canAsk()) {
    const advice = `give --tier, or \`tier\` of the key in a target file. Without it, limits are not judged`;
    process.stderr.write(`${fact}: ${advice}, and the run keeps to 10 requests a minute.\n\n`);
    return null;
  }
  const question = `${fact}. Which is it: ${joinWithOr(publishedTierNames)}? Press Enter if you do not know: `;
  const answer = await ask(question, stop);
  return publishedTierNames.find((tier) => tier === answer) ?? null;
}
