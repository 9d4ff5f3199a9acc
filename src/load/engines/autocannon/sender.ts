import { messageOf } from "../../../base/errors.ts";
import { type HarnessLimitCode, harnessLimitOf } from "../../../base/harness-limit.ts";
import { sendToParent } from "../../../base/spawn-module.ts";
import { type Network, proxyFor } from "../../../base/network/network.ts";
import type { Transport } from "../../../wire/transport.ts";
import type { LoadEvidence } from "../../../evidence/load-evidence.ts";
import { type CollectedSamples, createSampleCollector, type RequestCounts } from "../../second-counts.ts";
import { type Flow, type KeyRole, requestCount } from "../../scenarios.ts";
import { prepareRequest, type RequestTarget } from "./request.ts";
import { fitsAutocannon, testConnectionReuse, sendWithAutocannon } from "./with-autocannon.ts";
import { openLoadTransport, pause, sendWithUndici } from "./with-undici.ts";

/** A message to the sender process. It carries the API keys, because every user can read a process's arguments. */
export type ToSender = { readonly kind: "send"; readonly job: SendJob } | { readonly kind: "stop" };

export interface SendJob extends RequestTarget {
  /** The flows to send. Their times are already converted from the target's clock to this machine's. */
  readonly flows: readonly Flow[];
  readonly keys: Readonly<Record<KeyRole, string | null>>;
  readonly speed: number;
  readonly network: Network;
}

export type FromSender =
  | { readonly kind: "ready" }
  | { readonly kind: "progress"; readonly elapsedMs: number; readonly counts: RequestCounts }
  | { readonly kind: "done"; readonly result: SendResult }
  | { readonly kind: "failed"; readonly message: string; readonly limit: HarnessLimitCode | null };

export interface SendResult extends CollectedSamples {
  readonly startedAt: string;
  readonly durationMs: number;
  readonly generator: LoadEvidence["generator"];
  readonly byUndici: readonly string[];
}

/** All planned requests of a flow count as late if it starts more than this many ms after its planned start. */
const lateMs = 100;
const progressEveryMs = 250;

async function sendFlows(
  { flows, keys, speed, network, ...target }: SendJob,
  signal: AbortSignal,
  onProgress: (elapsedMs: number, counts: Readonly<RequestCounts>) => void,
): Promise<SendResult> {
  const collector = createSampleCollector();
  const limited = Promise.withResolvers<never>();
  const wire = openLoadTransport(network, limited.reject);
  const byAutocannon = await Promise.race([
    autocannonFlows(flows, { ...target, network, key: keys.main ?? "", wire }),
    limited.promise,
  ]);
  const recorder = { record: collector.sample, onHarnessLimit: limited.reject };
  const cpu = startCpuMeter();
  const startedAt = new Date().toISOString();
  const startedMs = performance.now();
  const elapsedMs = (): number => performance.now() - startedMs;
  const progress = setInterval(() => onProgress(elapsedMs(), collector.counts), progressEveryMs);
  let late = 0;
  const sendFlow = async (flow: Flow): Promise<void> => {
    await pause(flow.afterSeconds * 1000, signal);
    if (signal.aborted) return;
    if (elapsedMs() - flow.afterSeconds * 1000 > lateMs) late += requestCount(flow) ?? 1;
    const request = prepareRequest(flow.operation, keys[flow.key] ?? "", target);
    if (byAutocannon.has(flow)) await sendWithAutocannon(flow, request, network, signal, recorder);
    else await sendWithUndici(flow, request, { wire, signal, speed, collector });
  };
  try {
    await Promise.race([Promise.all(flows.map(sendFlow)), limited.promise]);
    const generator = { ...requestTotals(flows, collector.counts.sent), late, busiest: cpu.peak() };
    const byUndici = flows.filter((flow) => !byAutocannon.has(flow)).map(({ name }) => name);
    return { startedAt, durationMs: elapsedMs(), generator, byUndici, ...collector.collected() };
  } finally {
    clearInterval(progress);
    cpu.end();
    await wire.close();
  }
}

/**
 * Returns the flows that autocannon can send. Returns none if requests need a proxy, or if the server closes each
 * connection after its response.
 */
async function autocannonFlows(
  flows: readonly Flow[],
  {
    key,
    wire,
    network,
    ...target
  }: RequestTarget & Pick<SendJob, "network"> & { readonly key: string; readonly wire: Transport },
): Promise<ReadonlySet<Flow>> {
  const reuses = await testConnectionReuse(target, key, wire).catch(async (error: unknown) => {
    await wire.close();
    throw error;
  });
  return new Set(reuses && proxyFor(network, target.baseUrl) === null ? flows.filter(fitsAutocannon) : []);
}

/** Counts requests. `planned` equals `sent` if a flow has no fixed number, e.g. if it sends for 10 seconds. */
function requestTotals(flows: readonly Flow[], sent: number) {
  const counts = flows.map(requestCount);
  const planned = counts.includes(null) ? sent : counts.reduce<number>((sum, count) => sum + (count ?? 0), 0);
  return { planned, sent, dropped: 0 };
}

const cpuIntervalMs = 1000;
/** Minimum time between two CPU measurements, in ms. Over a shorter time, the CPU use is inaccurate. */
const minCpuIntervalMs = 200;

function startCpuMeter() {
  let peak = 0;
  let since = performance.now();
  let used = process.cpuUsage();
  const measure = (): void => {
    const elapsedMs = performance.now() - since;
    if (elapsedMs < minCpuIntervalMs) return;
    const { user, system } = process.cpuUsage(used);
    // Limits the result to one core: threads of the garbage collector can add to the measured CPU time.
    peak = Math.max(peak, Math.min(1, (user + system) / 1000 / elapsedMs));
    since = performance.now();
    used = process.cpuUsage();
  };
  const timer = setInterval(measure, cpuIntervalMs);
  return {
    peak: (): number => {
      measure();
      return peak;
    },
    end: (): void => clearInterval(timer),
  };
}

// This module runs in its own process, where other work of the harness cannot delay requests. So the CPU use of this
// process is the CPU use of the load.

const stopController = new AbortController();

const report = (message: FromSender): void => sendToParent(message);

process.on("disconnect", () => process.exit(0));
// Ctrl-C reaches all processes of a terminal, but only the parent process decides when to stop.
process.on("SIGINT", () => {});

process.on("message", (message: ToSender) => {
  if (message.kind === "stop") return stopController.abort();
  sendFlows(message.job, stopController.signal, (elapsedMs, counts) =>
    report({ kind: "progress", elapsedMs, counts: { ...counts } }),
  )
    .then((result) => report({ kind: "done", result }))
    .catch((error: unknown) =>
      report({ kind: "failed", message: messageOf(error), limit: harnessLimitOf(error)?.code ?? null }),
    );
});

report({ kind: "ready" });
