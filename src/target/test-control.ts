import { z } from "zod";

import { harnessLimitOf } from "../base/harness-limit.ts";
import type { Network } from "../base/network/network.ts";
import { publishedTierNames } from "../spec/tiers.ts";
import { ControlCallFailed, parseAnswer, sendControlCall } from "./control-calls.ts";
import type { HttpCall } from "./target-file-schema.ts";
import { checkedKey, variableFor, withDefaultStreamingAgent } from "./target-file.ts";
import { agentRoles, defaultKeyTraits, type Target, type TargetKey, type TestControl, usableKeys } from "./target.ts";

/** Request header for the token of a test control, such as in `POST /test-control/keys`. */
export const controlTokenHeader = "X-Control-Token";

const offerSchema = z.object({
  contract: z.literal("agent-hosting-test-control"),
  version: z.literal(1),
  calls: z.array(z.string()),
  agents_follow_clock: z.boolean().optional(),
});
const agentsSchema = z.object({ agents: z.record(z.string(), z.string().min(1)) });
const issuedSchema = z.object({ key: z.string().min(1) });

export interface ControlOffer {
  readonly calls: readonly string[];
  readonly agentsFollowClock: boolean;
  readonly agents: Target["agents"];
}

export async function readOffer(control: TestControl, network: Network): Promise<ControlOffer> {
  const { calls, agents_follow_clock: follows } = await callControl(control, network, "", offerSchema);
  const listed = calls.includes("agents") ? await callControl(control, network, "/agents", agentsSchema) : null;
  const agents = Object.entries(listed?.agents ?? {}).filter(([role]) => Object.hasOwn(agentRoles, role));
  return { calls, agentsFollowClock: follows === true, agents: Object.fromEntries(agents) };
}

/** Sends a GET to a path of the test control, or a POST if there is a body. Returns the JSON of its response. */
async function callControl<T>(
  { url, token }: TestControl,
  network: Network,
  path: string,
  schema: z.ZodType<T>,
  body?: HttpCall["body"],
): Promise<T> {
  const call: HttpCall = {
    method: body === undefined ? "GET" : "POST",
    url: url.replace(/\/$/, "") + path,
    headers: { [controlTokenHeader]: token },
    body,
  };
  const answer = parseAnswer(await sendControlCall(call, network, 0, "The test control failed"), schema);
  if (answer !== null) return answer;
  throw new ControlCallFailed(`The test control failed: ${call.method} ${call.url} answered no JSON of its contract`, {
    isTemporary: false,
  });
}

type ProvidedTarget =
  | { readonly kind: "provided"; readonly target: Target }
  | { readonly kind: "failed"; readonly sentence: string };

/**
 * Returns the target with the keys and agents that its test control provides. In the mode `assume`, placeholders stand
 * for the keys, and no key is issued. This is enough to plan a run.
 */
export async function withControlParts(target: Target, mode: "issue" | "assume"): Promise<ProvidedTarget> {
  const { control, network } = target;
  if (control === null) return { kind: "provided", target };
  try {
    const { calls, agents } = await readOffer(control, network);
    const missing = calls.includes("keys") ? missingKeys(target) : [];
    const issue = mode === "issue" ? issuer(control, network) : async () => placeholderKey;
    return { kind: "provided", target: withAgents(await withKeys(target, missing, issue), agents) };
  } catch (error) {
    const limit = harnessLimitOf(error);
    if (limit !== null) throw limit;
    if (!(error instanceof ControlCallFailed)) throw error;
    return { kind: "failed", sentence: `${error.message}. Nothing was sent to the target.` };
  }
}

/** Placeholder for a key in the plan of a run. It is never sent. */
const placeholderKey = "issued-by-the-test-control";

/** Number of keys that a run uses of each tier, because some checks compare two keys of the same tier. */
const keysPerTier = 2;

interface MissingKey {
  readonly tier: string;
  readonly name: string;
}

function missingKeys(target: Target): MissingKey[] {
  const listed = usableKeys(target);
  const tiers = new Set([...publishedTierNames, ...Object.keys(target.tiers)]);
  return [...tiers].flatMap((tier) => {
    const isFree = (name: string): boolean => target.keys[name] === undefined;
    const names = [tier, ...Array.from({ length: keysPerTier + 1 }, (_, at) => `${tier}-${at + 2}`)].filter(isFree);
    const missing = Math.max(0, keysPerTier - listed.filter((key) => key.tier === tier).length);
    return names.slice(0, missing).map((name) => ({ tier, name }));
  });
}

type IssueKey = (tier: string) => Promise<string | null>;

const issuer =
  (control: TestControl, network: Network): IssueKey =>
  async (tier) => {
    try {
      return (await callControl(control, network, "/keys", issuedSchema, { tier })).key;
    } catch (error) {
      // The test control answers 400 for an unknown tier.
      if (error instanceof ControlCallFailed && error.status === 400) return null;
      throw error;
    }
  };

async function withKeys(target: Target, missing: readonly MissingKey[], issue: IssueKey): Promise<Target> {
  const issued: TargetKey[] = [];
  for (const { tier, name } of missing) {
    const text = await issue(tier);
    if (text !== null) issued.push(issuedKey(tier, name, text));
  }
  const { unusedKeys } = target;
  const names = issued.map(({ name }) => name);
  return {
    ...target,
    keys: { ...target.keys, ...Object.fromEntries(issued.map((key) => [key.name, key])) },
    unusedKeys: unusedKeys && (async () => new Set([...(await unusedKeys()), ...names])),
  };
}

function issuedKey(tier: string, name: string, text: string): TargetKey {
  const key = checkedKey(text, "The key that the test control issued");
  return { ...defaultKeyTraits, name, key, tier, variable: variableFor(name), fresh: true };
}

function withAgents(target: Target, offered: Target["agents"]): Target {
  const { streaming, ...others } = target.agents;
  // Drops an agent that streams only by default, so that the test control's agent for `streaming` replaces it.
  const named = target.agentSource === "named to answer" || streaming === undefined ? others : target.agents;
  const assigned = Object.keys(target.roleAssignments);
  const added = Object.entries(offered).filter(([role]) => !assigned.includes(role));
  return { ...target, ...withDefaultStreamingAgent({ ...Object.fromEntries(added), ...named }) };
}
