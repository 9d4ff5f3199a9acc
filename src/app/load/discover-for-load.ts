import { type HarnessLimitError, harnessLimitOf } from "../../base/harness-limit.ts";
import { isKeyRefusal } from "../../base/http.ts";
import type { Client } from "../../run/send/client.ts";
import { type AgentWithoutPath, isBudgetExhausted, UnsendablePath, WaitRefused } from "../../run/skip-reason.ts";
import { discoverTarget } from "../../run/discovery/discover-target.ts";
import { assignDerivedRoles } from "../../run/discovery/complete-target.ts";
import { mainKey, type Need } from "../../run/plan/needs.ts";
import { inShortSession } from "../../run/run-context.ts";
import { noUsableKey } from "../../run/run.ts";
import { withConfirmedFreshness } from "../../target/control-calls.ts";
import { type Target, withDetectedTier } from "../../target/target.ts";
import { withControlParts } from "../../target/test-control.ts";
import { UnsendableLoadError } from "./not-sent-reason.ts";

interface LoadDiscovery {
  readonly target: Target;
  /** When discovery last used a key to invoke agents (`performance.now()`), by the key's name. */
  readonly used: ReadonlyMap<string, number>;
}

const maxWaitMs = 5000;
const maxRequests = 20;

/**
 * Discovers the keys, agents and tier that a load on the target needs.
 *
 * @throws {UnsendableLoadError} if no load can be sent to the target
 */
export async function discoverForLoad(
  named: Target,
  signal: AbortSignal,
  needed: ReadonlySet<Need>,
): Promise<LoadDiscovery> {
  const provided = await withControlParts(named, "issue");
  if (provided.kind === "failed") throw nothingToLoad(provided.sentence);
  const target = await withConfirmedFreshness(provided.target);
  const key = mainKey(target);
  if (key === null) throw nothingToLoad(noUsableKey);
  let limit: HarnessLimitError | null = null;
  // Reads `limit` in a function, because TypeScript does not see that a callback sets `limit`.
  const limitMet = (): HarnessLimitError | null => limit;
  const onHarnessLimit = (met: HarnessLimitError): void => void (limit ??= met);
  const session = { target, key, maxRequests, maxWaitMs, signal, onHarnessLimit };
  try {
    return await inShortSession(session, async ({ client, pacer, recorder, time }) => {
      const discovered = await discoverAgentAndTier(target, client, () => pacer.detectedTier(key));
      const met = limitMet();
      if (met !== null) throw new UnsendableLoadError({ kind: "harness limit", limit: met });
      const sentBefore = recorder.executions();
      const withRoles = await assignDerivedRoles(client, discovered, { time, signal, needed });
      const isUsed = recorder.executions() > sentBefore;
      return { target: withRoles, used: new Map(isUsed ? [[key.name, performance.now()]] : []) };
    });
  } catch (error) {
    if (signal.aborted) throw new UnsendableLoadError({ kind: "interrupted" });
    const met = limitMet() ?? harnessLimitOf(error);
    if (met !== null) throw new UnsendableLoadError({ kind: "harness limit", limit: met });
    if (error instanceof UnsendablePath)
      throw new UnsendableLoadError({ kind: "unsendable agent", problem: error.message });
    if (error instanceof WaitRefused)
      throw nothingToLoad(
        `The key \`${key.name}\` has too few requests left to prepare a load. Try again once its limits have reset, or use another key.`,
      );
    if (isBudgetExhausted(error))
      throw nothingToLoad(
        `${maxRequests} requests were too few to find an agent and to prepare a load. Name an agent.`,
      );
    throw error;
  }
}

const nothingToLoad = (sentence: string): UnsendableLoadError =>
  new UnsendableLoadError({ kind: "nothing to load", sentence });

async function discoverAgentAndTier(
  target: Target,
  client: Client,
  detectedTier: () => string | null,
): Promise<Target> {
  if (target.agents.answering !== undefined && client.key.tier !== null) {
    await checkHealth(target, target.agents.answering, client);
    return target;
  }
  const discovered = await discoverTarget(client, target);
  if (discovered.kind !== "ready") throw discoveryFailure(discovered.sentence);
  return withDetectedTier(discovered.target, client.key.name, client.key.tier ?? detectedTier());
}

const discoveryFailure = (why: string | AgentWithoutPath): UnsendableLoadError =>
  typeof why === "string"
    ? nothingToLoad(why)
    : new UnsendableLoadError({
        kind: "unsendable agent",
        problem: `No request can name the agent ${JSON.stringify(why.agent)}, which no URL keeps as it is`,
      });

async function checkHealth(target: Target, agent: string, client: Client): Promise<void> {
  const { answer } = await client.health(agent, {
    deadlines: { headMs: 15_000, silenceMs: 10_000, exchangeMs: 20_000 },
  });
  if (answer.kind === "unanswered")
    throw nothingToLoad(
      `No answer from ${target.baseUrl}: ${answer.detail}. Is the server running, and the address right?`,
    );
  if (isKeyRefusal(answer.status))
    throw nothingToLoad(
      `The target refuses the API key (${answer.status}). Check the key \`${client.key.name}\` ($${client.key.variable}); no load was sent.`,
    );
}
