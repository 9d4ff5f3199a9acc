import { type Flow, requestCount } from "../../scenarios.ts";
import { proxyFor } from "../../../base/network/network.ts";
import type { Transport } from "../../../wire/transport.ts";
import { prepareRequest, type RequestTarget } from "./request.ts";
import { createSampleCollector, type RequestCounts } from "./sample-collector.ts";
import { pause } from "./traffic-shapes.ts";
import type { SendJob, SendResult } from "./messages.ts";
import { keepsConnections, fitsAutocannon, sendWithAutocannon } from "./with-autocannon.ts";
import { openWire, sendWithUndici } from "./with-undici.ts";

/** A flow that starts later than this after its time was late. */
const lateMs = 100;
const progressEveryMs = 250;

/** Sends all flows of a job, each at its time; settles when the last one is over. */
export async function sendFlows(
  { flows, keys, speed, network, ...where }: SendJob,
  signal: AbortSignal,
  onProgress: (elapsedMs: number, tally: Readonly<RequestCounts>) => void,
): Promise<SendResult> {
  const records = createSampleCollector();
  const wire = openWire(network);
  const byAutocannon = await autocannonFlows(flows, { ...where, network, key: keys.main ?? "", wire });
  const busyness = watchBusyness();
  const startedAt = new Date().toISOString();
  const startedMs = performance.now();
  const elapsedMs = (): number => performance.now() - startedMs;
  const telling = setInterval(() => onProgress(elapsedMs(), records.tally), progressEveryMs);
  let late = 0;
  const sendFlow = async (flow: Flow): Promise<void> => {
    await pause(flow.afterSeconds * 1000, signal);
    if (signal.aborted) return;
    if (elapsedMs() - flow.afterSeconds * 1000 > lateMs) late += requestCount(flow) ?? 1;
    const call = prepareRequest(flow.operation, keys[flow.key] ?? "", where);
    if (byAutocannon.has(flow)) await sendWithAutocannon(flow, call, network, signal, records.sample);
    else await sendWithUndici(flow, call, { wire, signal, speed, records });
  };
  try {
    await Promise.all(flows.map(sendFlow));
    const collected = records.collected();
    const generator = { ...amountsOf(flows, records.tally.sent), late, busiest: busyness.busiest() };
    const byUndici = flows.filter((flow) => !byAutocannon.has(flow)).map(({ name }) => name);
    return { startedAt, durationMs: elapsedMs(), generator, byUndici, ...collected };
  } finally {
    clearInterval(telling);
    busyness.end();
    await wire.close();
  }
}

/**
 * The flows that autocannon sends: none through a proxy, to which it does not speak, and none where the server ends each connection after one
 * answer, as autocannon writes to it once more.
 */
async function autocannonFlows(
  flows: readonly Flow[],
  {
    key,
    wire,
    network,
    ...where
  }: RequestTarget & Pick<SendJob, "network"> & { readonly key: string; readonly wire: Transport },
): Promise<ReadonlySet<Flow>> {
  const keeps = await keepsConnections(where, key, wire).catch(async (error: unknown) => {
    await wire.close();
    throw error;
  });
  return new Set(keeps && proxyFor(network, where.baseUrl) === null ? flows.filter(fitsAutocannon) : []);
}

/**
 * Where answers decide how many requests there are, those that were sent were planned. Nothing is ever dropped here, as no request waits for its
 * time: one that was not sent was given up with a connection that kept failing.
 */
function amountsOf(flows: readonly Flow[], sent: number) {
  const counted = flows.map(requestCount);
  const planned = counted.includes(null) ? sent : counted.reduce<number>((sum, count) => sum + (count ?? 0), 0);
  return { planned, sent, dropped: 0 };
}

/** How busy this process is, in shares of one core. */
export interface Busyness {
  /** The most busy stretch so far, from 0 to 1. */
  readonly busiest: () => number;
  readonly end: () => void;
}

const stretchMs = 1000;
/** What is shorter says more of the clock than of the work. */
const shortestMs = 200;

/** Measures user and system time, a second at a time. */
function watchBusyness(): Busyness {
  let busiest = 0;
  let since = performance.now();
  let used = process.cpuUsage();
  const measure = (): void => {
    const elapsedMs = performance.now() - since;
    if (elapsedMs < shortestMs) return;
    const { user, system } = process.cpuUsage(used);
    // The garbage collector has threads of its own: more than one core is still just busy.
    busiest = Math.max(busiest, Math.min(1, (user + system) / 1000 / elapsedMs));
    since = performance.now();
    used = process.cpuUsage();
  };
  const timer = setInterval(measure, stretchMs);
  return {
    busiest: () => {
      measure();
      return busiest;
    },
    end: () => clearInterval(timer),
  };
}
