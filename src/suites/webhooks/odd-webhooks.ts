import type { Receiver } from "../../receiver/receiver.ts";
import type { Client } from "../../run/send/client.ts";
import {
  createWebhook,
  type OpenedWebhook,
  type RequestedWebhook,
  requestedWebhookOf,
  withHooksSince,
} from "./create-webhook.ts";

/**
 * Secrets that a server may take for something else than a text. They protect nothing, and none looks like a random
 * secret, so that reports show them.
 */
const oddSecrets = {
  "not ASCII, with blanks at its ends": "  Schlüssel für Grüße 钥匙 ",
  "digits alone": "0070042000700420",
  base64: "ConformanceTest/Key+ab==",
  long: "Please keep this secret. ".repeat(8).trim(),
} as const;

type SecretKind = keyof typeof oddSecrets;

/** The webhook whose list of events names `agent.*` last. */
export const mixedKind = "base64" satisfies SecretKind;
export const mixedEvents = ["deployment.created", "agent.*"] as const;

/** Webhooks of the invoked agent with unusual secrets. A server may refuse some kinds. */
export type OddWebhooks<W extends RequestedWebhook = RequestedWebhook> = Readonly<Record<SecretKind, W>>;

/** Creates a webhook with each kind of secret. One of them also has an unusual list of events. */
export async function openOddWebhooks(
  client: Client,
  receiver: Receiver,
  agent: string,
): Promise<OddWebhooks<OpenedWebhook>> {
  const open = (kind: SecretKind): Promise<OpenedWebhook> =>
    createWebhook(client.since("1.2"), withHooksSince(receiver, "1.2"), {
      name: `secret-${kind.replaceAll(/\W+/g, "-").toLowerCase()}`,
      events: kind === mixedKind ? mixedEvents : ["agent.completed"],
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

/** Returns how many deliveries an invoke causes to a webhook with such a secret. */
export const oddDeliveriesPerInvoke = (kind: SecretKind): number => (kind === mixedKind ? 2 : 1);

export const oddKinds = Object.keys(oddSecrets) as SecretKind[];

/** Returns the evidence of these webhooks: leaves out their address objects, which JSON cannot store. */
export const requestedOddWebhooks = (odd: OddWebhooks<OpenedWebhook>): OddWebhooks => ({
  "not ASCII, with blanks at its ends": requestedWebhookOf(odd["not ASCII, with blanks at its ends"]),
  "digits alone": requestedWebhookOf(odd["digits alone"]),
  base64: requestedWebhookOf(odd.base64),
  long: requestedWebhookOf(odd.long),
});
