import { standardBounds } from "../../run/bounds.ts";
import { type Client, openClient, BudgetSpent, TargetGone } from "../../run/client.ts";
import { bodyJson } from "../../evidence/exchange.ts";
import type { Exchange } from "../../evidence/exchange.ts";
import { agentIds, type LookResult, takeLook } from "../../run/look.ts";
import { startPacer } from "../../run/pacing.ts";
import { startRecorder } from "../../run/recorder.ts";
import { limitsOf } from "../../run/tier-of.ts";
import { startTime } from "../../run/time.ts";
import { WaitRefused } from "../../run/wait-budget.ts";
import type { Target, TargetKey } from "../../target/target.ts";
import { openTransport } from "../../wire/transport.ts";
import { cliWording } from "../wording.ts";
import { type InitSurroundings, surroundingsOf } from "./surroundings.ts";

export type LookAround =
  | { readonly kind: "found"; readonly surroundings: InitSurroundings; readonly requests: number }
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
export async function lookAround({ target, key, signal, onWait }: LookAroundOptions): Promise<LookAround> {
  const time = startTime({ clock: null, maxWaitMs: mostWaitMs, signal, onWait });
  const transport = openTransport({ now: time.now, clockMs: time.clockMs, network: target.network });
  const pacer = startPacer(time, (each) => limitsOf(each, target));
  const recorder = startRecorder();
  const stop = (): void => void transport.close();
  signal.addEventListener("abort", stop, { once: true });
  try {
    const parts = { baseUrl: target.baseUrl, transport, recorder, pacer, time, signal };
    const client = openClient({ ...parts, ...standardBounds, maxRequests: mostRequests, isReadOnly: true }, key);
    const looked = await takeLook(client, target, true);
    if (looked.kind !== "ready")
      return signal.aborted ? interrupted : { ...looked, sentence: cliWording.reason(looked.sentence) };
    const seen = await seeMore(client, looked);
    const surroundings = surroundingsOf({ ...seen, tier: pacer.shownTier(key) });
    return { kind: "found", surroundings, requests: recorder.sent() };
  } catch (error) {
    if (signal.aborted) return interrupted;
    if (error instanceof BudgetSpent || error instanceof WaitRefused || error instanceof TargetGone)
      return {
        kind: "nothing to judge",
        sentence: `The look was not finished: ${cliWording.reason(error.lack.reason)}.`,
      };
    throw error;
  } finally {
    signal.removeEventListener("abort", stop);
    await transport.close();
  }
}

async function seeMore(client: Client, { look }: Extract<LookResult, { kind: "ready" }>) {
  const listing = await client.send("GET", `/agents?page=1&limit=${mostAgents}`);
  const stranger = await client.send("GET", "/no-such-path");
  const health = new Map<string, Exchange>();
  for (const id of agentIds(bodyJson(listing)).slice(0, mostHealth)) health.set(id, await client.health(id));
  return { listing, usage: look.usage, stranger, health };
}
