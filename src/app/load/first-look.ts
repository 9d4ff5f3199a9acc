import { standardBounds } from "../../run/bounds.ts";
import { openClient, UnsendablePath } from "../../run/client.ts";
import type { AgentWithoutPath } from "../../run/lack.ts";
import { takeLook } from "../../run/look.ts";
import { mainKey } from "../../run/needs.ts";
import { startPacer } from "../../run/pacing.ts";
import { startRecorder } from "../../run/recorder.ts";
import { noUsableKey } from "../../run/run.ts";
import { limitsOf } from "../../run/tier-of.ts";
import { startTime } from "../../run/time.ts";
import type { Target } from "../../target/target.ts";
import { openTransport } from "../../wire/transport.ts";
import type { NoLoad } from "./no-load.ts";

/** A target of which agent and tier are known, or why there is nothing to send load to. */
export type Looked =
  | { readonly kind: "ready"; readonly target: Target }
  | Extract<NoLoad, { readonly kind: "nothing to load" | "unsendable agent" | "interrupted" }>;

/** The look must not wait for windows: it is a few requests. */
const maxWaitMs = 5000;

/**
 * Finds what nobody named of a target: an agent that answers, and the tier of its key. A few requests with the main key, and none but an
 * agent's health where both are named.
 */
export async function lookForLoad(target: Target, signal: AbortSignal): Promise<Looked> {
  const key = mainKey(target);
  if (key === null) return { kind: "nothing to load", sentence: noUsableKey };
  const time = startTime({ clock: null, maxWaitMs, signal });
  const transport = openTransport({ now: time.now, clockMs: time.clockMs, network: target.network });
  const pacer = startPacer(time, (each) => limitsOf(each, target));
  const parts = { baseUrl: target.baseUrl, transport, recorder: startRecorder(), pacer, time };
  const stop = (): void => void transport.close();
  signal.addEventListener("abort", stop, { once: true });
  try {
    const client = openClient({ ...parts, ...standardBounds, maxRequests: 20, signal }, key);
    if (target.agents.answering !== undefined && key.tier !== null) return await reached(target, client);
    const looked = await takeLook(client, target);
    if (looked.kind !== "ready") return lookedInVain(looked.sentence);
    return { kind: "ready", target: withTier(looked.target, key.name, key.tier ?? pacer.shownTier(key)) };
  } catch (error) {
    if (signal.aborted) return { kind: "interrupted" };
    if (error instanceof UnsendablePath) return { kind: "unsendable agent", problem: error.message };
    throw error;
  } finally {
    signal.removeEventListener("abort", stop);
    await transport.close();
  }
}

const lookedInVain = (why: string | AgentWithoutPath): Looked =>
  typeof why === "string"
    ? { kind: "nothing to load", sentence: why }
    : {
        kind: "unsendable agent",
        problem: `No request can name the agent ${JSON.stringify(why.agent)}, which no URL keeps as it is`,
      };

async function reached(target: Target, client: ReturnType<typeof openClient>): Promise<Looked> {
  const { answer } = await client.health(target.agents.answering ?? "", {
    deadlines: { headMs: 15_000, silenceMs: 10_000, exchangeMs: 20_000 },
  });
  if (answer.kind === "unanswered")
    return {
      kind: "nothing to load",
      sentence: `No answer from ${target.baseUrl}: ${answer.detail}. Is the server running, and the address right?`,
    };
  if (answer.status === 401 || answer.status === 403)
    return {
      kind: "nothing to load",
      sentence: `The target refuses the API key (${answer.status}). Check the key \`${client.key.name}\` ($${client.key.variable}); no load was sent.`,
    };
  return { kind: "ready", target };
}

function withTier(target: Target, name: string, tier: string | null): Target {
  const key = target.keys[name];
  if (key === undefined || tier === null || key.tier !== null) return target;
  return { ...target, keys: { ...target.keys, [name]: { ...key, tier, isTierShown: true } } };
}
