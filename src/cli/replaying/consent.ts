import { harmlessLine } from "../../base/harmless.ts";
import { firstOf } from "../../base/text.ts";
import { UsageProblem } from "../../target/problem.ts";
import type { Outgoing } from "../../wire/transport.ts";
import { askConsent, needsConsent } from "../loading/confirmation.ts";
import type { Interruption } from "../interruption.ts";

/** What is about to be sent, and who has said so. */
export interface Intent {
  readonly requests: readonly Outgoing[];
  readonly baseUrl: string;
  /** Whether a flag or a target file says the address, and not the report alone. */
  readonly isAddressGiven: boolean;
  /** Variables to whose names the report has led. */
  readonly variables: readonly string[];
  readonly isYes: boolean;
}

/**
 * Whether it may be sent. A target that is this machine gets everything at once, any other what reads only; a report that was made by
 * others must not lead variables of ours to an address of its own.
 *
 * @throws {UsageProblem} where somebody has to say yes and nobody is there
 */
export function isAgreed(intent: Intent, { signal, interrupt }: Interruption): Promise<boolean> {
  const why = reasonOf(intent);
  if (why === null || !needsConsent(intent.baseUrl, intent.isYes)) return Promise.resolve(true);
  if (!process.stdin.isTTY || !process.stderr.isTTY)
    throw new UsageProblem(
      `${intent.baseUrl} is not this machine, and ${why}: give --yes if its owner agrees to that. Nothing was sent.`,
    );
  process.stderr.write(`${intent.baseUrl} is not this machine, and ${why}.\n`);
  return askConsent(signal, interrupt);
}

function reasonOf({ requests, isAddressGiven, variables }: Intent): string | null {
  const changing = requests
    .filter(({ method }) => method !== "GET")
    .map(({ method, url }) => harmlessLine(`${method} ${pathOf(url)}`, 120));
  if (changing.length > 0) return `this sends ${firstOf([...new Set(changing)], 3)}`;
  if (variables.length === 0 || isAddressGiven) return null;
  return `the report alone says that ${firstOf(variables, 4)} goes there (or say so with --base-url)`;
}

const pathOf = (url: string): string => new URL(url).pathname;
