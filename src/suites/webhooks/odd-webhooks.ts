import type { Receiver } from "../../receiver/receiver.ts";
import type { Client } from "../../run/send/client.ts";
import {
  createWebhook,
  type OpenedWebhook,
  type RequestedWebhook,
  requestedWebhookOf,
  receiverSince,
} from "./create-webhook.ts";

/** Secrets that a server may mistake for something else than text. None looks random, because reports hide those. */
const oddSecrets = {
  "not ASCII, with blanks at its ends": "  Schlüssel für Grüße 钥匙 ",
  "digits alone": "0070042000700420",
  base64: "ConformanceTest/Key+ab==",
  long: "Please keep this secret. ".repeat(8).trim(),
} as const;

type SecretKind = keyof typeof oddSecrets;

/** The kind of secret of the webhook whose list of events ends with `agent.*`. */
export const secretOfMixedEvents = "base64" satisfies SecretKind;
export const mixedEvents = ["deployment.created", "agent.*"] as const;

/** Webhooks with unusual secrets, by the kind of secret. A server may refuse some of them. */
export type OddWebhooks<W extends RequestedWebhook = RequestedWebhook> = Readonly<Record<SecretKind, W>>;

/** Creates a webhook with each kind of secret. One of them also has an unusual list of events. */
export async function openOddWebhooks(
  client: Client,
  receiver: Receiver,
  agent: string,
): Promise<OddWebhooks<OpenedWebhook>> {
  const open = (kind: SecretKind): Promise<OpenedWebhook> =>
    createWebhook(client.since("1.2"), receiverSince(receiver, "1.2"), {
      name: `secret-${kind.replaceAll(/\W+/g, "-").toLowerCase()}`,
      events: kind === secretOfMixedEvents ? mixedEvents : ["agent.completed"],
      agent,
      isSigned: true,
      secret: oddSecrets[kind],
    });
  return {
    "not ASCII, with blanks at its ends": await open("not ASCII, with blanks at its ends"),
    "digits alone": await open("digits alone"),
    base64: await open("base64"),
    long: await open("long"),
  };
}

/** Returns how many deliveries one invoke causes to the webhook with this kind of secret. */
export const oddDeliveriesPerInvoke = (kind: SecretKind): number => (kind === secretOfMixedEvents ? 2 : 1);

export const oddKinds = Object.keys(oddSecrets) as SecretKind[];

/** Returns the webhooks as evidence, without their address objects, which JSON cannot store. */
export const requestedOddWebhooks = (odd: OddWebhooks<OpenedWebhook>): OddWebhooks => ({
  "not ASCII, with blanks at its ends": requestedWebhookOf(odd["not ASCII, with blanks at its ends"]),
  "digits alone": requestedWebhookOf(odd["digits alone"]),
  base64: requestedWebhookOf(odd.base64),
  long: requestedWebhookOf(odd.long),
});
