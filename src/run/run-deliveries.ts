import type { Header } from "../evidence/exchange.ts";
import { sampleOf } from "../rules/limits/sample.ts";
import type { Target } from "../target/target.ts";
import { executeStages } from "./execute.ts";
import type { PlannedProbe, ProbeRun } from "./plan/plan.ts";
import { type PartyRunOptions, partyStageContext, runParty } from "./run-party.ts";
import { judgeAndRecord, type RunResult, type UnjudgedReason, unjudgedRun } from "./run-result.ts";
import type { ClientContext } from "./send/send-request.ts";
import type { DeliverySender, OutgoingDelivery, SentDelivery } from "./party-session.ts";
import { TargetUnavailable } from "./skip-reason.ts";

export interface DeliverySettings extends Pick<DeliverySender, "secrets" | "events" | "agent"> {
  readonly headers: readonly Header[];
}

export interface DeliveryRunOptions extends DeliverySettings, PartyRunOptions {}

/** Maximum duration of a run. If the receiver never responds, the timeouts take about half this time. */
const maxRunMs = 20 * 60_000;

/** Sends the deliveries of all probes to a receiver, and judges its responses. The promise never rejects. */
export const runDeliveries = (options: DeliveryRunOptions): Promise<RunResult> =>
  runParty(options, maxRunMs, (...run) => runDeliveryProbes(options, ...run));

async function runDeliveryProbes(
  options: DeliveryRunOptions,
  planned: readonly PlannedProbe[],
  context: ClientContext,
  onProbe: (run: ProbeRun) => void,
): Promise<RunResult> {
  const { target } = options;
  const { signal, recorder, transport } = context;
  signal.addEventListener("abort", () => void transport.close(), { once: true });
  const sender = openSender(options, context);
  const { runs, stopped } = await executeStages(planned, {
    ...partyStageContext(context),
    onProbe,
    perform: (each) => performProbe(each, sender),
  });
  const firstLoss = recorder.recorded()[0]?.answer;
  if (firstLoss?.kind === "unanswered" && !hasAnswered(context))
    return unjudgedRun(options, context, unreachableReceiver(stopped ?? describeSilence(target, firstLoss.detail)));
  return { kind: "judged", stopped, ...judgeAndRecord(options, context, { target, runs }) };
}

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

export const deliveryHeaders = (body: string, headers: readonly Header[]): Header[] => [
  ["Content-Type", "application/json"],
  ["Content-Length", String(Buffer.byteLength(body, "utf8"))],
  ...headers,
];
