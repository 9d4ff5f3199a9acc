import { randomUUID } from "node:crypto";

import { hasValidSignature } from "../../evidence/delivery.ts";
import { hasFewRequests } from "../../run/plan/needs.ts";
import { check } from "../../run/judge/check.ts";
import { breach, holds, unproven } from "../../run/judge/finding.ts";
import { probe } from "../../run/probe.ts";
import { SkipError } from "../../run/skip-reason.ts";
import { allDeliveries } from "../deliveries/probes.ts";
import { isSuccess } from "../shared/response.ts";
import { awaitDeliveries, deliveriesTo } from "./await-deliveries.ts";
import {
  agentIdOf,
  createWebhook,
  provenReachOf,
  type RequestedWebhook,
  requestedWebhookOf,
} from "./create-webhook.ts";
import { invokedWithWebhooks } from "./probes.ts";

/**
 * Secrets that a server may take for something else than a text. They protect nothing, and none looks like a random
 * secret, so that reports show them.
 */
export const secretKinds = {
  "not ASCII": "Schlüssel für Grüße 钥匙",
  "digits alone": "0070042",
  hexadecimal: "deadbeefcafebabe",
  base64: "ConformanceTest/Key+ab==",
  true: "true",
  "with blanks at both ends": "  a secret with blanks  ",
  long: "Please keep this secret. ".repeat(8).trim(),
} as const satisfies Readonly<Record<string, string>>;

export type SecretKind = keyof typeof secretKinds;
const kinds = Object.keys(secretKinds) as SecretKind[];

/** Webhooks of one agent, by the kind of their secret. A server may refuse some kinds. */
export interface WebhooksByKindOfSecret {
  readonly webhooks: readonly { readonly kind: SecretKind; readonly webhook: RequestedWebhook }[];
}

export const secretsOfAllKinds = probe(
  "webhooks with secrets of several kinds are created for an agent, and it is invoked",
  {
    needs: ["receiver", "agents.answering"],
    requests: (target) => (hasFewRequests(target) ? 0 : kinds.length + 1),
    executions: (target) => (hasFewRequests(target) ? 0 : 1),
    stage: "exclusive",
    after: [invokedWithWebhooks],
    creates: { webhooks: kinds.length },
    createsFew: {},
    since: "1.1",
  },
  async ({ client, given: { receiver }, target, time }): Promise<WebhooksByKindOfSecret> => {
    if (hasFewRequests(target)) throw new SkipError("the key has few requests a minute");
    const reach = await provenReachOf(receiver, target);
    const agent = agentIdOf({ target });
    const opened = [];
    for (const kind of kinds) {
      const name = `secret-${kind.replaceAll(" ", "-").toLowerCase()}`;
      const options = { name, events: ["agent.completed"], agent, isSigned: true, secret: secretKinds[kind] };
      opened.push({ kind, webhook: await createWebhook(client, receiver, options) });
    }
    const invoked = await client.invoke(agent, { query: `Hello. ${randomUUID()}` }, { noRetry: true });
    const expected = opened
      .filter(({ webhook }) => isSuccess(webhook.exchange))
      .map(({ webhook: { address } }) => ({ address, count: 1 }));
    if (isSuccess(invoked) && reach.unreachable === null) await awaitDeliveries(expected, time);
    return { webhooks: opened.map(({ kind, webhook }) => ({ kind, webhook: requestedWebhookOf(webhook) })) };
  },
);

export const secretKindsCheck = check(
  "HOOK-21",
  { asked: secretsOfAllKinds, all: allDeliveries },
  ({ asked: { webhooks }, all }) => {
    const created = webhooks.filter(({ webhook }) => isSuccess(webhook.exchange));
    const signed = created.flatMap(({ kind, webhook }) =>
      deliveriesTo(all.deliveries, webhook.hook).map((delivery) => ({ kind, webhook, delivery })),
    );
    const wrong = signed.find(({ delivery }) => !hasValidSignature(delivery));
    if (wrong !== undefined)
      return breach(
        `a signature keyed with the secret as it was sent (kind: ${wrong.kind})`,
        "a signature that is keyed otherwise",
        wrong.delivery,
        wrong.webhook.exchange,
      );
    return signed.length > 0 ? holds() : unproven("no delivery came to a webhook with such a secret");
  },
  { as: "every kind of secret", since: "1.1" },
);
