import type { Worker } from "node:worker_threads";

import type { Network } from "../../base/network/network.ts";
import { startWorker } from "../../base/spawn-module.ts";
import type { RequirementSet } from "../../spec/requirements.ts";
import type { ForwardedExchange } from "../../wire/forward/forwarded-exchange.ts";
import { startForwarder } from "../../wire/forward/forwarder.ts";
import type { FromJudge, JudgeWorkerData, ToJudge } from "./judge-worker.ts";
import type { ProxyReports } from "./traffic-judge.ts";

/** Options of a judging proxy. */
export interface ProxyOptions {
  /** Base URL of the upstream. Requests outside of it are passed on, too, and not judged. */
  readonly baseUrl: string;
  readonly network: Network;
  readonly host: string;
  readonly port: number;
  readonly tls: { readonly cert: string; readonly key: string } | null;
  readonly tiers: ReadonlyMap<string, string>;
  readonly keepsBodies: boolean;
  readonly requirements: RequirementSet;
  /** How messages name the setting of a tier. */
  readonly tierName: string;
  /** Called when a clause is broken for the first time. */
  readonly onBreach: (check: string, actual: string) => void;
}

/** A running proxy. */
export interface JudgingProxy {
  /** The base URL for clients. */
  readonly baseUrl: string;
  /** Number of exchanges so far. */
  readonly count: () => number;
  /** Ends the proxy, and returns the reports on the server and on its clients. */
  readonly finish: () => Promise<ProxyReports>;
}

/** Maximum number of exchanges, and of their bytes, that wait to be judged. Further exchanges are only counted. */
const maxWaiting = 6000;
const maxWaitingBytes = 64 * 1024 * 1024;
/** Exchanges are handed to the judging thread in groups: each message costs time. */
const groupMs = 20;
const groupSize = 64;

/**
 * Starts a proxy that judges the traffic. Another thread judges, so that no client waits for it.
 *
 * @throws {Error} Node's own, with its `code`, if it cannot listen
 */
export async function startProxy(options: ProxyOptions): Promise<JudgingProxy> {
  const { baseUrl, network, host, port, tls } = options;
  const startedUnixMs = performance.timeOrigin + performance.now();
  const now = (): number => performance.timeOrigin + performance.now() - startedUnixMs;
  const judge = openJudge({ ...options, startedUnixMs });
  const { origin, pathname } = new URL(baseUrl);
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
        if (isBelow(exchange.url, baseUrl)) judge.add(exchange);
      },
    });
    return {
      baseUrl: forwarder.origin + pathname,
      count: () => count,
      finish: async () => {
        await forwarder.close();
        return judge.finish();
      },
    };
  } catch (error) {
    await judge.close();
    throw error;
  }
}

const isBelow = (url: string, baseUrl: string): boolean =>
  url.startsWith(baseUrl) && ["/", "?", ""].includes(url.charAt(baseUrl.length));

/** The judging thread, and the exchanges that wait for it. */
function openJudge(options: ProxyOptions & { readonly startedUnixMs: number }) {
  const worker = workerFor(options);
  const finished = Promise.withResolvers<ProxyReports>();
  let group: ForwardedExchange[] = [];
  let timer: NodeJS.Timeout | null = null;
  let [waiting, waitingBytes, skipped] = [0, 0, 0];
  const sizes: number[] = [];

  const post = (message: ToJudge): void => worker.postMessage(message);
  const flush = (): void => {
    if (timer !== null) clearTimeout(timer);
    timer = null;
    if (group.length > 0) post({ kind: "exchanges", exchanges: group });
    group = [];
  };
  worker.on("message", (message: FromJudge) => {
    if (message.kind === "breach") options.onBreach(message.check, message.actual);
    else if (message.kind === "finished") finished.resolve(message.reports);
    else {
      waiting -= message.count;
      for (const size of sizes.splice(0, message.count)) waitingBytes -= size;
    }
  });
  worker.on("error", finished.reject);
  // The caller of `finish` gets the error.
  finished.promise.catch(() => {});
  return {
    add: (exchange: ForwardedExchange): void => {
      const size = sizeOf(exchange);
      if (waiting >= maxWaiting || waitingBytes + size > maxWaitingBytes) return void (skipped += 1);
      waiting += 1;
      waitingBytes += size;
      sizes.push(size);
      group.push(exchange);
      if (group.length >= groupSize) flush();
      else timer ??= setTimeout(flush, groupMs);
    },
    finish: async (): Promise<ProxyReports> => {
      flush();
      post({ kind: "finish", skipped });
      return finished.promise;
    },
    close: async (): Promise<void> => void (await worker.terminate()),
  };
}

const sizeOf = ({ requestBody, responseBody }: ForwardedExchange): number =>
  1024 + requestBody.length + responseBody.length;

function workerFor({
  baseUrl,
  startedUnixMs,
  tiers,
  keepsBodies,
  requirements,
  tierName,
}: ProxyOptions & { readonly startedUnixMs: number }): Worker {
  const workerData: JudgeWorkerData = {
    baseUrl,
    startedUnixMs,
    tiers: [...tiers],
    keepsBodies,
    requirements,
    tierName,
  };
  return startWorker(import.meta.url, "judge-worker", { workerData });
}
