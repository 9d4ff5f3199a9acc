import { listedAgents } from "../../run/discovery/discover-target.ts";
import type { ProbeContext } from "../../run/probe.ts";
import { assignedAgents } from "../../target/target.ts";

/**
 * Agents of the list that the run calls for nothing, in the order in which they were listed: webhooks cannot be deleted, and are told of all that
 * their agent does.
 */
export function idleAgents({ target, discovery, recorder }: ProbeContext, agent: string): string[] {
  const played = new Set([agent, ...assignedAgents(target)]);
  return listedAgents([discovery.listing, ...recorder.exchanges()]).filter((each) => !played.has(each));
}
