import type { Target } from "../target/target.ts";
import type { StageContext } from "./run-probe.ts";
import type { Suite } from "./judge/check.ts";
import { type PlannedProbe, planProbes, type ProbeRun } from "./plan/plan.ts";
import { unlimitedBudget } from "./plan/request-budget.ts";
import { createContext } from "./run-context.ts";
import { brokenRun, type RunResult } from "./run-result.ts";
import type { ClientContext } from "./send/send-request.ts";
import { startStopSignal } from "./time/stop-signal.ts";

export interface PartyRunOptions {
  /** The client or receiver that the run tests. The type `Target` describes clients and receivers, too. */
  readonly target: Target;
  readonly suites: readonly Suite[];
  readonly signal: AbortSignal;
  readonly onPlan?: (probes: number) => void;
  readonly onProbe?: (run: ProbeRun) => void;
}

/**
 * Plans the probes of a client or a receiver, and passes them to `runProbes`. This callback must call `onProbe` after
 * each probe.
 */
export async function runParty(
  options: PartyRunOptions,
  maxMs: number,
  runProbes: (
    planned: readonly PlannedProbe[],
    context: ClientContext,
    onProbe: (run: ProbeRun) => void,
  ) => Promise<RunResult>,
): Promise<RunResult> {
  const { signal, stop, release, end } = startStopSignal(options.signal, maxMs);
  const context = createContext({ target: options.target, signal, onHarnessLimit: stop });
  const done: ProbeRun[] = [];
  try {
    const planned = planProbes(options.suites, options.target);
    options.onPlan?.(planned.length);
    return await runProbes(planned, context, (run) => {
      done.push(run);
      options.onProbe?.(run);
    });
  } catch (error) {
    return brokenRun(options, context, done, error);
  } finally {
    end();
    release();
    context.outages.close();
    await context.transport.close();
  }
}

export const partyStageContext = ({
  time,
  signal,
  outages,
  maxWaitMs,
}: ClientContext): Omit<StageContext, "onProbe" | "perform"> => ({
  time,
  signal,
  outages,
  maxWaitMs,
  pendingRequests: Promise.resolve(),
  hasWebhookAgent: false,
  hasFewRequests: false,
  availableRequests: () => Infinity,
  budget: unlimitedBudget,
});
