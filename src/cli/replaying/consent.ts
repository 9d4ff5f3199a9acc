import type { Concern } from "../../app/replay/concern.ts";
import type { PreparedReplay } from "../../app/replay/replay.ts";
import { harmlessLine } from "../../base/harmless.ts";
import { firstOf } from "../../base/text.ts";
import { UsageProblem } from "../../target/problem.ts";
import type { Interruption } from "../interruption.ts";
import { askConsent } from "../loading/confirmation.ts";

/**
 * Whether it may be sent, by a flag or by somebody at the terminal.
 *
 * @throws {UsageProblem} where somebody has to say yes and nobody is there
 */
export function isAgreed(
  { concern, baseUrl }: PreparedReplay,
  isYes: boolean,
  { signal, interrupt }: Interruption,
): Promise<boolean> {
  if (concern === null || isYes) return Promise.resolve(true);
  const why = reasonOf(concern);
  if (!process.stdin.isTTY || !process.stderr.isTTY)
    throw new UsageProblem(
      `${baseUrl} is not this machine, and ${why}: give --yes if its owner agrees to that. Nothing was sent.`,
    );
  process.stderr.write(`${baseUrl} is not this machine, and ${why}.\n`);
  return askConsent(signal, interrupt);
}

function reasonOf(concern: Concern): string {
  if (concern.kind === "changes") {
    const requests = concern.requests.map((request) => harmlessLine(request, 120));
    return `this sends ${firstOf(requests, 3)}`;
  }
  return `the report alone says that ${firstOf(concern.variables, 4)} goes there (or say so with --base-url)`;
}
