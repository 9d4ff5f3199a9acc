import type { RequirementSet } from "../../spec/requirements.ts";
import { messageOf, traceOf } from "../../base/errors.ts";
import type { Redact } from "../../evidence/redaction.ts";
import { assembleReport, type RunReportInput } from "../report/run-report.ts";
import type { Evidence } from "../../evidence/evidence.ts";
import type { Report } from "../../report/model/report.ts";
import type { Receiver, ReceiverRecord } from "../../receiver/receiver.ts";
import type { ProbeResult } from "../../evidence/evidence.ts";
import type { ProbeRunResult } from "../../run/probe-run.ts";
import { describeSkip, type Messages } from "../../run/skip-reason.ts";
import type { Selection } from "../../run/plan/selection.ts";
import { runSuites, type RunOptions } from "../../run/run.ts";
import type { RunResult } from "../../run/run-result.ts";
import { redactorOf, secretsInResponses } from "./redactor.ts";
import { secretsOf } from "./secrets.ts";
import { describeRoles } from "../../target/target.ts";
import { packageVersion } from "../version.ts";

/** The result of a run, with all secrets redacted. Only this result may be written or shown. */
export type RedactedRun =
  | (Kept & {
      readonly kind: "judged";
      /** The webhook receiver of the run; `null` if it had none. */
      readonly listening: ListeningState | null;
    })
  /** `sentence` says why nothing was judged. The report contains the same sentence. */
  | (Kept & { readonly kind: "nothing to judge"; readonly sentence: string });

interface Kept {
  readonly report: Report;
  readonly evidence: Evidence;
  readonly interrupted: boolean;
}

/** State of a webhook receiver after a run. It contains the signing secrets of the webhooks, which the harness generated for this run. */
export interface ListeningState {
  readonly receiver: ReceiverRecord;
  /** The receiver itself if it still listens; otherwise `null`. */
  readonly live: Receiver | null;
  /** Start of the run, in Unix milliseconds. */
  readonly epochMs: number;
  /** When the run stopped listening, in milliseconds since its start. */
  readonly untilMs: number;
}

export interface RedactedRunOptions extends RunOptions {
  /** Turns reasons into sentences for report and evidence, in the words of the command line or of the library. */
  readonly messages: Messages;
  readonly requirements: RequirementSet;
  /** The patterns that selected the suites, for the report. Absent if the run has every check. */
  readonly selection?: Selection;
}

/**
 * Runs the suites and removes every secret from the result. All evidence passes through here before it is written or shown.
 *
 * @param unselected must clauses whose checks were not selected
 */
export async function runAndRedact(
  options: RedactedRunOptions,
  unselected: readonly string[] = [],
): Promise<RedactedRun> {
  const { messages, requirements, selection } = options;
  const redact = redactorOf(secretsOf(options.target)).text;
  const started = new Date();
  const result = await runSuites(withRedactedProgress(options, redact));
  const occasion = {
    version: packageVersion(),
    requirements,
    started,
    finished: new Date(),
    unselected,
    messages,
    ...(selection && { selection }),
  };
  return redactRun(result, occasion, options);
}

/** The circumstances of a run, for its report. */
export type RunOccasion = Omit<RunReportInput, "roles">;

/** Makes the report and the evidence of a run, and removes every secret. */
export function redactRun(
  result: RunResult,
  occasion: RunOccasion,
  options: Pick<RedactedRunOptions, "target" | "messages" | "signal">,
): RedactedRun {
  try {
    return sessionOf(result, occasion, options);
  } catch (error) {
    return sessionOf(withoutEvidence(result, error), occasion, options);
  }
}

/** The result to report if the real result could not be turned into a report: no evidence, and an error for each check. */
function withoutEvidence(result: RunResult, error: unknown): RunResult {
  const reason = `the report could not be made: ${traceOf(error)}`;
  return {
    ...result,
    kind: "judged",
    stopped: `the harness itself failed: ${messageOf(error)}`,
    judgements: result.judgements.map((each) => ({ ...each, finding: { kind: "error", reason }, exchanges: [] })),
    runs: [],
    exchanges: [],
    deliveries: [],
  };
}

function sessionOf(
  result: RunResult,
  occasion: RunOccasion,
  { target, messages, signal }: Pick<RedactedRunOptions, "target" | "messages" | "signal">,
): RedactedRun {
  const secrets = secretsOf(target);
  const interrupted = signal.aborted;
  const report = assembleReport(result, { ...occasion, roles: describeRoles(result.target) });
  const evidence: Evidence = {
    exchanges: result.exchanges,
    deliveries: result.deliveries,
    probes: result.runs.map(({ planned, result: outcome }) => ({
      probe: planned.probe.name,
      instance: planned.tested?.tier ?? null,
      result: describeResult(outcome, messages),
    })),
  };
  // Report and evidence are redacted in one pass, so that shared objects are still shared afterwards.
  const { deep } = redactorOf([...secrets, ...secretsInResponses(result.exchanges)]);
  const kept = { interrupted, ...deep({ report, evidence }) };
  if (result.kind === "nothing to judge") return { kind: result.kind, sentence: kept.report.stopped ?? "", ...kept };
  const listening =
    result.receiver === null
      ? null
      : { receiver: result.receiver, live: result.listening, epochMs: result.epochMs, untilMs: result.durationMs };
  return { kind: "judged", listening, ...kept };
}

const describeResult = (result: ProbeRunResult, messages: Messages): ProbeResult =>
  result.kind === "skipped" ? { kind: "skipped", ...describeSkip(result, messages) } : result;

const withRedactedProgress = (options: RunOptions, redact: Redact): RunOptions => ({
  ...options,
  onWait: (ms, why) => options.onWait?.(ms, redact(why)),
});
