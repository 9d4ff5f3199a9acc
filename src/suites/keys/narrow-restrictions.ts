import { bodyJson, type Exchange } from "../../evidence/exchange.ts";
import { type Check, check } from "../../run/judge/check.ts";
import { breach, type Finding, holds, inapplicable, unproven } from "../../run/judge/finding.ts";
import { agentIds } from "../../run/discovery/discover-target.ts";
import { probe, type ProbeContext } from "../../run/probe.ts";
import { inclusionOfThisMachine } from "../../target/source-address.ts";
import type { EndpointName } from "../../spec/endpoints.ts";
import type { TargetKey } from "../../target/target.ts";
import {
  createRequestSender,
  exchangeOn,
  type RejectedKeyRequest,
  type KeyRequests,
  prepareFixtures,
  sendToEndpoints,
} from "../shared/key-requests/send-requests.ts";
import { isSuccess, outcomeOf, wasRejected } from "../shared/response.ts";
import { oneAgentKeyTried, readOnlyKeyTried } from "./probes.ts";

// This file tests key restrictions in cases that a server could miss, such as a write right after a permitted read.

const since = "1.2";

function judgeRefused(requests: readonly RejectedKeyRequest[], expected: string, whenNone: string): Finding<never> {
  const accepted = requests.find(({ exchange }) => isSuccess(exchange));
  if (accepted !== undefined)
    return breach(expected, `${outcomeOf(accepted.exchange)} on ${accepted.endpoint}`, accepted.exchange);
  if (requests.length === 0) return inapplicable(whenNone);
  return requests.some(({ exchange }) => wasRejected(exchange))
    ? holds()
    : unproven("no request was accepted or rejected");
}

const readOnlyKeyAfterHealth = probe(
  "a read-only key reads the health of an agent, and at once tries to create a webhook for it and to invoke it",
  { needs: ["keys.readOnly", "receiver"], requests: 0, stage: "coverage", after: [readOnlyKeyTried], since },
  async (context): Promise<KeyRequests> => {
    const reader = context.client.as(context.given["keys.readOnly"]);
    const { answering } = context.target.agents;
    if (answering === undefined) return { requests: [] };
    const fixtures = await prepareFixtures(context, "of-read-only-key-after-health");
    const sender = createRequestSender(reader, fixtures, context);
    const requests: RejectedKeyRequest[] = [];
    for (const endpoint of ["webhooks", "invoke"] as const) {
      const health = await reader.health(answering);
      if (isSuccess(health)) requests.push(...(await sendToEndpoints(sender, "a read-only key", [endpoint])));
    }
    return { requests };
  },
);

/** Finds the agent outside `allowed` whose id shares the longest prefix with an allowed id; `null` if none does. */
export function closestAgent(ids: readonly string[], allowed: readonly string[]): string | null {
  const shared = (id: string) => Math.max(...allowed.map((each) => commonLength(id, each)));
  const others = ids.filter((id) => !allowed.includes(id) && shared(id) > 0);
  return others.toSorted((one, other) => shared(other) - shared(one))[0] ?? null;
}

function commonLength(one: string, other: string): number {
  let length = 0;
  while (length < one.length && one[length] === other[length]) length += 1;
  return length;
}

const closestAgentTried = probe(
  "a key that is restricted to one agent is used with the agent whose id begins most like that agent's",
  { needs: ["keys.oneAgent"], requests: 0, reads: true, stage: "coverage", since },
  async (context): Promise<(KeyRequests & { readonly control: Exchange }) | null> => {
    const { client, given, target, discovery } = context;
    const ids = [...agentIds(bodyJson(discovery.listing)), ...Object.values(target.agents)];
    const agent = closestAgent(ids, given["keys.oneAgent"].agents ?? []);
    if (agent === null) return null;
    const control = await client.health(agent);
    const sender = createRequestSender(client.as(given["keys.oneAgent"]), { ...noFixtures, agent }, context);
    return {
      control,
      requests: await sendToEndpoints(sender, "a key of another agent", agentEndpoints(context, agent)),
    };
  },
);

const noFixtures = { agent: null, webhook: null, webhookId: null, operationId: null, batchPath: null } as const;

/**
 * Returns `health`, and `invoke` unless the agent is slow or has the role `webhooked`. A wrongly accepted invoke would
 * then delay the run or cause deliveries.
 */
function agentEndpoints({ target: { agents } }: ProbeContext, agent: string): readonly ("health" | "invoke")[] {
  const avoided = [agents.slow, agents.slowStreaming, agents.timingOut, agents.timingOutByDefault, agents.webhooked];
  return avoided.includes(agent) ? ["health"] : ["health", "invoke"];
}

/** Maximum number of keys to test. Each key costs two requests. */
const maxKeys = 4;

const everyOtherAddressKeyTried = probe(
  "every further key that may only come from other addresses is used from here",
  { needs: ["keys.elsewhere"], requests: 0, reads: true, stage: "limits", since },
  async (context): Promise<KeyRequests> => {
    const { client, given, target } = context;
    const fixtures = { ...noFixtures, agent: target.agents.answering ?? null };
    const requests: RejectedKeyRequest[] = [];
    for (const key of Object.values(target.keys).filter(isOfOtherAddress)) {
      if (key.name === given["keys.elsewhere"].name || requests.length >= 2 * maxKeys) continue;
      const sender = createRequestSender(client.as(key), fixtures, context);
      requests.push(...(await sendToEndpoints(sender, "a key of another address", ["health", "usage"])));
    }
    return { requests };
  },
);

const isOfOtherAddress = ({ expired, allowedIps }: TargetKey): boolean =>
  !expired && allowedIps !== null && inclusionOfThisMachine(allowedIps) === "not included";

export const narrowRestrictionChecks: readonly Check[] = [
  check(
    "KEY-5",
    { after: readOnlyKeyAfterHealth, before: readOnlyKeyTried },
    ({ after, before }): Finding<never> => {
      const refusedBefore = (endpoint: EndpointName): boolean =>
        wasRejected(endpoint === "invoke" ? before.invoked : exchangeOn(before, endpoint));
      return judgeRefused(
        after.requests.filter(({ endpoint }) => refusedBefore(endpoint)),
        "a read-only key does not write, also right after it has read the health of the agent",
        "the key is not rejected in other requests, or could not read the health",
      );
    },
    { as: "right after a read", since },
  ),
  check(
    "KEY-6",
    { closest: closestAgentTried, tried: oneAgentKeyTried },
    ({ closest, tried: { other } }): Finding<never> => {
      const refusedElsewhere = other?.requests.filter(({ exchange }) => wasRejected(exchange)) ?? [];
      if (closest === null || !isSuccess(closest.control))
        return inapplicable("no other agent is known whose id begins like that of the key's agent");
      return judgeRefused(
        closest.requests.filter(({ endpoint }) => refusedElsewhere.some((each) => each.endpoint === endpoint)),
        "a key that is restricted to one agent does not succeed with one whose id begins alike",
        "the key is not rejected with other agents",
      );
    },
    { as: "similar id", since },
  ),
  check(
    "KEY-7",
    everyOtherAddressKeyTried,
    ({ requests }) =>
      judgeRefused(
        requests,
        "every key with a list of other addresses is rejected from here",
        "no second key with a list of other addresses is known",
      ),
    { as: "every key", since },
  ),
];
