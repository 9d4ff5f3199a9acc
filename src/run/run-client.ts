import type { Exchange } from "../evidence/exchange.ts";
import { sampleOf } from "../rules/limits/sample.ts";
import { executeStages } from "./execute.ts";
import type { PlannedProbe, ProbeRun } from "./plan/plan.ts";
import { type PartyRunOptions, partyStageContext, runParty } from "./run-party.ts";
import { judgeAndRecord, type RunResult, stoppedTooEarly, unjudgedRun } from "./run-result.ts";
import type { ClientContext } from "./send/send-request.ts";
import type { ClientSession } from "./party-session.ts";
import { describeStop } from "./time/stop-signal.ts";

export interface ClientRunOptions extends PartyRunOptions {
  /** Starts the client's command. The returned session must record each exchange, and end the command on `signal`. */
  readonly open: (tools: {
    readonly record: (exchange: Exchange) => void;
    readonly signal: AbortSignal;
  }) => ClientSession;
}

/** Runs the command of a client, and judges the requests that the client sent. The promise never rejects. */
export const runClient = (options: ClientRunOptions): Promise<RunResult> =>
  runParty(options, Infinity, (...run) => runClientProbes(options, ...run));

/** Node's longest timer, so probes have no real deadline. Instead, each run of the client's command has a deadline. */
const probeDeadlineMs = 2 ** 31 - 1;

async function runClientProbes(
  options: ClientRunOptions,
  planned: readonly PlannedProbe[],
  context: ClientContext,
  onProbe: (run: ProbeRun) => void,
): Promise<RunResult> {
  const { target, open } = options;
  const { signal, recorder } = context;
  const session = open({ record: (exchange) => recorder.record(exchange, sampleOf(exchange, 0, 0)), signal });
  // An interrupt ends the command at once, but the current probe must still return its evidence.
  const afterProbe = new AbortController();
  const { runs, stopped } = await executeStages(planned, {
    ...partyStageContext(context),
    signal: afterProbe.signal,
    onProbe: (run) => {
      onProbe(run);
      if (signal.aborted) afterProbe.abort(signal.reason);
    },
    probeDeadlineMs,
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
