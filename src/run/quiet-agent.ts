import { is2xx } from "../base/http-status.ts";
import { bodyJson, type Exchange, statusOf } from "../evidence/exchange.ts";
import { playing, type Target } from "../target/target.ts";
import { findAnswering } from "./answering-agent.ts";
import type { Client } from "./client.ts";
import { Refused } from "./lack.ts";
import { agentIds } from "./look.ts";
import type { Look } from "./probe.ts";

/** Every webhook is told all that its agent answers: one that writes pages would fill what a receiver can keep. */
const mostBytes = 16 * 1024;
const mostTries = 3;
/** Each webhook that is judged waits for its agent's answer, several times over: one that takes longer is taken where there is no other. */
const mostMs = 3000;

export const isQuick = ({ sentMs, answer }: Exchange): boolean => answer.endMs - sentMs <= mostMs;

const isShort = ({ answer }: Exchange): boolean =>
  answer.kind === "answered" && (answer.body.kind === "none" || answer.body.bytes <= mostBytes);

/**
 * The target with an agent of its own for webhooks, where nobody named one and the list has another that answers. Webhooks cannot be deleted:
 * tied to the agent with which limits are used up, each of them would get a delivery for each of those requests.
 */
export async function withQuietAgent(client: Client, target: Target, look: Look, signal: AbortSignal): Promise<Target> {
  if (target.agents.webhooked !== undefined) return target;
  const played: ReadonlySet<string> = new Set(playing(target));
  const others = (listing: Exchange): string[] => agentIds(bodyJson(listing)).filter((agent) => !played.has(agent));
  try {
    const near = others(look.listing);
    let slow: string | null = null;
    let candidates = near.length > 0 ? near : others(await client.send("GET", "/agents?page=1&limit=20"));
    for (let tries = 0; tries < mostTries && candidates.length > 0; tries++) {
      const invoked = await findAnswering(client, candidates, is2xx);
      if (invoked === null || !is2xx(statusOf(invoked.exchange))) break;
      if (isShort(invoked.exchange) && isQuick(invoked.exchange)) return withWebhooked(target, invoked.agent);
      if (isShort(invoked.exchange)) slow ??= invoked.agent;
      candidates = candidates.slice(candidates.indexOf(invoked.agent) + 1);
    }
    if (slow !== null) return withWebhooked(target, slow);
  } catch (error) {
    if (!(signal.aborted || error instanceof Refused)) throw error;
  }
  return target;
}

const withWebhooked = (target: Target, webhooked: string): Target => ({
  ...target,
  agents: { ...target.agents, webhooked },
});
