import { listedAgents } from "../../run/discovery/discover-target.ts";
import type { ProbeContext } from "../../run/probe.ts";
import { assignedAgents } from "../../target/target.ts";

/**
 * Listed agents that the run does not invoke, in the order of the list. Their webhooks stay quiet, which matters because
 * webhooks cannot be deleted.
 */
export function idleAgents({ target, discovery, recorder }: ProbeContext, agent: string): string[] {
  const played = new Set([agent, ...assignedAgents(target)]);
  return listedAgents([discovery.listing, ...recorder.exchanges()]).filter((each) => !played.has(each));
}
