import { defaultBounds } from "../../run/plan/bounds.ts";
import { type Client, openClient } from "../../run/send/client.ts";
import { RequestBudgetExhausted, TargetUnavailable, WaitRefused } from "../../run/skip-reason.ts";
import { bodyJson } from "../../evidence/exchange.ts";
import type { Exchange } from "../../evidence/exchange.ts";
import { agentIds, type DiscoveryResult, discoverTarget } from "../../run/discovery/discover-target.ts";
import { startPacer } from "../../run/send/pacing.ts";
import { startRecorder } from "../../run/send/recorder.ts";
import { limitsOf } from "../../run/plan/key-limits.ts";
import { startRunClock } from "../../run/time/run-clock.ts";
import type { Target, TargetKey } from "../../target/target.ts";
import { openTransport } from "../../wire/transport.ts";
import { cliMessages } from "../messages.ts";
import { type DiscoveredTarget, summarizeDiscovery } from "./surroundings.ts";

export type InitDiscovery =
  | { readonly kind: "found"; readonly surroundings: DiscoveredTarget; readonly requests: number }
  | { readonly kind: "nothing to judge"; readonly sentence: string };

const mostAgents = 50;
/** Health costs nothing, but a person waits. */
const mostHealth = 20;
const mostRequests = 40;
/** A key that is used up has room again after a minute. */
const mostWaitMs = 65_000;

const interrupted = { kind: "nothing to judge", sentence: "Interrupted; nothing was written." } as const;

interface LookAroundOptions {
  readonly target: Target;
  readonly key: TargetKey;
  readonly signal: AbortSignal;
  readonly onWait: (ms: number, why: string) => void;
}

/** Looks at a target as a run does, and around it; sends nothing but GET. */
export async function discoverForInit({ target, key, signal, onWait }: LookAroundOptions): Promise<InitDiscovery> {
  const time = startRunClock({ clock: null, maxWaitMs: mostWaitMs, signal, onWait });
  const transport = openTransport({ now: time.now, clockOffsetMs: time.clockOffsetMs, network: target.network });
  const pacer = startPacer(time, (each) => limitsOf(each, target));
  const recorder = startRecorder();
  const stop = (): void => void transport.close();
  signal.addEventListener("abort", stop, { once: true });
  try {
    const parts = { baseUrl: target.baseUrl, transport, recorder, pacer, time, signal };
    const client = openClient({ ...parts, ...defaultBounds, maxRequests: mostRequests, readOnly: true }, key);
    const looked = await discoverTarget(client, target, true);
    if (looked.kind !== "ready")
      return signal.aborted ? interrupted : { ...looked, sentence: cliMessages.reason(looked.sentence) };
    const seen = await seeMore(client, looked);
    const surroundings = summarizeDiscovery({ ...seen, tier: pacer.detectedTier(key) });
    return { kind: "found", surroundings, requests: recorder.sent() };
  } catch (error) {
    if (signal.aborted) return interrupted;
    if (error instanceof RequestBudgetExhausted || error instanceof WaitRefused || error instanceof TargetUnavailable)
      return {
        kind: "nothing to judge",
        sentence: `The look was not finished: ${cliMessages.reason(error.skipReason.reason)}.`,
      };
    throw error;
  } finally {
    signal.removeEventListener("abort", stop);
    await transport.close();
  }
}

async function seeMore(client: Client, { look }: Extract<DiscoveryResult, { kind: "ready" }>) {
  const listing = await client.send("GET", `/agents?page=1&limit=${mostAgents}`);
  const unknownPathResponse = await client.send("GET", "/no-such-path");
  const health = new Map<string, Exchange>();
  for (const id of agentIds(bodyJson(listing)).slice(0, mostHealth)) health.set(id, await client.health(id));
  return { listing, usage: look.usage, unknownPathResponse, health };
}
