import type { RequirementSet } from "../../spec/clause.ts";
import { messageOf, traceOf } from "../../base/errors.ts";
import { assembleRunReport, type RunReportFacts } from "../report/run-report.ts";
import type { Evidence } from "../../evidence/evidence.ts";
import { type Report, type StatedFacts, statedFactsOf } from "../../report/model/report.ts";
import type { Receiver, ReceiverRecord } from "../../receiver/receiver.ts";
import { describeSkip, type Messages } from "../../run/skip-reason.ts";
import { runSuites, type RunOptions } from "../../run/run.ts";
import type { RunResult } from "../../run/run-result.ts";
import { redactorWithAlteredKeys, secretsInResponses } from "./redactor.ts";
import { secretsOf } from "./secrets.ts";
import type { Target } from "../../target/target.ts";

/** A run's result, with keys and other secrets removed. Only secrets of webhooks that the harness created remain. */
export type RedactedRun =
  | (RedactedDocument & {
      readonly kind: "judged";
      readonly listening: ListeningState | null;
    })
  | (RedactedDocument & { readonly kind: "nothing to judge"; readonly sentence: string });

interface RedactedDocument {
  readonly report: Report;
  readonly evidence: Evidence;
  readonly interrupted: boolean;
}

export interface ListeningState {
  readonly receiver: ReceiverRecord;
  readonly live: Receiver | null;
  /** When the run started, in Unix milliseconds. */
  readonly epochMs: number;
  /** End of the run, in milliseconds since its start. Until then, the receiver listened for deliveries. */
  readonly untilMs: number;
}

export interface RunAndReportOptions extends RunOptions, StatedFacts {
  readonly messages: Messages;
  readonly requirements: RequirementSet;
}

export async function runAndReport(
  options: RunAndReportOptions,
  unselected: readonly string[] = [],
): Promise<RedactedRun> {
  const { messages, requirements, onWait } = options;
  const redact = redactorWithAlteredKeys(secretsOf(options.target)).text;
  const started = new Date();
  const result = await runSuites({ ...options, started, onWait: (ms, why) => onWait?.(ms, redact(why)) });
  return reportRun(result, { requirements, started, unselected, messages, ...statedFactsOf(options) }, options);
}

interface ReportContext {
  readonly target: Target;
  readonly signal?: AbortSignal;
}

export function reportRun(result: RunResult, facts: RunReportFacts, options: ReportContext): RedactedRun {
  try {
    return reportWithoutSecrets(result, facts, options);
  } catch (error) {
    return reportWithoutSecrets(failedResultOf(result, error), facts, options);
  }
}

function failedResultOf(result: RunResult, error: unknown): RunResult {
  const reason = `the report could not be made: ${traceOf(error)}`;
  return {
    ...result,
    kind: "judged",
    stopped: `the harness itself failed: ${messageOf(error)}`,
    judgements: result.judgements.map((each) => ({ ...each, finding: { kind: "error", reason }, evidenceIds: [] })),
    runs: [],
    exchanges: [],
    deliveries: [],
  };
}

function reportWithoutSecrets(
  result: RunResult,
  facts: RunReportFacts,
  { target, signal }: ReportContext,
): RedactedRun {
  const report = assembleRunReport(result, facts);
  const evidence: Evidence = {
    exchanges: result.exchanges,
    deliveries: result.deliveries,
    probes: result.runs.map(({ planned, result: outcome }) => ({
      probe: planned.probe.name,
      instance: planned.tested?.tier ?? null,
      result: outcome.kind === "skipped" ? { kind: "skipped", ...describeSkip(outcome, facts.messages) } : outcome,
    })),
  };
  // Redacts report and evidence in one call, because two calls would copy their shared objects twice.
  const { deep } = redactorWithAlteredKeys([...secretsOf(target), ...secretsInResponses(result.exchanges)]);
  const kept = { interrupted: signal?.aborted ?? false, ...deep({ report, evidence }) };
  if (result.kind === "nothing to judge") return { kind: result.kind, sentence: kept.report.stopped ?? "", ...kept };
  const listening =
    result.receiver === null
      ? null
      : { receiver: result.receiver, live: result.listening, epochMs: result.epochMs, untilMs: result.durationMs };
  return { kind: "judged", listening, ...kept };
}
