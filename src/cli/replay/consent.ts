import type { ConfirmationReason } from "../../app/replay/confirmation.ts";
import type { PreparedReplay } from "../../app/replay/replay.ts";
import { sanitizeLine } from "../../base/sanitize.ts";
import { joinFirst } from "../../base/text.ts";
import { UsageError } from "../../base/usage-error.ts";
import type { Interruption } from "../interruption.ts";
import { askConsent } from "../consent.ts";

/**
 * Whether it may be sent, by a flag or by somebody at the terminal.
 *
 * @throws {UsageError} where somebody has to say yes and nobody is there
 */
export function isAgreed(
  { confirmation, baseUrl }: PreparedReplay,
  isYes: boolean,
  { signal, interrupt }: Interruption,
): Promise<boolean> {
  if (confirmation === null || isYes) return Promise.resolve(true);
  const why = reasonOf(confirmation);
  if (!process.stdin.isTTY || !process.stderr.isTTY)
    throw new UsageError(
      `${baseUrl} is not this machine, and ${why}: give --yes if its owner agrees to that. Nothing was sent.`,
    );
  process.stderr.write(`${baseUrl} is not this machine, and ${why}.\n`);
  return askConsent(signal, interrupt);
}

function reasonOf(concern: ConfirmationReason): string {
  if (concern.kind === "changes") {
    const requests = concern.requests.map((request) => sanitizeLine(request, 120));
    return `this sends ${joinFirst(requests, 3)}`;
  }
  return `the report alone says that ${joinFirst(concern.variables, 4)} goes there (or say so with --base-url)`;
}
