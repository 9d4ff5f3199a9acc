import type { Delivery } from "../../evidence/delivery.ts";
import type { Exchange } from "../../evidence/exchange.ts";
import { generateSecret } from "../../evidence/secret.ts";
import type { Hook, Receiver } from "../../receiver/receiver.ts";
import type { Client } from "../../run/send/client.ts";
import { isSuccess } from "../shared/response.ts";
import type { ExpectedDeliveries } from "./await-deliveries.ts";
import { receiverSince, webhookIdOf } from "./create-webhook.ts";

/** Two webhooks of one agent with one URL, but each with its own secret. */
export interface WebhooksOfOneUrl {
  readonly created: readonly [Exchange, Exchange];
  /** Deliveries to the URL. `computedSignature` belongs to the first webhook, `otherSignatures` to the second. */
  readonly deliveries: readonly Delivery[];
}

interface OpenedWebhooksOfOneUrl {
  readonly created: WebhooksOfOneUrl["created"];
  readonly address: Hook;
}

/** Creates two webhooks with one URL, without the usual prefix: checks would take second deliveries for retries. */
export async function openWebhooksOfOneUrl(
  client: Client,
  receiver: Receiver,
  agent: string,
): Promise<OpenedWebhooksOfOneUrl> {
  const [first, second] = [generateSecret(), generateSecret()];
  const address = receiverSince(receiver, "1.2").open("same-url", {
    secret: first,
    otherSecrets: [second],
    replies: [{ kind: "status", status: 200 }],
  });
  const create = (secret: string): Promise<Exchange> =>
    client.since("1.2").send("POST", "/webhooks", {
      json: { url: address.url, events: ["agent.completed"], agent_id: agent, secret },
    });
  return { address, created: [await create(first), await create(second)] };
}

/** Whether the target made two webhooks. It may refuse the second one, or merge it with the first. */
export function areTwoWebhooks([first, second]: WebhooksOfOneUrl["created"]): boolean {
  const id = webhookIdOf(first);
  return isSuccess(first) && isSuccess(second) && (id === null || id !== webhookIdOf(second));
}

/** Returns how many deliveries to wait for at the shared URL after `completed` executions. */
export const expectedOfOneUrl = (
  { address, created }: OpenedWebhooksOfOneUrl,
  completed: number,
): ExpectedDeliveries => ({
  address,
  count: completed * (areTwoWebhooks(created) ? 2 : created.filter(isSuccess).slice(0, 1).length),
});
