import { describeNotSent } from "../app/load/not-sent-reason.ts";
import { sendLoad, type NotSentLoad } from "../app/load/send-load.ts";
import type { LoadParameters } from "../app/load/load-parameters.ts";
import type { TierName } from "../spec/tiers.ts";
import type { ReportDocument, Report, Verdict } from "../report/model/report.ts";
import { NothingToJudge, UsageProblem } from "./errors.ts";
import { resolveTarget, type TargetDescription } from "./target.ts";
import { libraryMessages } from "./messages.ts";

/** What load is sent; everything has a default. */
export interface LoadChoice {
  /** Names of scenarios, as `conformance load list` shows them. Default: a short set. */
  readonly scenarios?: readonly string[] | "all";
  /** Default: each scenario's own first choice. */
  readonly engine?: "k6" | "autocannon";
  /** Default: every tier that there are keys of. */
  readonly tier?: TierName;
  /** The owner of a target that is not on loopback agrees to the load. Default `false`: then none is sent there. */
  readonly isAgreed?: boolean;
}

export interface LoadOptions extends LoadChoice {
  /** Requests that are sent at most; what does not fit is skipped. Default: no bound. */
  readonly maxRequests?: number;
  /** Folder for `report.json` and the evidence of each trial. Default: nothing is written. */
  readonly folder?: string;
  /** Stops the trial that runs, and starts no other. */
  readonly signal?: AbortSignal;
}

/** What load has shown of the limits. Keys are redacted in all of it. */
export interface Loaded {
  readonly verdict: Verdict;
  readonly report: Report;
  /** What every renderer takes. */
  readonly document: ReportDocument;
}

/**
 * Sends load and judges the limits by it, as `conformance load` does. The embedded server gets a process of its own.
 *
 * @throws {UsageProblem} where the target or the choice cannot be used, or nobody agreed; nothing was sent then.
 * @throws {NothingToJudge} where the target could not be reached, or is no deployment of this interface.
 */
export async function load(target: TargetDescription, options: LoadOptions = {}): Promise<Loaded> {
  const { folder = null, isAgreed = false, maxRequests, signal, ...choice } = options;
  const sent = await sendLoad(
    {
      ...resolveTarget(target),
      ...toLoadParameters(choice),
      ...(maxRequests !== undefined && { maxRequests }),
      ...(signal !== undefined && { signal }),
      messages: libraryMessages,
      agree: () => isAgreed,
    },
    folder,
  );
  if (sent.kind === "not sent") throw problemOf(sent);
  return { verdict: sent.document.report.verdict, report: sent.document.report, document: sent.document };
}

/** The choice in the words of the use case; what is left out is left to it. */
export const toLoadParameters = ({ scenarios, engine, tier }: LoadChoice): Partial<LoadParameters> => ({
  ...(scenarios !== undefined && { scenarios }),
  ...(engine !== undefined && { engine }),
  ...(tier !== undefined && { tier }),
});

function problemOf({ why, kept }: NotSentLoad): Error {
  if (why.kind === "nothing to load" || why.kind === "interrupted")
    return new NothingToJudge(describeNotSent(why), kept?.document ?? null);
  return new UsageProblem(`No load was sent: ${describeNotSent(why)}`);
}
