import type { Exchange } from "../evidence/exchange.ts";
import { sampleOf } from "../rules/limits/sample.ts";
import type { Target } from "../target/target.ts";
import { executeStages } from "./execute.ts";
import type { Suite } from "./judge/check.ts";
import { type PlannedProbe, planProbes } from "./plan/plan.ts";
import { unlimitedBudget } from "./plan/request-budget.ts";
import type { ProbeRun } from "./probe-run.ts";
import { createContext } from "./run-context.ts";
import { brokenRun, judgeAndRecord, type RunResult, stoppedTooEarly, unjudgedRun } from "./run-result.ts";
import type { ClientContext } from "./send/client.ts";
import type { ClientSession } from "./send/client-session.ts";
import { describeStop, startStopSignal } from "./time/stop-signal.ts";

/** Options of a run against a client. */
export interface ClientRunOptions {
  /** Describes the client in the form of a target: its name, the address that it gets, and its key. */
  readonly target: Target;
  readonly suites: readonly Suite[];
  /**
   * Opens the session that runs the client's command. The session must call `record` with each exchange, and end the
   * command when `signal` aborts.
   */
  readonly open: (tools: {
    readonly record: (exchange: Exchange) => void;
    readonly signal: AbortSignal;
  }) => ClientSession;
  /** Stops the run early. The evidence so far is judged. */
  readonly signal: AbortSignal;
  readonly onPlan?: (probes: number) => void;
  readonly onProbe?: (run: ProbeRun) => void;
}

/**
 * Runs the command of a client, and judges the requests that the client sent. Whatever the client does, the promise
 * never rejects.
 */
export async function runClient(options: ClientRunOptions): Promise<RunResult> {
  const { signal, stop, release, end } = startStopSignal(options.signal, Infinity);
  const context = createContext({ target: options.target, signal, onHarnessLimit: stop });
  const done: ProbeRun[] = [];
  try {
    return await runClientProbes(options, context, (run) => {
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

/**
 * Effectively no deadline, because the session itself limits each run of the command. This is the longest delay of a
 * timer in Node.
 */
const probeDeadlineMs = 2 ** 31 - 1;

async function runClientProbes(
  options: ClientRunOptions,
  context: ClientContext,
  onProbe: (run: ProbeRun) => void,
): Promise<RunResult> {
  const { target, suites, open } = options;
  const planned = planProbes(suites, target);
  options.onPlan?.(planned.length);
  const { time, signal, outages, maxWaitMs, recorder } = context;
  const session = open({ record: (exchange) => recorder.record(exchange, sampleOf(exchange, 0, 0)), signal });
  // The session ends the command at once if the user interrupts. Its probe is then waited for, so that its evidence is kept.
  const afterProbe = new AbortController();
  const { runs, stopped } = await executeStages(planned, {
    time,
    signal: afterProbe.signal,
    outages,
    maxWaitMs,
    onProbe: (run) => {
      onProbe(run);
      if (signal.aborted) afterProbe.abort(signal.reason);
    },
    pendingRequests: Promise.resolve(),
    hasWebhookAgent: false,
    hasFewRequests: false,
    availableRequests: () => Infinity,
    probeDeadlineMs,
    budget: unlimitedBudget,
    perform: (each) => performProbe(each, session),
  });
  const hasRun = runs.some(({ result }) => result.kind !== "skipped");
  const why = stopped ?? (signal.aborted ? describeStop(signal) : null);
  if (why !== null && !hasRun) return unjudgedRun(options, context, stoppedTooEarly(why));
  return { kind: "judged", stopped: why, ...judgeAndRecord(options, context, { target, runs }) };
}

function performProbe({ probe }: PlannedProbe, session: ClientSession): Promise<unknown> {
  if (probe.observe === undefined) throw new Error(`the probe "${probe.name}" judges no client`);
  return probe.observe(session);
}
