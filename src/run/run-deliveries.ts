import type { Header } from "../evidence/exchange.ts";
import { sampleOf } from "../rules/limits/sample.ts";
import type { Target } from "../target/target.ts";
import { executeStages } from "./execute.ts";
import type { Suite } from "./judge/check.ts";
import { type PlannedProbe, planProbes } from "./plan/plan.ts";
import { unlimitedBudget } from "./plan/request-budget.ts";
import type { ProbeRun } from "./probe-run.ts";
import { createContext } from "./run-context.ts";
import { brokenRun, judgeAndRecord, type RunResult, type UnjudgedReason, unjudgedRun } from "./run-result.ts";
import type { ClientContext } from "./send/client.ts";
import type { DeliverySender, OutgoingDelivery, SentDelivery } from "./send/delivery-sender.ts";
import { TargetUnavailable } from "./skip-reason.ts";
import { startStopSignal } from "./time/stop-signal.ts";

/** The settings that all deliveries to a receiver share. */
export interface DeliverySettings extends Pick<DeliverySender, "secrets" | "events" | "agent"> {
  /** Headers of every delivery, such as those that a webhook is configured with. */
  readonly headers: readonly Header[];
}

/** Options of a run against a webhook receiver. */
export interface DeliveryRunOptions extends DeliverySettings {
  readonly target: Target;
  readonly suites: readonly Suite[];
  /** Stops the run early. The evidence so far is judged. */
  readonly signal: AbortSignal;
  readonly onPlan?: (probes: number) => void;
  readonly onProbe?: (run: ProbeRun) => void;
}

/**
 * Maximum duration of a run. A receiver that never responds takes about half of it, because each delivery waits for a
 * timeout.
 */
const maxRunMs = 20 * 60_000;

/**
 * Sends the deliveries of all probes to a receiver, and judges its responses. Whatever the receiver does, the promise
 * never rejects.
 */
export async function runDeliveries(options: DeliveryRunOptions): Promise<RunResult> {
  const { signal, stop, release, end } = startStopSignal(options.signal, maxRunMs);
  const context = createContext({ target: options.target, signal, onHarnessLimit: stop });
  const done: ProbeRun[] = [];
  const close = (): void => void context.transport.close();
  signal.addEventListener("abort", close, { once: true });
  try {
    return await runDeliveryProbes(options, context, (run) => {
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

async function runDeliveryProbes(
  options: DeliveryRunOptions,
  context: ClientContext,
  onProbe: (run: ProbeRun) => void,
): Promise<RunResult> {
  const { target, suites } = options;
  const planned = planProbes(suites, target);
  options.onPlan?.(planned.length);
  const sender = openSender(options, context);
  const { time, signal, outages, maxWaitMs, recorder } = context;
  const { runs, stopped } = await executeStages(planned, {
    time,
    signal,
    outages,
    maxWaitMs,
    onProbe,
    pendingRequests: Promise.resolve(),
    hasWebhookAgent: false,
    hasFewRequests: false,
    budget: unlimitedBudget,
    availableRequests: () => Infinity,
    perform: (each) => performProbe(each, sender),
  });
  const firstLoss = recorder.recorded()[0]?.answer;
  if (firstLoss?.kind === "unanswered" && !hasAnswered(context))
    return unjudgedRun(options, context, unreachableReceiver(stopped ?? describeSilence(target, firstLoss.detail)));
  return { kind: "judged", stopped, ...judgeAndRecord(options, context, { target, runs }) };
}

/** Whether some delivery got a response so far. */
const hasAnswered = ({ recorder }: ClientContext): boolean =>
  recorder.recorded().some(({ answer }) => answer.kind === "answered");

const describeSilence = ({ baseUrl }: Target, detail: string): string =>
  `The receiver at ${baseUrl} does not respond: ${detail}`;

const unreachableReceiver = (sentence: string): UnjudgedReason => ({
  kind: "nothing to judge",
  why: "unreachable",
  sentence,
});

function performProbe({ probe }: PlannedProbe, sender: DeliverySender): Promise<unknown> {
  if (probe.deliver === undefined) throw new Error(`the probe "${probe.name}" judges no receiver`);
  return probe.deliver(sender);
}

/**
 * Opens a sender of deliveries that records every exchange. It stops the run if the receiver cannot be reached. It also
 * stops the run if a delivery times out before the receiver has ever responded, because each such delivery costs a
 * timeout.
 */
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
    recorder.record(exchange, sampleOf(exchange, time.maxClockOffsetMs(), time.maxClockOffsetMs()));
    const { answer } = exchange;
    if (answer.kind === "unanswered" && (answer.reason === "unreachable" || isSilentFromStart(answer)))
      throw new TargetUnavailable(describeSilence(target, answer.detail));
    return { what, exchange };
  };
  return { secrets, events, agent, deliver };
}

/**
 * Returns all headers of a delivery. `headers` are those of the delivery itself, then those that the webhook is
 * configured with.
 */
export const deliveryHeaders = (body: string, headers: readonly Header[]): Header[] => [
  ["Content-Type", "application/json"],
  ["Content-Length", String(Buffer.byteLength(body, "utf8"))],
  ...headers,
];
