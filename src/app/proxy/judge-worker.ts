import { setPriority } from "node:os";
import { setTimeout as sleep } from "node:timers/promises";
import { parentPort, workerData } from "node:worker_threads";

import type { Messages } from "../../run/skip-reason.ts";
import { isRequirementSet, newestRequirements } from "../../spec/requirements.ts";
import type { ForwardedExchange } from "../../wire/forward/forwarded-exchange.ts";
import { type ProxyReports, startTrafficJudge } from "./traffic-judge.ts";

/** Settings of the thread: plain data. */
export interface JudgeWorkerData {
  readonly baseUrl: string;
  readonly startedUnixMs: number;
  readonly tiers: readonly (readonly [key: string, tier: string])[];
  readonly keepsBodies: boolean;
  readonly requirements: string;
  /** How messages name the setting of a tier, such as `--tier`. */
  readonly tierName: string;
}

/** A message to the thread. */
export type ToJudge =
  | { readonly kind: "exchanges"; readonly exchanges: readonly ForwardedExchange[] }
  | { readonly kind: "finish"; readonly skipped: number };

/** A message of the thread. `taken` acknowledges exchanges. */
export type FromJudge =
  | { readonly kind: "taken"; readonly count: number }
  | { readonly kind: "breach"; readonly check: string; readonly actual: string }
  | { readonly kind: "finished"; readonly reports: ProxyReports };

/** Of -20 (first) to 19 (last). */
const judgingPriority = 10;
// On Linux, this is the priority of the thread alone, so that the traffic comes before the judging on a busy machine. Elsewhere it would
// be that of the whole process.
if (process.platform === "linux") setPriority(judgingPriority);

const port = parentPort;
if (port === null) throw new Error("this thread is started by the proxy only");
const post = (message: FromJudge): void => port.postMessage(message);

const { baseUrl, startedUnixMs, tiers, keepsBodies, requirements, tierName } = workerData as JudgeWorkerData;

/** Only one setting can add to what a proxy shows, so the messages need no other names. */
const messages: Messages = {
  reason: (reason) => (typeof reason === "string" ? reason : reason.why),
  needs: () => `\`${tierName}\``,
};

const judge = startTrafficJudge({
  baseUrl,
  startedUnixMs,
  tiers: new Map(tiers),
  keepsBodies,
  requirements: isRequirementSet(requirements) ? requirements : newestRequirements,
  messages,
  onBreach: (check, actual) => post({ kind: "breach", check, actual }),
});

const judgingIntervalMs = 5000;
/** Shorter work needs no rest. */
const minRestedMs = 20;
/** Ends every rest, once the report is asked for. */
const rest = new AbortController();

let work = Promise.resolve();
port.on("message", (message: ToJudge) => {
  if (message.kind === "finish") rest.abort();
  work = work.then(() => handle(message));
});
/** Judges what has come, so that breaches show soon after they happened even if there is little traffic. */
const timer = setInterval(() => {
  work = work.then(judge.judge);
}, judgingIntervalMs);

/** Rest after each judgement, as a multiple of its time: judging must leave the processor to the traffic. */
const restShare = 2;

async function handle(message: ToJudge): Promise<void> {
  if (message.kind === "exchanges") {
    const startedMs = performance.now();
    await judge.add(message.exchanges);
    const tookMs = performance.now() - startedMs;
    if (tookMs > minRestedMs) await sleep(tookMs * restShare, undefined, { signal: rest.signal }).catch(() => {});
    return post({ kind: "taken", count: message.exchanges.length });
  }
  clearInterval(timer);
  post({ kind: "finished", reports: await judge.finish(message.skipped) });
  port?.close();
}
