import { listedAgents } from "../../run/look.ts";
import type { Scene } from "../../run/probe.ts";
import { playing } from "../../target/target.ts";

/**
 * Agents of the list that the run calls for nothing, in the order in which they were listed: webhooks cannot be deleted, and are told of all that
 * their agent does.
 */
export function quietAgents({ target, look, recorder }: Scene, agent: string): string[] {
  const played = new Set([agent, ...playing(target)]);
  return listedAgents([look.listing, ...recorder.exchanges()]).filter((each) => !played.has(each));
}
