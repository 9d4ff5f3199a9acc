import { type HarnessLimit, harnessLimitOf } from "../../base/harness-limit.ts";
import { defaultBounds } from "../../run/plan/bounds.ts";
import { type Client, openClient } from "../../run/send/client.ts";
import { type AgentWithoutPath, UnsendablePath } from "../../run/skip-reason.ts";
import { discoverTarget } from "../../run/discovery/discover-target.ts";
import { withDerivedRoles } from "../../run/discovery/derived-roles.ts";
import { mainKey, type Need } from "../../run/plan/needs.ts";
import { startPacer } from "../../run/send/pacer.ts";
import { noOutages } from "../../run/send/outages.ts";
import { startRecorder } from "../../run/send/recorder.ts";
import { noUsableKey } from "../../run/run.ts";
import { limitsOf } from "../../run/plan/key-limits.ts";
import { startRunClock } from "../../run/time/run-clock.ts";
import { withConfirmedFreshness } from "../../target/control-calls.ts";
import { type Target, withDetectedTier } from "../../target/target.ts";
import { withControlParts } from "../../target/test-control.ts";
import { openTransport } from "../../wire/transport.ts";
import type { NotSentReason } from "./not-sent-reason.ts";

/**
 * The result of discovery before a load: the target with its agents and the tier of its key, or the reason why no load
 * can be sent.
 */
export type LoadDiscovery =
  | {
      readonly kind: "ready";
      readonly target: Target;
      /**
       * Names of the keys that discovery used, each with the end of that use (`performance.now()`). They pause before
       * the first trial.
       */
      readonly used: ReadonlyMap<string, number>;
    }
  | Extract<NotSentReason, { readonly kind: "nothing to load" | "harness limit" | "unsendable agent" | "interrupted" }>;

/**
 * Longest total time that discovery waits because of rate limits. Discovery sends too few requests to exhaust a minute
 * limit.
 */
const maxWaitMs = 5000;

/**
 * Finds what the target lacks: an agent that answers, the tier of the main key, and slow agents if needed. Sends a few
 * requests with the main key, or only a health request if nothing is missing.
 *
 * @param needed requirements of the chosen scenarios, such as a slow agent
 */
export async function discoverForLoad(
  named: Target,
  signal: AbortSignal,
  needed: ReadonlySet<Need>,
): Promise<LoadDiscovery> {
  const provided = await withControlParts(named, "issue");
  if (provided.kind === "failed") return { kind: "nothing to load", sentence: provided.sentence };
  const target = await withConfirmedFreshness(provided.target);
  const key = mainKey(target);
  if (key === null) return { kind: "nothing to load", sentence: noUsableKey };
  const time = startRunClock({ clock: null, maxWaitMs, signal });
  let limit: HarnessLimit | null = null;
  const transport = openTransport({
    now: time.now,
    clockOffsetMs: time.clockOffsetMs,
    network: target.network,
    onHarnessLimit: (met) => (limit ??= met),
  });
  // A callback sets `limit`, which TypeScript does not see: it would narrow the type of `limit` to `null` outside a
  // function.
  const limitMet = (): HarnessLimit | null => limit;
  const pacer = startPacer(time, (each) => limitsOf(each, target));
  const parts = {
    baseUrl: target.baseUrl,
    requestTarget: target,
    transport,
    recorder: startRecorder(),
    pacer,
    time,
    outages: noOutages,
  };
  const stop = (): void => void transport.close();
  signal.addEventListener("abort", stop, { once: true });
  try {
    const client = openClient({ ...parts, ...defaultBounds, maxRequests: 20, signal }, key);
    const discovered = await discoverAgentAndTier(target, client, () => pacer.detectedTier(key));
    const met = limitMet();
    if (met !== null) return { kind: "harness limit", limit: met };
    if (discovered.kind !== "ready") return discovered;
    const sentBefore = parts.recorder.executions();
    const withRoles = await withDerivedRoles(client, discovered.target, { time, signal, needed });
    const isUsed = parts.recorder.executions() > sentBefore;
    return { kind: "ready", target: withRoles, used: new Map(isUsed ? [[key.name, performance.now()]] : []) };
  } catch (error) {
    if (signal.aborted) return { kind: "interrupted" };
    const met = limitMet() ?? harnessLimitOf(error);
    if (met !== null) return { kind: "harness limit", limit: met };
    if (error instanceof UnsendablePath) return { kind: "unsendable agent", problem: error.message };
    throw error;
  } finally {
    signal.removeEventListener("abort", stop);
    await transport.close();
  }
}

/** Finds an agent that answers, and the tier of the key. If that fails, returns the reason why no load can be sent. */
async function discoverAgentAndTier(
  target: Target,
  client: Client,
  detectedTier: () => string | null,
): Promise<LoadDiscovery> {
  if (target.agents.answering !== undefined && client.key.tier !== null) return checkHealth(target, client);
  const discovered = await discoverTarget(client, target);
  if (discovered.kind !== "ready") return discoveryFailure(discovered.sentence);
  const known = withDetectedTier(discovered.target, client.key.name, client.key.tier ?? detectedTier());
  return { kind: "ready", target: known, used: new Map() };
}

const discoveryFailure = (why: string | AgentWithoutPath): LoadDiscovery =>
  typeof why === "string"
    ? { kind: "nothing to load", sentence: why }
    : {
        kind: "unsendable agent",
        problem: `No request can name the agent ${JSON.stringify(why.agent)}, which no URL keeps as it is`,
      };

async function checkHealth(target: Target, client: Client): Promise<LoadDiscovery> {
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
  return { kind: "ready", target, used: new Map() };
}
