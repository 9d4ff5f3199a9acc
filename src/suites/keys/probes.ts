import { randomUUID } from "node:crypto";

import type { Exchange } from "../../evidence/exchange.ts";
import type { Client } from "../../run/client.ts";
import { probe, type Scene } from "../../run/probe.ts";
import type { Target, TargetKey } from "../../target/target.ts";
import { listingOf } from "../listing/pages.ts";
import { isSuccess, member } from "../answers/shape.ts";

const hello = { query: "Hello. Please answer in a few words." } as const;

export const keyUsageRead = probe("key usage is read", { requests: 1, reads: true }, async ({ client }) => ({
  read: await client.send("GET", "/keys/usage"),
}));

/** What a key starts with. A key itself is never kept. */
export interface Prefix {
  readonly name: string;
  /** Two letters and an underscore; `null` where the key starts otherwise. */
  readonly prefix: string | null;
}

export const prefixesSeen = probe(
  "the beginnings of the keys are looked at",
  { requests: 0, reads: true },
  async ({ target }) => ({
    prefixes: Object.values(target.keys).map(({ name, key }): Prefix => ({
      name,
      prefix: /^[A-Za-z]{2}_/.exec(key)?.[0] ?? null,
    })),
  }),
);

/** An invoke where an agent is known, else reading usage: what an expired key is judged by, too. */
const askOnce = (client: Client, agent: string | undefined): Promise<Exchange> =>
  agent === undefined
    ? client.send("GET", "/usage", { unpaced: true })
    : client.invoke(agent, hello, { unpaced: true });

/** While the temporary key lives: the positive control of its end. Before anything has let time pass. */
export const temporaryKeyUsed = probe(
  "a temporary key is used while it lives",
  { needs: ["keys.temporary"], requests: 0 },
  async ({ client, given, target }) => ({
    lifeSeconds: given["keys.temporary"].expiresInSeconds ?? 0,
    asked: await askOnce(client.as(given["keys.temporary"]), target.agents.answering),
  }),
);

/** The key was issued a little after the run began, or its server's clock is a little behind. */
const expiryMarginMs = 5000;
const endOfLifeMs = (key: TargetKey): number => (key.expiresInSeconds ?? 0) * 1000 + expiryMarginMs;

async function askOutlived({ client, given, target, time }: Scene<"keys.temporary">): Promise<Exchange> {
  // A clock that the run moves may stand still between the moves.
  const passedMs = time.canMove ? time.clockMs() : time.targetMs();
  await time.wait(endOfLifeMs(given["keys.temporary"]) - passedMs, "the temporary key must expire");
  return askOnce(client.as(given["keys.temporary"]), target.agents.answering);
}

/** Moves the clock to the end of the temporary key's life, and uses it once more; `null` where the clock cannot be moved. */
export const temporaryKeyOutlived = probe(
  "a temporary key is used after its life",
  { needs: ["keys.temporary"], requests: 0, lane: "alone" },
  async (scene) => ({ asked: scene.time.canMove ? await askOutlived(scene) : null }),
);

/** When the key that the probe takes is surely over. */
const temporaryLifeSeconds = (target: Target): number => {
  const temporary = Object.values(target.keys).find((key) => !key.expired && key.expiresInSeconds !== null);
  return temporary === undefined ? 0 : endOfLifeMs(temporary) / 1000;
};

/** The same on a real clock; late, so that webhooks are tried again in the meantime. `null` where the clock can be moved. */
export const temporaryKeyWaitedFor = probe(
  "a temporary key's life is waited for, and it is used after it",
  {
    needs: ["keys.temporary"],
    requests: 0,
    waits: { how: "since the start", seconds: temporaryLifeSeconds },
    lane: "limits",
  },
  async (scene) => ({ asked: scene.time.canMove ? null : await askOutlived(scene) }),
);

/** A webhook of an event that nothing in a run causes, so that nothing is ever sent to it. The receiver takes a name once. */
export function quietWebhook({ given, target }: Pick<Scene<"receiver">, "given" | "target">, name: string) {
  const { url } = given.receiver.open(name, { secret: null, replies: [{ kind: "status", status: 204 }] });
  const agent = target.agents.answering;
  const secret = `conformance-${randomUUID()}`;
  return { url, events: ["deployment.deleted"], secret, ...(agent === undefined ? {} : { agent_id: agent }) };
}

/** The positive control of whoever must not create one. */
export const webhookCreated = probe(
  "a webhook is created with the main key",
  { needs: ["receiver"], requests: 1, creates: { webhooks: 1 } },
  async (scene) => ({ created: await scene.client.send("POST", "/webhooks", { json: quietWebhook(scene, "quiet") }) }),
);

export const readerWrote = probe(
  "a read-only key reads, and tries to create a webhook and an alert, and to invoke",
  { needs: ["keys.readOnly", "receiver"], requests: 0 },
  async (scene) => {
    const reader = scene.client.as(scene.given["keys.readOnly"]);
    const agent = scene.target.agents.answering;
    const read = await reader.send("GET", "/usage");
    const webhook = quietWebhook(scene, "of-read-only-key");
    const wrote = await reader.send("POST", "/webhooks", { json: webhook });
    const alert = { type: "rate_limit", threshold: 99, webhook_url: webhook.url };
    const alerted = await reader.send("POST", "/alerts", { json: alert });
    return { read, wrote, alerted, invoked: agent === undefined ? null : await reader.invoke(agent, hello) };
  },
);

export interface AgentsTried {
  /** The key's own agent, with that key. */
  readonly own: Exchange;
  /** Another agent with that key, invoked and streamed, and with the main key; `null` where no other is known. */
  readonly other: { readonly asked: Exchange; readonly streamed: Exchange; readonly control: Exchange } | null;
}

export const otherAgentTried = probe(
  "a key that is restricted to one agent invokes that agent, and another, which it also streams",
  { needs: ["keys.oneAgent"], requests: 1 },
  async (scene): Promise<AgentsTried> => {
    const { client, given } = scene;
    const key = given["keys.oneAgent"];
    const allowed = key.agents ?? [];
    const restricted = client.as(key);
    const own = await restricted.invoke(allowed[0] ?? "", hello);
    const agent = otherAgent(scene, allowed);
    if (agent === undefined) return { own, other: null };
    const control = await client.invoke(agent, hello);
    const asked = await restricted.invoke(agent, hello);
    return { own, other: { control, asked, streamed: await restricted.stream(agent, hello) } };
  },
);

/** An agent that the key may not call, and that answers as far as is known. */
function otherAgent({ target: { agents }, look }: Scene, allowed: readonly string[]): string | undefined {
  const unfit = [agents.slow, agents.slowStreaming, agents.timingOut, agents.failing, agents.failingInStream];
  const avoided = [...unfit, agents.overloaded, agents.unhealthy, agents.webhooked, ...allowed];
  const named = [agents.answering, agents.streaming, agents.remembering, agents.degraded];
  return [...named, ...listedIds(look.listing)].find((id) => id !== undefined && !avoided.includes(id));
}

function listedIds(listing: Exchange): string[] {
  const { agents } = listingOf(listing);
  return (Array.isArray(agents) ? agents : []).flatMap((item) => {
    const id: unknown = member(item, "agent_id") ?? member(item, "id");
    return typeof id === "string" ? [id] : [];
  });
}

export const elsewhereTried = probe(
  "a key that may only come from other addresses is used from here, and says that it comes from there",
  { needs: ["keys.elsewhere"], requests: 0, reads: true },
  async ({ client, given, look, target }) => {
    const key = given["keys.elsewhere"];
    const restricted = client.as(key);
    const there = key.allowedIps?.[0]?.replace(/\/\d+$/, "") ?? "";
    const asked = await restricted.send("GET", "/usage");
    // Whoever may write this header may claim any address: only a proxy that the server knows is to be believed.
    const claimed = isSuccess(asked)
      ? null
      : await restricted.send("GET", "/usage", { headers: [["X-Forwarded-For", there]] });
    return { control: look.usage, asked, claimed, isDirect: target.isDirect };
  },
);
