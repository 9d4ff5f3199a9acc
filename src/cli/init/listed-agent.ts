import { sanitizeLine } from "../../base/sanitize.ts";
import { joinFirst } from "../../base/text.ts";
import { UsageError } from "../../base/usage-error.ts";
import type { DiscoveredTarget } from "./surroundings.ts";

/**
 * An agent that somebody names, unless the target's list shows that there is none of that id.
 *
 * @param redact takes secrets out of what the target sent
 * @throws {UsageError} with the ids that there are
 */
export function listedAgent(
  id: string,
  { agents, isWhole }: Pick<DiscoveredTarget, "agents" | "isWhole">,
  redact: (text: string) => string,
): string {
  if (!isWhole || agents.some((agent) => agent.id === id)) return id;
  const ids = agents.map((agent) => sanitizeLine(redact(agent.id), 60));
  const there = ids.length === 0 ? "it is empty" : `it has ${joinFirst(ids, mostIds)}`;
  throw new UsageError(`The target's list has no agent ${JSON.stringify(sanitizeLine(redact(id), 60))}: ${there}.`);
}

const mostIds = 20;
