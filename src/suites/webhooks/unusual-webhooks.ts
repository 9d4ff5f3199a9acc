import type { Receiver, Hook } from "../../receiver/receiver.ts";
import type { Client } from "../../run/send/client.ts";
import {
  createWebhook,
  type ExpectedDeliveries,
  type OpenedWebhook,
  type RequestedWebhook,
  requestedWebhookOf,
  webhookIdOf,
} from "./create-webhook.ts";
import type { Delivery } from "../../evidence/delivery.ts";
import type { Exchange } from "../../evidence/exchange.ts";
import { generateSecret } from "../../evidence/secret.ts";
import { isSuccess } from "../shared/response.ts";

/**
 * Webhook secrets that a server can misread, e.g. as numbers or base64. Reports redact only `digits alone`, because a
 * secret without digits could be a common word.
 */
const oddSecrets = {
  "not ASCII, with blanks at its ends": "  Schlüssel für Grüße 钥匙 ",
  "digits alone": "0070042000700420",
  base64: "ConformanceTest/Key+ab==",
  long: "Please keep this secret. ".repeat(8).trim(),
} as const;

type SecretKind = keyof typeof oddSecrets;

/** Kind of secret of the webhook whose URL has an unusual query. The first delivery gets a 503, to cause a retry. */
export const secretKindWithQuery = "digits alone" satisfies SecretKind;
/** Query of a webhook's URL. A server that parses and rewrites the query would change it, e.g. `%20` to `+`. */
const unusualQuery = "?token=a%20b&x=2&x=1&empty=&sign=%2b";

/** Kind of secret of the webhook that selects {@link mixedEvents}: one event by its name, others by a wildcard. */
export const secretKindWithMixedEvents = "base64" satisfies SecretKind;
export const mixedEvents = ["deployment.created", "agent.*"] as const;

const failingOnce = [
  { kind: "status", status: 503 },
  { kind: "status", status: 200 },
] as const;

export type OddWebhooks<W extends RequestedWebhook = RequestedWebhook> = Readonly<Record<SecretKind, W>>;

export async function openOddWebhooks(
  client: Client,
  receiver: Receiver,
  agent: string,
): Promise<OddWebhooks<OpenedWebhook>> {
  const opened: Partial<Record<SecretKind, OpenedWebhook>> = {};
  for (const kind of unusualSecretKinds)
    opened[kind] = await createWebhook(client, receiver, {
      name: `secret-${kind.replaceAll(/\W+/g, "-").toLowerCase()}`,
      events: kind === secretKindWithMixedEvents ? mixedEvents : ["agent.completed"],
      agent,
      secret: oddSecrets[kind],
      since: "1.2",
      ...(kind === secretKindWithQuery && { query: unusualQuery, replies: failingOnce }),
    });
  return opened as OddWebhooks<OpenedWebhook>;
}

export const oddDeliveriesPerInvoke = (kind: SecretKind): number => (kind === secretKindWithMixedEvents ? 2 : 1);

export const unusualSecretKinds = Object.keys(oddSecrets) as SecretKind[];

export const requestedOddWebhooks = (odd: OddWebhooks<OpenedWebhook>): OddWebhooks =>
  Object.fromEntries(unusualSecretKinds.map((kind) => [kind, requestedWebhookOf(odd[kind])])) as OddWebhooks;

export interface WebhooksOfOneUrl {
  readonly created: readonly [Exchange, Exchange];
  /**
   * Deliveries to the URL that the two webhooks share. For each delivery, the receiver computes one signature with each
   * webhook's secret.
   */
  readonly deliveries: readonly Delivery[];
}

interface OpenedWebhooksOfOneUrl {
  readonly created: WebhooksOfOneUrl["created"];
  readonly address: Hook;
}

/**
 * Creates two webhooks with the same URL. The receiver's address for them is named `same-url`, without the prefix
 * `webhook-`, so that most checks ignore its deliveries.
 */
export async function openWebhooksOfOneUrl(
  client: Client,
  receiver: Receiver,
  agent: string,
): Promise<OpenedWebhooksOfOneUrl> {
  const [first, second] = [generateSecret(), generateSecret()];
  const address = receiver.open("same-url", {
    since: "1.2",
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

export function areTwoWebhooks([first, second]: WebhooksOfOneUrl["created"]): boolean {
  const id = webhookIdOf(first);
  return isSuccess(first) && isSuccess(second) && (id === null || id !== webhookIdOf(second));
}

export const expectedForSharedUrl = (
  { address, created }: OpenedWebhooksOfOneUrl,
  completed: number,
): ExpectedDeliveries => ({
  address,
  count: completed * (areTwoWebhooks(created) ? 2 : created.filter(isSuccess).slice(0, 1).length),
});
