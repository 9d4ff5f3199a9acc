import type { Target } from "../target/target.ts";
import { type StageContext, unlimitedBudget } from "./run-probe.ts";
import type { Suite } from "./judge/check.ts";
import { type PlannedProbe, planProbes, type ProbeRun } from "./plan/plan.ts";
import { createContext } from "./run-context.ts";
import { brokenRun, judgeRun, noReceiver, type RunResult, stoppedTooEarly, unjudgedRun } from "./run-result.ts";
import type { ClientContext } from "./send/send-request.ts";
import { describeStop, startStopSignal } from "./time/stop-signal.ts";
import type { Exchange, Header } from "../evidence/exchange.ts";
import { sampleOf } from "../rules/limits/sample.ts";
import { executeStages } from "./execute.ts";
import type { ClientSession, DeliverySender, OutgoingDelivery, SentDelivery } from "./party-session.ts";
import { TargetUnavailable } from "./skip-reason.ts";

interface PartyRunOptions {
  /** The client or the receiver under test, described as a `Target`. */
  readonly target: Target;
  readonly suites: readonly Suite[];
  readonly signal: AbortSignal;
  readonly onPlan?: (probes: number) => void;
  readonly onProbe?: (run: ProbeRun) => void;
}

/**
 * Plans the probes for a client or a receiver under test, and passes them to `runProbes`, which must call `onProbe`
 * after each probe.
 */
async function runParty(
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

const partyStageContext = ({
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

interface ClientRunOptions extends PartyRunOptions {
  /** Opens a session that runs the client's command, records its exchanges, and ends the command on `signal`. */
  readonly open: (tools: {
    readonly record: (exchange: Exchange) => void;
    readonly signal: AbortSignal;
  }) => ClientSession;
}

/**
 * The longest delay of a Node timer, 24 days: in effect, a probe of a client has no deadline. Instead, each run of the
 * client's command has a deadline.
 */
const probeDeadlineMs = 2 ** 31 - 1;

/** Runs the command of a client under test, and judges the requests that the client sent. The promise never rejects. */
export const runClient = (options: ClientRunOptions): Promise<RunResult> =>
  runParty(options, Infinity, async (planned, context, onProbe) => {
    const { target, open } = options;
    const { signal, recorder } = context;
    const session = open({ record: (exchange) => recorder.record(exchange, sampleOf(exchange, 0)), signal });
    // Aborts after the current probe, which must still return its evidence. `signal` ends the client's command at once.
    const afterProbe = new AbortController();
    const { runs, stopped } = await executeStages(planned, {
      ...partyStageContext(context),
      signal: afterProbe.signal,
      onProbe: (run) => {
        onProbe(run);
        if (signal.aborted) afterProbe.abort(signal.reason);
      },
      probeDeadlineMs,
      perform: (each) => observeProbe(each, session),
    });
    const hasRun = runs.some(({ result }) => result.kind !== "skipped");
    const why = stopped ?? (signal.aborted ? describeStop(signal) : null);
    if (why !== null && !hasRun) return unjudgedRun(options, context, stoppedTooEarly(why));
    return { kind: "judged", stopped: why, ...judgeRun(options, context, { target, runs }), ...noReceiver };
  });

function observeProbe({ probe }: PlannedProbe, session: ClientSession): Promise<unknown> {
  if (probe.observe === undefined) throw new Error(`the probe "${probe.name}" judges no client`);
  return probe.observe(session);
}

export interface DeliverySettings extends Pick<DeliverySender, "secrets" | "events" | "agent"> {
  readonly headers: readonly Header[];
}

interface DeliveryRunOptions extends DeliverySettings, PartyRunOptions {}

/**
 * Maximum duration of the test of a receiver: about twice as long as all timeouts together, if the receiver responds
 * only to the first delivery.
 */
const maxRunMs = 20 * 60_000;

/** Sends the deliveries of all probes to a receiver under test, and judges its responses. The promise never rejects. */
export const runDeliveries = (options: DeliveryRunOptions): Promise<RunResult> =>
  runParty(options, maxRunMs, async (planned, context, onProbe) => {
    const { target } = options;
    const { signal, recorder, transport } = context;
    signal.addEventListener("abort", () => void transport.close(), { once: true });
    const sender = openSender(options, context);
    const { runs, stopped } = await executeStages(planned, {
      ...partyStageContext(context),
      onProbe,
      perform: (each) => deliverProbe(each, sender),
    });
    const firstLoss = recorder.everyExchange()[0]?.answer;
    if (firstLoss?.kind === "unanswered" && !hasAnswered(context))
      return unjudgedRun(options, context, {
        kind: "nothing to judge",
        why: "unreachable",
        sentence: stopped ?? describeSilence(target, firstLoss.detail),
      });
    return { kind: "judged", stopped, ...judgeRun(options, context, { target, runs }), ...noReceiver };
  });

const hasAnswered = ({ recorder }: ClientContext): boolean =>
  recorder.everyExchange().some(({ answer }) => answer.kind === "answered");

const describeSilence = ({ baseUrl }: Target, detail: string): string =>
  `The receiver at ${baseUrl} does not respond: ${detail}`;

function deliverProbe({ probe }: PlannedProbe, sender: DeliverySender): Promise<unknown> {
  if (probe.deliver === undefined) throw new Error(`the probe "${probe.name}" judges no receiver`);
  return probe.deliver(sender);
}

function openSender(
  { target, secrets, events, agent, headers: common }: DeliveryRunOptions,
  context: ClientContext,
): DeliverySender {
  const { transport, recorder, time } = context;
  const isSilentFromStart = ({ reason }: { readonly reason: string }): boolean =>
    reason === "silent" && !hasAnswered(context);
  const deliver = async ({ what, body, headers, pace }: OutgoingDelivery): Promise<SentDelivery> => {
    const pending = transport.open({
      method: "POST",
      url: target.baseUrl,
      headers: deliveryHeaders(body, [...headers, ...common]),
      body,
      key: null,
      ...(pace && { pace }),
    });
    const exchange = { ...(await pending.finished), since: "1.2" };
    recorder.record(exchange, sampleOf(exchange, time.maxClockOffsetMs()));
    const { answer } = exchange;
    if (answer.kind === "unanswered" && (answer.reason === "unreachable" || isSilentFromStart(answer)))
      throw new TargetUnavailable(describeSilence(target, answer.detail));
    return { what, exchange };
  };
  return { secrets, events, agent, deliver };
}

export const deliveryHeaders = (body: string, headers: readonly Header[]): Header[] => [
  ["Content-Type", "application/json"],
  ["Content-Length", String(Buffer.byteLength(body, "utf8"))],
  ...headers,
];
