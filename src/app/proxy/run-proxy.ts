import type { Worker } from "node:worker_threads";

import type { Network } from "../../base/network/network.ts";
import { startWorker } from "../../base/spawn-module.ts";
import type { ForwardedExchange } from "../../wire/forward/forwarded-exchange.ts";
import { belowBaseUrl } from "../../target/base-url.ts";
import { startForwarder } from "../../wire/forward/forwarder.ts";
import type { MessageFromJudge, JudgeWorkerData, MessageToJudge } from "./judge-worker.ts";
import type { ProxyReports } from "./traffic-judge.ts";

export interface ProxyOptions extends Omit<JudgeWorkerData, "startedUnixMs"> {
  readonly network: Network;
  readonly host: string;
  readonly port: number;
  readonly tls: { readonly cert: string; readonly key: string } | null;
  /** Called when a check finds its first breach in the traffic. `actual` describes the wrong behaviour. */
  readonly onBreach: (check: string, actual: string) => void;
}

export type JudgingProxy = Awaited<ReturnType<typeof startProxy>>;

/** Maximum number of exchanges that wait for the judging thread. Further exchanges are only counted. */
const maxWaitingExchanges = 6000;
const maxWaitingBytes = 64 * 1024 * 1024;
/**
 * Maximum time for which the proxy collects a group of exchanges. One message carries the whole group to the judging
 * thread, which saves time.
 */
const maxGroupDelayMs = 20;
const maxGroupSize = 64;

export async function startProxy(options: ProxyOptions) {
  const { baseUrl, network, host, port, tls } = options;
  const startedUnixMs = performance.timeOrigin + performance.now();
  const now = (): number => performance.timeOrigin + performance.now() - startedUnixMs;
  const judge = startJudgeThread({ ...options, startedUnixMs });
  const { origin, pathname } = new URL(baseUrl);
  const isBelow = belowBaseUrl(baseUrl);
  let count = 0;
  try {
    const forwarder = await startForwarder({
      upstream: origin,
      network,
      host,
      port,
      tls,
      now,
      onExchange: (exchange) => {
        count += 1;
        if (isBelow(exchange.url)) judge.add(exchange);
      },
    });
    return {
      baseUrl: forwarder.origin + pathname,
      count: (): number => count,
      /** Stops the proxy, and returns two reports: one on the server, and one on its clients. */
      finish: async (): Promise<ProxyReports> => {
        await forwarder.close();
        return judge.finish();
      },
    };
  } catch (error) {
    await judge.close();
    throw error;
  }
}

function startJudgeThread({ onBreach, ...options }: JudgeWorkerData & Pick<ProxyOptions, "onBreach">) {
  const worker = startJudgeWorker(options);
  const finished = Promise.withResolvers<ProxyReports>();
  let group: ForwardedExchange[] = [];
  let timer: NodeJS.Timeout | null = null;
  let [waiting, waitingBytes, skipped] = [0, 0, 0];
  const sizes: number[] = [];

  const post = (message: MessageToJudge): void => worker.postMessage(message);
  const flush = (): void => {
    if (timer !== null) clearTimeout(timer);
    timer = null;
    if (group.length > 0) post({ kind: "exchanges", exchanges: group });
    group = [];
  };
  worker.on("message", (message: MessageFromJudge) => {
    if (message.kind === "breach") onBreach(message.check, message.actual);
    else if (message.kind === "finished") finished.resolve(message.reports);
    else {
      waiting -= message.count;
      for (const size of sizes.splice(0, message.count)) waitingBytes -= size;
    }
  });
  worker.on("error", finished.reject);
  // Marks a rejection as handled. Otherwise, Node would end the process if the worker fails before `finish` is called.
  finished.promise.catch(() => {});
  return {
    add: (exchange: ForwardedExchange): void => {
      const size = approximateBytes(exchange);
      if (waiting >= maxWaitingExchanges || waitingBytes + size > maxWaitingBytes) return void (skipped += 1);
      waiting += 1;
      waitingBytes += size;
      sizes.push(size);
      group.push(exchange);
      if (group.length >= maxGroupSize) flush();
      else timer ??= setTimeout(flush, maxGroupDelayMs);
    },
    finish: async (): Promise<ProxyReports> => {
      flush();
      post({ kind: "finish", skipped });
      return finished.promise;
    },
    close: async (): Promise<void> => void (await worker.terminate()),
  };
}

const approximateBytes = ({ requestBody, responseBody }: ForwardedExchange): number =>
  1024 + requestBody.length + responseBody.length;

/**
 * Starts the judging thread. Passes only the listed options on, because a thread cannot receive the caller's other
 * options, such as functions.
 */
function startJudgeWorker(options: JudgeWorkerData): Worker {
  const { baseUrl, startedUnixMs, tiers, keepsBodies, requirements, tierName } = options;
  const workerData: JudgeWorkerData = { baseUrl, startedUnixMs, tiers, keepsBodies, requirements, tierName };
  return startWorker(import.meta.url, "judge-worker", { workerData });
}
