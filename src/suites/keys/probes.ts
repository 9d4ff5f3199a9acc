import { bodyJson, type Exchange } from "../../evidence/exchange.ts";
import { type EndpointName, endpointNames } from "../../spec/endpoints.ts";
import { defaultQuery, agentIds } from "../../run/discovery/discover-target.ts";
import { hasFewRequests } from "../../run/plan/needs.ts";
import { probe, type ProbeContext } from "../../run/probe.ts";
import type { RunClock } from "../../run/time/run-clock.ts";
import { inclusionOfThisMachine } from "../../target/source-address.ts";
import type { Target, TargetKey } from "../../target/target.ts";
import {
  createRequestSender,
  firstSuccessOn,
  idleWebhook,
  type KeyRequests,
  prepareFixtures,
  sendToEndpoints,
} from "../shared/key-requests/send-requests.ts";
import { prefixOf } from "../shared/key-requests/altered-keys.ts";
import { keyExpectations } from "../shared/key-requests/key-checks.ts";
import { isSuccess, wasRejected } from "../shared/response.ts";

const helloBody = { query: defaultQuery } as const;

export const keyUsageRead = probe(
  "key usage is read",
  { requests: 1, reads: true, countsTowardWindow: true },
  async ({ client }) => ({ read: await client.send("GET", "/keys/usage") }),
);

export interface KeyPrefix {
  readonly name: string;
  /** Two letters and an underscore, such as `ro_`, which are no secret; `null` if the key starts otherwise. */
  readonly prefix: string | null;
}

export const keyPrefixesRead = probe(
  "the beginnings of the keys are looked at",
  { requests: 0, reads: true },
  async ({ target }) => ({
    prefixes: Object.values(target.keys).map(({ name, key }): KeyPrefix => ({ name, prefix: prefixOf(key) })),
  }),
);

/** Uses the temporary key before its expiry. Otherwise, a later rejection could mean that it was never valid. */
export const temporaryKeyUsed = probe(
  "a temporary key is used while it lives",
  { needs: ["keys.temporary"], requests: 0 },
  async ({ client, given, target }) => {
    const temporary = client.as(given["keys.temporary"]);
    const agent = target.agents.answering;
    const exchange =
      agent === undefined
        ? await temporary.send("GET", "/usage", { unpaced: true })
        : await temporary.invoke(agent, helloBody, { unpaced: true });
    return { lifeSeconds: given["keys.temporary"].expiresInSeconds ?? 0, asked: exchange };
  },
);

/**
 * Margin before and after the assumed expiry of the temporary key. The real expiry can differ, e.g. because the
 * server's clock is slow.
 */
const expiryMarginMs = 5000;
const endOfLifeMs = (key: TargetKey): number => (key.expiresInSeconds ?? 0) * 1000 + expiryMarginMs;

export const isKeyLifetimeOver = (key: TargetKey, time: RunClock): boolean => elapsedMs(time) >= endOfLifeMs(key);

const temporaryLifeSeconds = (target: Target): number => {
  const temporary = Object.values(target.keys).find((key) => !key.expired && key.expiresInSeconds !== null);
  return temporary === undefined ? 0 : endOfLifeMs(temporary) / 1000;
};

interface ExpiredKeyRequests extends KeyRequests {
  readonly expiredKeys: readonly string[];
}

async function requestAfterExpiry(
  context: ProbeContext<"keys.temporary">,
  name: string,
  endpoints: readonly EndpointName[],
): Promise<ExpiredKeyRequests> {
  const { client, given, target, time } = context;
  const key = given["keys.temporary"];
  await useInMiddleOfLife(context);
  await useAtEndOfLife(context);
  await time.passTime(endOfLifeMs(key) - elapsedMs(time), "the temporary key must expire");
  const fixtures = await prepareFixtures(context, name);
  const sender = createRequestSender(client.as(key), fixtures, context);
  const requests = await sendToEndpoints(sender, "a temporary key after its life", endpoints);
  const expiredKeys = Object.values(target.keys).flatMap((each) => (each.expired ? [each.name] : []));
  return { requests, expiredKeys };
}

/**
 * Returns the time since the run's start that has certainly passed on the target's clock. A test clock can stand still
 * between advances, so only its advances count.
 */
const elapsedMs = (time: RunClock): number => (time.canAdvance ? time.clockOffsetMs() : time.targetMs());

/**
 * Uses the temporary key halfway to its expiry, to find servers that extend a key's life with each use. Sends nothing
 * if the life is nearly over.
 */
async function useInMiddleOfLife({ client, given, time }: ProbeContext<"keys.temporary">): Promise<void> {
  const key = given["keys.temporary"];
  const lifeMs = (key.expiresInSeconds ?? 0) * 1000;
  await time.passTime(lifeMs / 2 - elapsedMs(time), "half of the temporary key's life must pass");
  if (time.targetMs() < lifeMs - expiryMarginMs) await client.as(key).send("GET", "/usage", { unpaced: true });
}

/**
 * Uses the temporary key shortly before its expiry, to find servers that cache valid keys for too long. Does nothing
 * without a test clock, or if it is too late.
 */
async function useAtEndOfLife({ client, given, time }: ProbeContext<"keys.temporary">): Promise<void> {
  const key = given["keys.temporary"];
  const lastMs = endOfLifeMs(key) - 2 * expiryMarginMs;
  if (!time.canAdvance || elapsedMs(time) > lastMs) return;
  await time.passTime(lastMs - elapsedMs(time), "the temporary key must be about to expire");
  await client.as(key).since("1.2").send("GET", "/usage", { unpaced: true });
}

export const temporaryKeyExpired = probe(
  "a temporary key is used on every endpoint after its life",
  { needs: ["keys.temporary"], requests: 0, stage: "exclusive" },
  async (context) => (context.time.canAdvance ? requestAfterExpiry(context, "of-temporary-key", endpointNames) : null),
);

/** Endpoints that `temporaryKeyExpired` cannot request: no operation exists yet when that probe runs. */
const laterEndpoints = ["operations"] as const satisfies readonly EndpointName[];

/** Uses the temporary key after its expiry. Runs late in the run, when part of the wait has passed anyway. */
export const temporaryKeyExpiryAwaited = probe(
  "a temporary key's life is waited for, and it is used after it",
  {
    needs: ["keys.temporary"],
    requests: 0,
    waits: { mode: "since the start", seconds: temporaryLifeSeconds },
    stage: "limits",
  },
  (context) =>
    requestAfterExpiry(context, "of-late-temporary-key", context.time.canAdvance ? laterEndpoints : endpointNames),
);

/** Creates a webhook with the main key. If this fails, a failure with a restricted key proves nothing. */
export const webhookCreated = probe(
  "a webhook is created with the main key",
  {
    needs: ["receiver"],
    requests: (target) => (hasFewRequests(target) ? 0 : 1),
    creates: { webhooks: 1 },
  },
  async (context) => {
    const { client, given, target } = context;
    // If the main key's limit is low, takes a webhook that an earlier probe created, if any, to save a request.
    const before = hasFewRequests(target) ? firstSuccessOn(context, "webhooks") : undefined;
    const json = idleWebhook(given.receiver, target, "quiet");
    return { created: before ?? (await client.send("POST", "/webhooks", { json })) };
  },
);

export const readOnlyKeyTried = probe(
  "a read-only key reads, tries to create a webhook and an alert, and to invoke, stream and batch",
  { needs: ["keys.readOnly", "receiver"], requests: 0 },
  async (context) => {
    const reader = context.client.as(context.given["keys.readOnly"]);
    const agent = context.target.agents.answering;
    const read = await reader.send("GET", "/usage");
    const fixtures = await prepareFixtures(context, "of-read-only-key");
    const sender = createRequestSender(reader, fixtures, context);
    const requests = await sendToEndpoints(sender, "a read-only key", keyExpectations["a read-only key"].on);
    const invoked = agent === undefined ? null : await reader.invoke(agent, helloBody);
    // A server that rejects invokes with a read-only key must also reject streams and batches.
    const likewise = wasRejected(invoked) ? await sendToEndpoints(sender, "a read-only key", ["stream", "batch"]) : [];
    return { read, requests: [...requests, ...likewise], invoked };
  },
);

interface AgentsTried {
  readonly own: Exchange;
  /**
   * Requests of the restricted key for an agent that it must not use. `control` is an invoke of that agent with the
   * main key. `null` if no suitable agent is known.
   */
  readonly other: (KeyRequests & { readonly control: Exchange }) | null;
}

export const oneAgentKeyTried = probe(
  "a key that is restricted to one agent invokes that agent, and tries all that another can be asked for",
  { needs: ["keys.oneAgent"], requests: 1 },
  async (context): Promise<AgentsTried> => {
    const { client, given } = context;
    const key = given["keys.oneAgent"];
    const allowed = key.agents ?? [];
    const restricted = client.as(key);
    const own = await restricted.invoke(allowed[0] ?? "", helloBody);
    const agent = otherAgent(context, allowed);
    if (agent === undefined) return { own, other: null };
    const control = await client.invoke(agent, helloBody);
    const fixtures = await prepareFixtures(context, "of-one-agent-key");
    const webhook = fixtures.webhook && { ...fixtures.webhook, agent_id: agent };
    const sender = createRequestSender(restricted, { ...fixtures, agent, webhook }, context);
    // A batch path without `{agent_id}` names no agent, so the key's restriction cannot apply.
    const isNamed = fixtures.batchPath?.includes("{agent_id}") === true;
    const endpoints = [...keyExpectations["a key of another agent"].on, ...(isNamed ? (["batch"] as const) : [])];
    const requests = await sendToEndpoints(sender, "a key of another agent", endpoints);
    return { own, other: { control, requests } };
  },
);

/** Returns an agent outside `allowed` that has no role such as `slow` or `failing`; `undefined` if none is known. */
export function otherAgent(
  { target: { agents }, discovery }: ProbeContext,
  allowed: readonly string[],
): string | undefined {
  const slow = [agents.slow, agents.slowStreaming, agents.timingOut, agents.timingOutByDefault];
  const failing = [agents.failing, agents.failingInStream];
  const avoided = [...slow, ...failing, agents.overloaded, agents.unhealthy, agents.webhooked, ...allowed];
  const named = [agents.answering, agents.streaming, agents.remembering, agents.degraded];
  return [...named, ...agentIds(bodyJson(discovery.listing))].find((id) => id !== undefined && !avoided.includes(id));
}

interface OtherAddressRequests extends KeyRequests {
  readonly claimed: Exchange | null;
  readonly isDirect: boolean;
  readonly mayBeListed?: boolean;
}

export const otherAddressKeyTried = probe(
  "a key that may only come from other addresses is used from here on every endpoint, again, and says that it comes from there",
  { needs: ["keys.elsewhere"], requests: 0, reads: true, stage: "limits" },
  async (context): Promise<OtherAddressRequests> => {
    const { client, given, target } = context;
    const key = given["keys.elsewhere"];
    const restricted = client.as(key);
    const allowedAddress = key.allowedIps?.[0]?.replace(/\/\d+$/, "") ?? "";
    const fixtures = await prepareFixtures(context, "of-key-of-elsewhere");
    const sender = createRequestSender(restricted, fixtures, context);
    const first = await sendToEndpoints(sender, "a key of another address", endpointNames);
    const second = "a key of another address, for the second time";
    const again = await sendToEndpoints(sender, second, keyExpectations[second].on);
    const requests = [...first, ...again];
    // Claims an allowed address in `X-Forwarded-For`, which any client can send, so a server must not trust it. If a
    // request without the header succeeded, a success with the header would prove nothing.
    const claimed = requests.some(({ exchange }) => isSuccess(exchange))
      ? null
      : await restricted.send("GET", "/usage", { headers: [["X-Forwarded-For", allowedAddress]] });
    const mayBeListed = inclusionOfThisMachine(key.allowedIps ?? []) === "unknown";
    return { requests, claimed, isDirect: target.isDirect, mayBeListed };
  },
);
