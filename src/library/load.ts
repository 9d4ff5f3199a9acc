import { parseRequirements } from "../app/requirements.ts";
import { type JudgeScope, libraryMessages } from "./scope.ts";
import { describeNotSent } from "../app/load/not-sent-reason.ts";
import { sendLoad, type NotSentLoad } from "../app/load/send-load.ts";
import type { LoadParameters } from "../app/load/plan-load.ts";
import type { TierName } from "../spec/tiers.ts";
import type { ReportDocument, Report, Verdict } from "../report/model/report.ts";
import { NothingToJudge } from "./judge.ts";
import { resolveTarget, type TargetDescription } from "./target.ts";
import { withoutUndefined } from "../base/json.ts";
import { line, UsageError } from "../base/line.ts";

/** Options that select the load to send. Every option has a default. */
export interface LoadChoice {
  /** Names of scenarios, as `conformance load list` shows them. Default: a few short scenarios. */
  readonly scenarios?: readonly string[] | "all";
  /** The engine that sends the requests. Default: for each scenario, the first of its engines that is installed. */
  readonly engine?: "k6" | "autocannon";
  /** The tier to load. Default: every tier for which the target has a key. */
  readonly tier?: TierName;
  /** Whether the target's owner agrees to the load. Required except on loopback. Default: `false`. */
  readonly isAgreed?: boolean;
}

export interface LoadOptions extends LoadChoice, Pick<JudgeScope, "requirements"> {
  /** Maximum total number of requests. Scenarios that need more than are left are skipped. Default: no limit. */
  readonly maxRequests?: number;
  /** Folder for `report.json` and the evidence of each trial. Default: nothing is written. */
  readonly folder?: string;
  /** When this signal aborts, the current trial ends, and no further trial starts. */
  readonly signal?: AbortSignal;
}

/** The result of a load, with keys redacted. */
export interface Loaded {
  readonly verdict: Verdict;
  readonly report: Report;
  /** The report with its evidence: the input of all renderers. */
  readonly document: ReportDocument;
}

/**
 * Sends load and judges the rate limits, as `conformance load` does.
 * @throws {UsageProblem} before any load is sent, if an option is invalid, or `isAgreed` is required and `false`
 * @throws {NothingToJudge} if the target could not be reached, is another API, or `signal` aborted before the load
 */
export async function load(target: TargetDescription, options: LoadOptions = {}): Promise<Loaded> {
  const { folder = null, isAgreed = false, maxRequests, requirements, signal, ...choice } = options;
  const sent = await sendLoad(
    {
      ...resolveTarget(target),
      ...toLoadParameters(choice),
      ...withoutUndefined({ maxRequests, signal }),
      requirements: parseRequirements(requirements, "requirements"),
      messages: libraryMessages,
      agree: () => isAgreed,
    },
    folder,
  );
  if (sent.kind === "not sent") throw toLibraryError(sent);
  return { verdict: sent.document.report.verdict, report: sent.document.report, document: sent.document };
}

export const toLoadParameters = ({ scenarios, engine, tier }: LoadChoice): Partial<LoadParameters> =>
  withoutUndefined({ scenarios, engine, tier });

function toLibraryError({ why, kept }: NotSentLoad): Error {
  if (why.kind === "nothing to load" || why.kind === "interrupted")
    return new NothingToJudge(describeNotSent(why), kept?.document ?? null);
  return new UsageError(line`No load was sent: ${describeNotSent(why)}`);
}
