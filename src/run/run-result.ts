import type { HarnessLimitError } from "../base/harness-limit.ts";
import { messageOf, traceOf } from "../base/errors.ts";
import type { Delivery } from "../evidence/delivery.ts";
import type { Exchange } from "../evidence/exchange.ts";
import type { Receiver, ReceiverRecord } from "../receiver/receiver.ts";
import type { Target } from "../target/target.ts";
import type { Suite } from "./judge/check.ts";
import { type Judgement, judgeEvidence, resultsByProbe } from "./judge/judge-evidence.ts";
import { type PlannedProbe, planProbes, type ProbeRun } from "./plan/plan.ts";
import type { ClientContext } from "./send/send-request.ts";
import type { SkipCause } from "./skip-reason.ts";

interface RunRecord {
  readonly target: Target;
  readonly judgements: readonly Judgement[];
  readonly runs: readonly ProbeRun[];
  readonly exchanges: readonly Exchange[];
  readonly deliveries: readonly Delivery[];
  /** Saved state of the webhook receiver, with which another process can restart it at the same address. */
  readonly receiver: ReceiverRecord | null;
  /** The webhook receiver, if the option `keepsListening` left it open; otherwise `null`. */
  readonly listening: Receiver | null;
  /** Start of the run's clock, in Unix milliseconds. */
  readonly epochMs: number;
  readonly requests: number;
  readonly executions: number;
  /** Number of retries after a broken connection. The server may have received such a request twice. */
  readonly lost: number;
  /**
   * Description of outages for the report, e.g. "the target was away from 12.0 s to 15.0 s of the run". `null` without
   * outages.
   */
  readonly away: string | null;
  readonly waitedMs: number;
  readonly durationMs: number;
}

/**
 * The reason why nothing was judged. `unreachable`: the target does not respond, is another API, or refuses the key.
 * `stopped`: any other reason, e.g. an interrupt.
 */
export interface UnjudgedReason {
  readonly kind: "nothing to judge";
  readonly why: "unreachable" | "stopped";
  readonly sentence: SkipCause;
}

export type RunResult =
  | (RunRecord & { readonly kind: "judged"; readonly stopped: string | null })
  /** The record of a run that judged nothing: every check is skipped. */
  | (RunRecord & UnjudgedReason);

interface JudgedSelection {
  readonly target: Target;
  readonly suites: readonly Suite[];
}

/** Returns the result of a run in which the harness failed. Probes that had not ended count as broken. */
export function brokenRun(
  options: JudgedSelection,
  context: ClientContext,
  done: readonly ProbeRun[],
  error: unknown,
): RunResult {
  const { target } = options;
  const finishedProbe = ({ probe, tested }: PlannedProbe): ProbeRun | undefined =>
    done.find(({ planned }) => planned.probe === probe && planned.tested?.tier === tested?.tier);
  const result = { kind: "broken", error: traceOf(error) } as const;
  const runs = planProbes(options.suites, target, context).map(
    (planned): ProbeRun => finishedProbe(planned) ?? { planned, result },
  );
  const stopped = `the harness itself failed: ${messageOf(error)}`;
  return { kind: "judged", stopped, ...judgeRun(options, context, { target, runs }), ...noReceiver };
}

export function unjudgedRun(options: JudgedSelection, context: ClientContext, unjudged: UnjudgedReason): RunResult {
  const { target } = options;
  const result = { kind: "skipped", reason: "the run stopped before anything could be judged", needs: null } as const;
  const runs = planProbes(options.suites, target, context).map((planned) => ({ planned, result }));
  return { ...unjudged, ...judgeRun(options, context, { target, runs }), ...noReceiver };
}

type ReceiverPart = Pick<RunRecord, "deliveries" | "receiver" | "listening">;

/** The part of the webhook receiver in a run that opened none. */
export const noReceiver: ReceiverPart = { deliveries: [], receiver: null, listening: null };

/** Judges the evidence of a run. Returns the judgements with the record of the run, without the webhook receiver. */
export function judgeRun(
  { suites }: JudgedSelection,
  { recorder, time, outages }: ClientContext,
  { target, runs }: Pick<RunRecord, "target" | "runs">,
): Omit<RunRecord, keyof ReceiverPart> {
  return {
    target,
    judgements: judgeEvidence(suites, resultsByProbe(runs)),
    runs,
    exchanges: recorder.everyExchange(),
    epochMs: Date.now() - time.now(),
    requests: recorder.sent(),
    executions: recorder.executions(),
    lost: recorder.lost(),
    away: outages.describe(),
    waitedMs: time.waitedMs(),
    durationMs: time.now(),
  };
}

export const stoppedTooEarly = (sentence: SkipCause): UnjudgedReason => ({
  kind: "nothing to judge",
  why: "stopped",
  sentence,
});

/**
 * Turns breaches into errors: this machine lacked a resource, e.g. a free port, so the target may not be at fault.
 * Without a breach, turns the first judgement into an error, so that the report shows the problem.
 */
export function withoutBreaches(judgements: readonly Judgement[], limit: HarnessLimitError): Judgement[] {
  const failed = (judgement: Judgement): Judgement => ({
    ...judgement,
    finding: { kind: "error", reason: limit.message },
    evidenceIds: [],
  });
  const harmless = judgements.map((each) => (each.finding.kind === "breach" ? failed(each) : each));
  const [first, ...others] = harmless;
  const hasError = harmless.some(({ finding }) => finding.kind === "error" && finding.reason === limit.message);
  return first === undefined || hasError ? harmless : [failed(first), ...others];
}
