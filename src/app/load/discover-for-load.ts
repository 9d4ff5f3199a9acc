import { type HarnessLimit, harnessLimitOf } from "../../base/harness-limit.ts";
import type { Client } from "../../run/send/client.ts";
import { type AgentWithoutPath, UnsendablePath } from "../../run/skip-reason.ts";
import { discoverTarget } from "../../run/discovery/discover-target.ts";
import { withDerivedRoles } from "../../run/discovery/complete-target.ts";
import { mainKey, type Need } from "../../run/plan/needs.ts";
import { inShortSession } from "../../run/run-context.ts";
import { noUsableKey } from "../../run/run.ts";
import { withConfirmedFreshness } from "../../target/control-calls.ts";
import { type Target, withDetectedTier } from "../../target/target.ts";
import { withControlParts } from "../../target/test-control.ts";
import type { NotSentReason } from "./not-sent-reason.ts";

export type LoadDiscovery =
  | {
      readonly kind: "ready";
      readonly target: Target;
      readonly used: ReadonlyMap<string, number>;
    }
  | Extract<NotSentReason, { readonly kind: "nothing to load" | "harness limit" | "unsendable agent" | "interrupted" }>;

const maxWaitMs = 5000;
const maxRequests = 20;

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
  let limit: HarnessLimit | null = null;
  // A function, because TypeScript does not see that a callback sets `limit`.
  const limitMet = (): HarnessLimit | null => limit;
  const onHarnessLimit = (met: HarnessLimit): void => void (limit ??= met);
  const session = { target, key, maxRequests, maxWaitMs, signal, onHarnessLimit };
  try {
    return await inShortSession(session, async ({ client, pacer, recorder, time }): Promise<LoadDiscovery> => {
      const discovered = await discoverAgentAndTier(target, client, () => pacer.detectedTier(key));
      const met = limitMet();
      if (met !== null) return { kind: "harness limit", limit: met };
      if (discovered.kind !== "ready") return discovered;
      const sentBefore = recorder.executions();
      const withRoles = await withDerivedRoles(client, discovered.target, { time, signal, needed });
      const isUsed = recorder.executions() > sentBefore;
      return { kind: "ready", target: withRoles, used: new Map(isUsed ? [[key.name, performance.now()]] : []) };
    });
  } catch (error) {
    if (signal.aborted) return { kind: "interrupted" };
    const met = limitMet() ?? harnessLimitOf(error);
    if (met !== null) return { kind: "harness limit", limit: met };
    if (error instanceof UnsendablePath) return { kind: "unsendable agent", problem: error.message };
    throw error;
  }
}

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
