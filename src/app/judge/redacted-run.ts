import { messageOf, traceOf } from "../../base/errors.ts";
import type { Redact } from "../../evidence/redaction.ts";
import { assembleReport, type RunReportInput } from "../report/run-report.ts";
import type { Evidence } from "../../evidence/evidence.ts";
import type { Report } from "../../report/model/report.ts";
import type { Receiver, ReceiverRecord } from "../../receiver/receiver.ts";
import type { ProbeResult } from "../../evidence/evidence.ts";
import type { ProbeRunResult } from "../../run/execute.ts";
import { describeSkip, type Messages } from "../../run/skip-reason.ts";
import { runSuites, type RunOptions, type RunResult } from "../../run/run.ts";
import { redactorOf, secretsInResponses } from "./redactor.ts";
import { secretsOf } from "./target-secrets.ts";
import { describeRoles } from "../../target/target.ts";
import { packageVersion } from "../version.ts";

/** A run as it may leave the process: nothing in it is secret. */
export type RedactedRun =
  | (Kept & {
      readonly kind: "judged";
      /** How the run listened for deliveries; `null` where it did not. */
      readonly listened: ListeningState | null;
    })
  /** Its report says why, in the same sentence. */
  | (Kept & { readonly kind: "nothing to judge"; readonly sentence: string });

interface Kept {
  readonly report: Report;
  readonly evidence: Evidence;
  readonly interrupted: boolean;
}

/** How a run listened for deliveries. Nothing in it is the target's secret: what webhooks are signed with was made for one run. */
export interface ListeningState {
  readonly receiver: ReceiverRecord;
  /** The receiver itself, where it was to be left open. */
  readonly live: Receiver | null;
  /** Start of the run, in Unix milliseconds. */
  readonly epochMs: number;
  /** It listened until then, in milliseconds since the start of the run. */
  readonly untilMs: number;
}

export interface RedactedRunOptions extends RunOptions {
  /** The words of whoever asked for the run, in which its report and its evidence are written. */
  readonly messages: Messages;
}

/**
 * Runs the suites and takes every secret out of what comes of it: the one door between evidence and the outside.
 *
 * @param unselected must clauses that have checks, and that the selection left out
 */
export async function runAndRedact(
  options: RedactedRunOptions,
  unselected: readonly string[] = [],
): Promise<RedactedRun> {
  const { messages } = options;
  const redact = redactorOf(secretsOf(options.target)).text;
  const started = new Date();
  const result = await runSuites(withRedactedProgress(options, redact));
  const occasion = { version: packageVersion(), started, finished: new Date(), unselected, messages };
  try {
    return sessionOf(result, occasion, options);
  } catch (error) {
    return sessionOf(withoutEvidence(result, error), occasion, options);
  }
}

/** What is left of a run whose evidence could not be written: a row for each check, which says so. */
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
  occasion: Omit<RunReportInput, "roles">,
  { target, messages, signal }: RedactedRunOptions,
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
      result: saidResult(outcome, messages),
    })),
  };
  // In one pass, so that an exchange or a delivery that both hold stays one and the same.
  const { deep } = redactorOf([...secrets, ...secretsInResponses(result.exchanges)]);
  const kept = { interrupted, ...deep({ report, evidence }) };
  if (result.kind === "nothing to judge") return { kind: result.kind, sentence: kept.report.stopped ?? "", ...kept };
  const listened =
    result.receiver === null
      ? null
      : { receiver: result.receiver, live: result.listening, epochMs: result.epochMs, untilMs: result.durationMs };
  return { kind: "judged", listened, ...kept };
}

const saidResult = (result: ProbeRunResult, messages: Messages): ProbeResult =>
  result.kind === "skipped" ? { kind: "skipped", ...describeSkip(result, messages) } : result;

const withRedactedProgress = (options: RunOptions, redact: Redact): RunOptions => ({
  ...options,
  onWait: (ms, why) => options.onWait?.(ms, redact(why)),
});
