import { randomUUID } from "node:crypto";

import type { Delivery } from "../../evidence/delivery.ts";
import type { Exchange } from "../../evidence/exchange.ts";
import { generateSecret } from "../../evidence/new-secret.ts";
import { deploymentEvents } from "../../spec/events.ts";
import { hasFewRequests } from "../../run/plan/needs.ts";
import { probe, type ProbeContext } from "../../run/probe.ts";
import { minBody } from "../invoke/probes.ts";
import { unicodeText } from "../shared/unicode-text.ts";
import { isSuccess } from "../shared/response.ts";
import {
  agentIdOf,
  type RequestedWebhook,
  requestedWebhookOf,
  awaitDeliveries,
  createWebhook,
  hookPrefix,
  type OpenedWebhook,
  type Reach,
  reachOf,
  awaitUnexpected,
  webhookIdOf,
  webhookPath,
} from "./create-webhook.ts";
import { idleAgents } from "./idle-agents.ts";

/** Webhooks of the agent that is then invoked, by what they are for. */
export type Subscription =
  /** `agent.*` */
  | "wildcard"
  /** `agent.invoked` and `agent.completed` */
  | "both"
  /** `agent.completed` alone */
  | "completed"
  /** `agent.completed`, and no secret */
  | "unsigned"
  /** The four deployment events */
  | "deployments";

/** Those that a run makes also where its key has few requests. */
type LeastSubscription = "wildcard" | "both";

/** What webhooks got of an agent that was invoked. */
export interface InvokedWithWebhooks {
  readonly reach: Reach;
  /** `null`: not asked for, since the key has few requests. */
  readonly webhooks: Readonly<Record<LeastSubscription, RequestedWebhook>> &
    Readonly<Record<Exclude<Subscription, LeastSubscription>, RequestedWebhook | null>>;
  /** A webhook of another agent, which nobody invoked; `null` where the target has none. */
  readonly elsewhere: RequestedWebhook | null;
  readonly invoked: readonly Exchange[];
  /** All that came, in order of arrival. */
  readonly deliveries: readonly Delivery[];
  /** Deliveries of the webhook of both events; `null` where its id is not known. */
  readonly listed: Exchange | null;
  /** Answers of paths that may show its metrics. */
  readonly shown: readonly Exchange[];
}

const subscribed = {
  wildcard: { events: ["agent.*"], isSigned: true, status: 200 },
  both: { events: ["agent.invoked", "agent.completed"], isSigned: true, status: 201 },
  completed: { events: ["agent.completed"], isSigned: true, status: 204 },
  unsigned: { events: ["agent.completed"], isSigned: false, status: 202 },
  deployments: { events: deploymentEvents, isSigned: true, status: 200 },
} as const;

/** Big enough to come in several pieces; it stands where it costs few tokens. */
const largeContext = { text: "conformance ".repeat(1700) };

export const invokedWithWebhooks = probe(
  "webhooks are created for an agent, and it is invoked",
  {
    needs: ["receiver", "agents.answering"],
    requests: (target) => (hasFewRequests(target) ? 5 : 12),
    lane: "alone",
    creates: { webhooks: 6 },
    createsFew: { webhooks: 3 },
  },
  async (scene): Promise<InvokedWithWebhooks> => {
    const { client, given, target, time } = scene;
    const { receiver } = given;
    const reach = await reachOf(receiver, target);
    const agent = agentIdOf({ target });
    const isLean = hasFewRequests(target);
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
      completed: isLean ? null : await open("completed"),
      unsigned: isLean ? null : await open("unsigned"),
      deployments: isLean ? null : await open("deployments"),
    };
    const elsewhere = await openElsewhere(scene, agent);

    const invoked: Exchange[] = [];
    // What a key with few requests has its agent asked once shows what an invoke takes, too.
    for (const body of isLean ? [minBody] : bodies()) invoked.push(await client.invoke(agent, body, { noRetry: true }));
    const count = invoked.filter(isSuccess).length;
    const perInvoke = { wildcard: 2, both: 2, completed: 1, unsigned: 1, deployments: 0 } as const;
    const expected = Object.entries(opened).flatMap(([name, made]) =>
      made !== null && isSuccess(made.exchange)
        ? [{ address: made.address, count: count * perInvoke[name as Subscription] }]
        : [],
    );
    if (reach.unreachable === null) await awaitDeliveries(expected, time);
    await awaitUnexpected(time);

    const id = webhookIdOf(opened.both.exchange);
    const get = (rest: string): Promise<Exchange | null> =>
      id === null ? Promise.resolve(null) : client.send("GET", webhookPath(id, rest));
    const listed = await get("/deliveries");
    const shown = isLean ? [] : [await get("/metrics"), await get("")].filter((each) => each !== null);
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
      invoked,
      deliveries: receiver.deliveries().filter(({ hook }) => hook.startsWith(hookPrefix)),
      listed,
      shown,
    };
  },
);

/** A webhook of another agent than the one that is invoked; `null` where the target has none. */
async function openElsewhere(scene: ProbeContext<"receiver">, agent: string): Promise<OpenedWebhook | null> {
  const { client, given, target } = scene;
  const other = otherAgent(scene, agent);
  if (other === null) return null;
  // One delivery is enough for what the rest of the run calls by the thousand.
  const events = other === target.agents.answering ? ["agent.completed"] : ["agent.*"];
  return createWebhook(client, given.receiver, { name: "elsewhere", events, agent: other, isSigned: true });
}

/** What an agent is invoked with: plain ASCII, many scripts, and a large body. No two are alike, so that events can be told apart. */
const bodies = (): readonly object[] => [
  { query: `Hello. ${randomUUID()}` },
  { query: `${unicodeText} ${randomUUID()}` },
  { query: `Hello again. ${randomUUID()}`, parameters: { context: largeContext } },
];

/** Another agent than the one that is invoked, for a webhook that ought to stay silent: one that the run calls for nothing, or then seldom. */
function otherAgent(scene: ProbeContext, agent: string): string | null {
  const { answering, ...others } = scene.target.agents;
  const [idle] = idleAgents(scene, agent);
  const quiet = idle ?? Object.values(others).find((each) => each !== agent && each !== answering);
  return quiet ?? (answering === agent ? null : (answering ?? null));
}

/** Bodies that ask for a webhook, and are not all as the document has them. They select what no invoke causes. */
export interface MalformedWebhooks {
  readonly numberAsUrl: Exchange;
  /** `null`, as all that follow: not asked for, since the key has few requests. */
  readonly textAsEvents: Exchange | null;
  readonly withoutUrl: Exchange | null;
  readonly unknownEvent: Exchange | null;
  /** Selects every deployment event of whatever agent, where the target takes it so. */
  readonly withoutAgent: RequestedWebhook | null;
  readonly withoutSecret: Exchange | null;
}

export const malformedWebhooks = probe(
  "webhooks are asked for with fields that are absent or of another type",
  {
    needs: ["receiver", "agents.answering"],
    requests: (target) => (hasFewRequests(target) ? 1 : 6),
    creates: { webhooks: 4 },
    createsFew: { webhooks: 1 },
  },
  async ({ client, given: { receiver }, target }): Promise<MalformedWebhooks> => {
    const agent = agentIdOf({ target });
    const { url } = receiver.open(`${hookPrefix}never-called`, { secret: null, replies: [] });
    const sound = { url, events: ["deployment.deleted"], agent_id: agent, secret: generateSecret() };
    const ask = (body: object): Promise<Exchange> => client.send("POST", "/webhooks", { json: { ...sound, ...body } });
    const untied = { name: "without-agent", events: deploymentEvents, agent: null, isSigned: true };
    const numberAsUrl = await ask({ url: 5 });
    const isLean = hasFewRequests(target);
    return {
      numberAsUrl,
      textAsEvents: isLean ? null : await ask({ events: "agent.*" }),
      withoutUrl: isLean ? null : await ask({ url: undefined }),
      unknownEvent: isLean ? null : await ask({ events: ["agent.no-such-event"] }),
      withoutAgent: isLean ? null : requestedWebhookOf(await createWebhook(client, receiver, untied)),
      withoutSecret: isLean ? null : await ask({ secret: undefined }),
    };
  },
);
