import type { RequirementSet } from "../../spec/requirements.ts";
import { messageOf, traceOf } from "../../base/errors.ts";
import type { Redact } from "../../evidence/redaction.ts";
import { assembleRunReport, type RunReportInput } from "../report/run-report.ts";
import type { Evidence } from "../../evidence/evidence.ts";
import { type Report, type StatedFacts, statedFactsOf } from "../../report/model/report.ts";
import type { Receiver, ReceiverRecord } from "../../receiver/receiver.ts";
import type { ProbeResult } from "../../evidence/evidence.ts";
import type { ProbeRunResult } from "../../run/probe-run.ts";
import { describeSkip, type Messages } from "../../run/skip-reason.ts";
import { runSuites, type RunOptions } from "../../run/run.ts";
import type { RunResult } from "../../run/run-result.ts";
import { redactorWithAlteredKeys, secretsInResponses } from "./redactor.ts";
import { secretsOf } from "./secrets.ts";
import { describeRoles } from "../../target/target.ts";
import { packageVersion } from "../../base/package-root.ts";

/** The result of a run after all secrets were redacted. Only this form may be written or shown. */
export type RedactedRun =
  | (RedactedDocument & {
      readonly kind: "judged";
      /** State of the run's webhook receiver when the run ended. `null` if the run had no receiver. */
      readonly listening: ListeningState | null;
    })
  /**
   * The run judged nothing, for example because the target did not answer. `sentence`, which is in the report as well,
   * says why.
   */
  | (RedactedDocument & { readonly kind: "nothing to judge"; readonly sentence: string });

interface RedactedDocument {
  readonly report: Report;
  readonly evidence: Evidence;
  readonly interrupted: boolean;
}

/** State of a webhook receiver after a run. It contains the signing secrets of the webhooks, which the harness generated for this run. */
export interface ListeningState {
  readonly receiver: ReceiverRecord;
  /** The receiver, if it still listens; `null` if it was closed. */
  readonly live: Receiver | null;
  /** When the run started, in Unix milliseconds. */
  readonly epochMs: number;
  /** When the run stopped listening, in milliseconds since its start. */
  readonly untilMs: number;
}

export interface RedactedRunOptions extends RunOptions, StatedFacts {
  /**
   * Turns data, such as skip reasons, into sentences for report and evidence. The command line names its flags in them,
   * and the library its options.
   */
  readonly messages: Messages;
  readonly requirements: RequirementSet;
}

/**
 * Runs the suites, and removes the target's keys and other secrets from report and evidence, so that both may be
 * written.
 *
 * @param unselected ids of must clauses whose checks the user left out
 */
export async function runAndRedact(
  options: RedactedRunOptions,
  unselected: readonly string[] = [],
): Promise<RedactedRun> {
  const { messages, requirements } = options;
  const redact = redactorWithAlteredKeys(secretsOf(options.target)).text;
  const started = new Date();
  const result = await runSuites({ ...withRedactedProgress(options, redact), started });
  const occasion = {
    version: packageVersion(),
    requirements,
    started,
    finished: new Date(),
    unselected,
    messages,
    ...statedFactsOf(options),
  };
  return redactRun(result, occasion, options);
}

/** Facts about a run that its report needs in addition to the run's result. */
export type RunReportFacts = Omit<RunReportInput, "roles">;

/** Assembles the report of a run, and removes every secret from the report and the evidence. */
export function redactRun(
  result: RunResult,
  occasion: RunReportFacts,
  options: Pick<RedactedRunOptions, "target" | "messages" | "signal">,
): RedactedRun {
  try {
    return redactResult(result, occasion, options);
  } catch (error) {
    return redactResult(failedResultOf(result, error), occasion, options);
  }
}

/**
 * Returns a result without evidence, in which each check has the outcome `error`. It replaces a result of which no
 * report could be made.
 */
function failedResultOf(result: RunResult, error: unknown): RunResult {
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

function redactResult(
  result: RunResult,
  occasion: RunReportFacts,
  { target, messages, signal }: Pick<RedactedRunOptions, "target" | "messages" | "signal">,
): RedactedRun {
  const secrets = secretsOf(target);
  const interrupted = signal.aborted;
  const report = assembleRunReport(result, { ...occasion, roles: describeRoles(result.target) });
  const evidence: Evidence = {
    exchanges: result.exchanges,
    deliveries: result.deliveries,
    probes: result.runs.map(({ planned, result: outcome }) => ({
      probe: planned.probe.name,
      instance: planned.tested?.tier ?? null,
      result: describeResult(outcome, messages),
    })),
  };
  // Report and evidence are redacted in one call, because they share objects: separate calls would copy each shared
  // object twice.
  const { deep } = redactorWithAlteredKeys([...secrets, ...secretsInResponses(result.exchanges)]);
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
