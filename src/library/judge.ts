import type { Evidence } from "../evidence/evidence.ts";
import type { ReportDocument } from "../report/document.ts";
import type { Report, Verdict } from "../report/report.ts";
import { unselectedMusts } from "../run/selection.ts";
import { standardBudget } from "../app/session/budget.ts";
import { documentOf } from "../app/session/read-document.ts";
import { conduct } from "../app/session/session.ts";
import { suites } from "../suites/all.ts";
import { NothingToJudge, UsageProblem } from "./problems.ts";
import { type CheckSelection, selected } from "./selection.ts";
import { openTarget, type TargetDescription } from "./target.ts";

/** Which part of the suites runs, and within which bounds; everything has a default. */
export interface JudgeOptions extends CheckSelection {
  /** Requests that are sent at most. Default: 1000 where the target is not on loopback, else no bound. */
  readonly maxRequests?: number;
  /** Longest waiting for rate-limit windows to pass, all in all, in milliseconds. Default: two minutes. */
  readonly maxWaitMs?: number;
  /** Nothing but GET is sent; what needs more is skipped. Default `false`. */
  readonly readOnly?: boolean;
  /** Ends the run early; what was seen so far is judged, and the verdict is `incomplete` unless something was broken. */
  readonly signal?: AbortSignal;
}

/** What a run found. Keys and secrets are redacted in all of it. */
export interface Judged {
  readonly verdict: Verdict;
  readonly report: Report;
  /** What was sent and received; it keeps the secrets that the harness made up for webhooks, so that it can be judged again. */
  readonly evidence: Evidence;
  /** What every renderer takes: the same without those. */
  readonly document: ReportDocument;
}

const standardMaxWaitMs = 120_000;

/**
 * Runs the suites against a target, as `conformance run` does.
 *
 * @throws {UsageProblem} where the target or an option cannot be used; nothing was sent then.
 * @throws {NothingToJudge} where the target could not be reached, or is no deployment of this interface.
 */
export async function judge(target: TargetDescription, options: JudgeOptions = {}): Promise<Judged> {
  const { readOnly = false, signal = new AbortController().signal } = options;
  const chosen = selected(options);
  const maxWaitMs = atLeast(0, options.maxWaitMs ?? standardMaxWaitMs, "maxWaitMs");
  const maxRequests = options.maxRequests === undefined ? null : atLeast(1, options.maxRequests, "maxRequests");
  const opened = await openTarget(target);
  try {
    const session = await conduct(
      {
        target: opened.target,
        suites: chosen,
        maxRequests: maxRequests ?? standardBudget(opened.target),
        isReadOnly: readOnly,
        maxWaitMs,
        signal,
      },
      unselectedMusts(suites, chosen),
    );
    // The command says it of its flag.
    if (session.kind === "nothing to judge")
      throw new NothingToJudge(session.sentence.replace("--max-requests", "maxRequests"));
    const { report, evidence } = session;
    return { verdict: report.verdict, report, evidence, document: documentOf(report, evidence) };
  } finally {
    await opened.close();
  }
}

function atLeast(least: number, value: unknown, name: string): number {
  if (typeof value === "number" && value >= least) return value;
  throw new UsageProblem(`${name} is ${String(value)}; give a number of at least ${least}.`);
}
