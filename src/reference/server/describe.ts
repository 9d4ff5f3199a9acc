import { trouble } from "../trouble.ts";
import { failed, ok, type Answer } from "./answer.ts";
import type { Exchange } from "./exchange.ts";
import type { ServerState } from "./state.ts";
import { agentTrouble } from "./turn.ts";

/** Endpoint 12: everything there is to know about one agent. */
export function describeAgent(state: ServerState, exchange: Exchange, agentId: string): Answer {
  const { behaviour, agents } = state;
  const agent = agents.get(agentId);
  const refused = agentTrouble(agents, agentId) ?? exchange.refusedLate;
  if (refused !== null || agent === undefined) return failed(refused ?? trouble("agent-not-found", "No such agent."));
  const version = behaviour.agentVersion(agent);
  return ok(behaviour.describeBody({ agent, version, listItem: behaviour.listItem(agent, version) }));
}

/** Endpoint 9: what the key has used, and what it may. */
export function keyUsage(state: ServerState, exchange: Exchange): Answer {
  const { behaviour, clock, ring } = state;
  const { key, account, refusedLate, previousMs } = exchange;
  if (refusedLate !== null || key === null) return failed(refusedLate ?? trouble("missing-key", "A key is required."));
  const nowMs = clock.now();
  const readings = account.readings(nowMs);
  const shown = behaviour.shownReading(readings);
  const expiresAtMs = ring.find(key.key)?.expiresAtMs ?? Number.POSITIVE_INFINITY;
  return ok(
    behaviour.keyUsageBody({
      key,
      hour: readings.find(({ window }) => window === "hour") ?? shown,
      minute: readings.find(({ window }) => window === "minute") ?? shown,
      tokens: account.tokens(nowMs),
      lastUsedMs: previousMs,
      expiresAtMs: Number.isFinite(expiresAtMs) ? expiresAtMs : null,
      nowMs,
    }),
  );
}
