import { setPriority } from "node:os";
import { setTimeout as sleep } from "node:timers/promises";
import { parentPort, workerData } from "node:worker_threads";

import type { Messages } from "../../run/skip-reason.ts";
import type { ForwardedExchange } from "../../wire/forward/forwarded-exchange.ts";
import { type ProxyReports, startTrafficJudge, type TrafficJudgeOptions } from "./traffic-judge.ts";

/** The options with which the proxy starts the judging thread. A thread can receive only values that can be cloned. */
export interface JudgeWorkerData extends Omit<TrafficJudgeOptions, "messages" | "onBreach"> {
  readonly tierName: string;
}

/**
 * A message from the proxy to the judging thread. `skipped`: number of exchanges that the proxy did not send to the
 * thread, because too many exchanges or bytes were waiting.
 */
export type MessageToJudge =
  | { readonly kind: "exchanges"; readonly exchanges: readonly ForwardedExchange[] }
  | { readonly kind: "finish"; readonly skipped: number };

/** A message from the judging thread to the proxy. `taken`: the thread has processed `count` waiting exchanges. */
export type MessageFromJudge =
  | { readonly kind: "taken"; readonly count: number }
  | { readonly kind: "breach"; readonly check: string; readonly actual: string }
  | { readonly kind: "finished"; readonly reports: ProxyReports };

/** Scheduling priority of this thread, from -20 (highest) to 19 (lowest): low, so that forwarding requests goes first. */
const judgingPriority = 10;
// Only Linux sets the priority of one thread. On other systems, the call would slow down the whole process.
if (process.platform === "linux") setPriority(judgingPriority);

const proxyPort = parentPort;
if (proxyPort === null) throw new Error("this thread is started by the proxy only");
const post = (message: MessageFromJudge): void => proxyPort.postMessage(message);

const { tierName, ...options } = workerData as JudgeWorkerData;

/** Texts for skipped checks. `needs` always names the tier option: no other proxy option can enable a skipped check. */
const messages: Messages = {
  reason: (reason) => (typeof reason === "string" ? reason : reason.why),
  needs: () => `\`${tierName}\``,
};

const trafficJudge = startTrafficJudge({
  ...options,
  messages,
  onBreach: (check, actual) => post({ kind: "breach", check, actual }),
});

const judgingIntervalMs = 5000;
const minPausedWorkMs = 20;
/** Ends the pauses of this thread when the proxy asks for the reports, so that the user waits less. */
const pauses = new AbortController();

let work = Promise.resolve();
proxyPort.on("message", (message: MessageToJudge) => {
  if (message.kind === "finish") pauses.abort();
  work = work.then(() => handleMessage(message));
});
/** Judges waiting exchanges every 5 s, because with little traffic a batch takes long to fill. */
const timer = setInterval(() => {
  work = work.then(trafficJudge.judge);
}, judgingIntervalMs);

/** Pause after work, as a multiple of the work's duration. A factor of 2 limits the thread to a third of a core. */
const pauseFactor = 2;

async function handleMessage(message: MessageToJudge): Promise<void> {
  if (message.kind === "exchanges") {
    const startedMs = performance.now();
    await trafficJudge.add(message.exchanges);
    const tookMs = performance.now() - startedMs;
    if (tookMs > minPausedWorkMs)
      await sleep(tookMs * pauseFactor, undefined, { signal: pauses.signal }).catch(() => {});
    return post({ kind: "taken", count: message.exchanges.length });
  }
  clearInterval(timer);
  post({ kind: "finished", reports: await trafficJudge.finish(message.skipped) });
  proxyPort?.close();
}
