import { randomUUID } from "node:crypto";

import type { Delivery } from "../../evidence/delivery.ts";
import type { Exchange } from "../../evidence/exchange.ts";
import { generateSecret } from "../../evidence/secret.ts";
import { deploymentEvents } from "../../spec/events-and-errors.ts";
import { hasFewRequests } from "../../run/plan/needs.ts";
import { probe, type ProbeContext } from "../../run/probe.ts";
import { minBody } from "../invoke/probes.ts";
import { unicodeText } from "../shared/unicode-text.ts";
import { isSuccess } from "../shared/response.ts";
import {
  agentIdOf,
  awaitDeliveries,
  awaitUnexpected,
  createWebhook,
  hookPrefix,
  idleAgents,
  type OpenedWebhook,
  receiverReachOf,
  type ReceiverReach,
  type RequestedWebhook,
  requestedWebhookOf,
  webhookIdOf,
  webhookPath,
} from "./create-webhook.ts";
import {
  oddDeliveriesPerInvoke,
  unusualSecretKinds,
  type OddWebhooks,
  openOddWebhooks,
  requestedOddWebhooks,
  expectedForSharedUrl,
  openWebhooksOfOneUrl,
  type WebhooksOfOneUrl,
} from "./unusual-webhooks.ts";
import { probeIfManyRequests } from "../shared/few-requests.ts";

type Subscription = "wildcard" | "both" | "completed" | "unsigned" | "deployments";

/** Webhooks that the probe creates even if the key has few requests a minute. The other webhooks are then `null`. */
type MinSubscription = "wildcard" | "both";

export interface InvokedWithWebhooks {
  readonly reach: ReceiverReach;
  readonly webhooks: Readonly<Record<MinSubscription, RequestedWebhook>> &
    Readonly<Record<Exclude<Subscription, MinSubscription>, RequestedWebhook | null>>;
  readonly odd?: OddWebhooks | null;
  readonly sameUrl?: WebhooksOfOneUrl | null;
  readonly elsewhere: RequestedWebhook | null;
  readonly invoked: readonly Exchange[];
  readonly deliveries: readonly Delivery[];
  readonly listed: Exchange | null;
  readonly shown: readonly Exchange[];
}

const subscribed = {
  wildcard: { events: ["agent.*"], status: 200 },
  both: { events: ["agent.invoked", "agent.completed"], status: 201 },
  completed: { events: ["agent.completed"], status: 204 },
  unsigned: { events: ["agent.completed"], secret: null, status: 202 },
  deployments: { events: deploymentEvents, status: 200 },
} as const;

/** A context of about 20 kB, so that the request fills several TCP segments. */
const largeContext = { text: "conformance ".repeat(1700) };

export const invokedWithWebhooks = probe(
  "webhooks are created for an agent, and it is invoked",
  {
    needs: ["receiver", "agents.answering"],
    requests: (target) => (hasFewRequests(target) ? 5 : 14 + unusualSecretKinds.length),
    executions: (target) => (hasFewRequests(target) ? 1 : invokeBodies().length),
    stage: "exclusive",
    creates: { webhooks: 8 + unusualSecretKinds.length },
    createsFew: { webhooks: 3 },
  },
  async (context): Promise<InvokedWithWebhooks> => {
    const { client, given, target, time } = context;
    const { receiver } = given;
    const reach = await receiverReachOf(receiver, target);
    const agent = agentIdOf({ target });
    const hasFew = hasFewRequests(target);
    const open = (name: Subscription): Promise<OpenedWebhook> =>
      createWebhook(client, receiver, {
        ...subscribed[name],
        name,
        agent,
        replies: [{ kind: "status", status: subscribed[name].status }],
      });
    const opened = {
      wildcard: await open("wildcard"),
      both: await open("both"),
      completed: hasFew ? null : await open("completed"),
      unsigned: hasFew ? null : await open("unsigned"),
      deployments: hasFew ? null : await open("deployments"),
    };
    const elsewhere = await createIdleWebhook(context, agent);
    const odd = hasFew ? null : await openOddWebhooks(client, receiver, agent);
    const sameUrl = hasFew ? null : await openWebhooksOfOneUrl(client, receiver, agent);

    const invoked: Exchange[] = [];
    // If the limit per minute is low, sends only `minBody`. The probe `invokedAtMin` then reuses this response.
    for (const body of hasFew ? [minBody] : invokeBodies())
      invoked.push(await client.invoke(agent, body, { noRetry: true }));
    const count = invoked.filter(isSuccess).length;
    const perInvoke = { wildcard: 2, both: 2, completed: 1, unsigned: 1, deployments: 0 } as const;
    const expected = Object.entries(opened).flatMap(([name, webhook]) =>
      webhook !== null && isSuccess(webhook.exchange)
        ? [{ address: webhook.address, count: count * perInvoke[name as Subscription] }]
        : [],
    );
    const expectedOdd = unusualSecretKinds.flatMap((kind) =>
      odd !== null && isSuccess(odd[kind].exchange)
        ? [{ address: odd[kind].address, count: count * oddDeliveriesPerInvoke(kind) }]
        : [],
    );
    const expectedSame = sameUrl === null ? [] : [expectedForSharedUrl(sameUrl, count)];
    if (reach.unreachable === null) await awaitDeliveries([...expected, ...expectedOdd, ...expectedSame], time);
    await awaitUnexpected(time);

    const id = webhookIdOf(opened.both.exchange);
    const get = (rest: string): Promise<Exchange | null> =>
      id === null ? Promise.resolve(null) : client.send("GET", webhookPath(id, rest));
    const listed = await get("/deliveries");
    const shown = hasFew ? [] : [await get("/metrics"), await get("")].filter((each) => each !== null);
    return {
      reach,
      webhooks: {
        wildcard: requestedWebhookOf(opened.wildcard),
        both: requestedWebhookOf(opened.both),
        completed: opened.completed && requestedWebhookOf(opened.completed),
        unsigned: opened.unsigned && requestedWebhookOf(opened.unsigned),
        deployments: opened.deployments && requestedWebhookOf(opened.deployments),
      },
      elsewhere: elsewhere === null ? null : requestedWebhookOf(elsewhere),
      odd: odd && requestedOddWebhooks(odd),
      sameUrl: sameUrl && { created: sameUrl.created, deliveries: [...sameUrl.address.deliveries()] },
      invoked,
      deliveries: receiver.deliveries().filter(({ hook, since }) => hook.startsWith(hookPrefix) && since === undefined),
      listed,
      shown,
    };
  },
);

async function createIdleWebhook(context: ProbeContext<"receiver">, agent: string): Promise<OpenedWebhook | null> {
  const { client, given, target } = context;
  const other = chooseIdleAgent(context, agent);
  if (other === null) return null;
  // The run can invoke the answering agent thousands of times, so a webhook for this agent selects only one event.
  const events = other === target.agents.answering ? ["agent.completed"] : ["agent.*"];
  return createWebhook(client, given.receiver, { name: "elsewhere", events, agent: other });
}

/** Returns the bodies of the invokes. Each query is unique, so that checks can find the deliveries of each invoke. */
const invokeBodies = (): readonly object[] => [
  { query: `Hello. ${randomUUID()}` },
  { query: `${unicodeText} ${randomUUID()}` },
  { query: `Hello again. ${randomUUID()}`, parameters: { context: largeContext } },
];

function chooseIdleAgent(context: ProbeContext, agent: string): string | null {
  const { answering, ...others } = context.target.agents;
  const [idle] = idleAgents(context, agent);
  const found = idle ?? Object.values(others).find((each) => each !== agent && each !== answering);
  return found ?? (answering === agent ? null : (answering ?? null));
}

export interface WebhookForms {
  readonly numberAsUrl: Exchange;
  readonly textAsEvents: Exchange | null;
  readonly withoutUrl: Exchange | null;
  readonly unknownEvent: Exchange | null;
  readonly withoutAgent: RequestedWebhook | null;
  readonly withoutSecret: Exchange | null;
}

export const malformedWebhooks = probe(
  "webhooks are asked for with fields that are absent or of another type",
  {
    needs: ["receiver", "agents.answering"],
    requests: (target) => (hasFewRequests(target) ? 1 : 6),
    executions: 0,
    creates: { webhooks: 4 },
    createsFew: { webhooks: 1 },
  },
  async ({ client, given: { receiver }, target }): Promise<WebhookForms> => {
    const agent = agentIdOf({ target });
    const { url } = receiver.open(`${hookPrefix}never-called`, { secret: null, replies: [] });
    const valid = { url, events: ["deployment.deleted"], agent_id: agent, secret: generateSecret() };
    const create = (body: object): Promise<Exchange> =>
      client.send("POST", "/webhooks", { json: { ...valid, ...body } });
    const ofAnyAgent = { name: "without-agent", events: deploymentEvents, agent: null };
    const numberAsUrl = await create({ url: 5 });
    const hasFew = hasFewRequests(target);
    return {
      numberAsUrl,
      textAsEvents: hasFew ? null : await create({ events: "agent.*" }),
      withoutUrl: hasFew ? null : await create({ url: undefined }),
      unknownEvent: hasFew ? null : await create({ events: ["agent.no-such-event"] }),
      withoutAgent: hasFew ? null : requestedWebhookOf(await createWebhook(client, receiver, ofAnyAgent)),
      withoutSecret: hasFew ? null : await create({ secret: undefined }),
    };
  },
);

/** Requests a webhook without `url` and `events`. The document does not show the response if two fields are missing. */
export const bareWebhookRequested = probeIfManyRequests(
  "a webhook is asked for without its url and its events",
  {
    needs: ["receiver", "agents.answering"],
    requests: 1,
    executions: 0,
    creates: { webhooks: 1 },
    since: "1.2",
  },
  async ({ client, target }): Promise<Exchange> =>
    client.send("POST", "/webhooks", { json: { agent_id: agentIdOf({ target }), secret: generateSecret() } }),
);
