import type { z } from "zod";

import type { Network } from "../base/network/network.ts";
import type { PublishedTier } from "../spec/tiers.ts";
import { readBaseUrl, readHttpUrl } from "./base-url.ts";
import { checkedKey, webhooksOf, withDefaultStreamingAgent } from "./target-file.ts";
import type { webhooksSchema } from "./target-file-schema.ts";
import { secretsOfNetwork } from "./network-settings.ts";
import { defaultKeyTraits, defaultTargetTraits, type Target } from "./target.ts";

/** Options for a target with a single key, without a target file. */
interface OneKeyTarget {
  readonly baseUrl: string;
  readonly apiKey: string;
  readonly tier?: PublishedTier | undefined;
  /** Id of the agent for invokes and streams. Default: discovery finds an agent. */
  readonly agent?: string | undefined;
  readonly webhooks?: z.infer<typeof webhooksSchema> | undefined;
  readonly network: Network;
}

export function oneKeyTarget({ baseUrl: given, apiKey, tier, agent, webhooks, network }: OneKeyTarget): Target {
  const baseUrl = readBaseUrl(given);
  const key = {
    name: "key",
    key: checkedKey(apiKey, "The API key"),
    ...defaultKeyTraits,
    tier: tier ?? null,
    variable: "CONFORMANCE_API_KEY",
  };
  return {
    ...defaultTargetTraits,
    name: new URL(baseUrl).host,
    baseUrl,
    keys: { key },
    ...withDefaultStreamingAgent(agent === undefined ? {} : { answering: agent }),
    webhooks: webhooksOf(webhooks, baseUrl),
    network,
    callSecrets: secretsOfNetwork(network),
  };
}

interface ReceiverTargetOptions {
  readonly url: string;
  readonly secrets: readonly string[];
  /** Values of the user's additional request headers. All are redacted, because a value can be a secret. */
  readonly headerValues: readonly string[];
  readonly network: Network;
}

/** Describes a webhook receiver as a target. Webhook secrets become the target's keys, so that they are redacted. */
export function receiverTarget({ url: given, secrets, headerValues, network }: ReceiverTargetOptions): Target {
  const url = readHttpUrl(given, { what: "The receiver's address", example: "https://hooks.example.com/agents" });
  url.hash = "";
  const keys = secrets.map((key, at) => {
    const name = secrets.length === 1 ? "webhook secret" : `secret of webhook ${at + 1}`;
    return [name, { ...defaultKeyTraits, name, key, variable: "CONFORMANCE_WEBHOOK_SECRET" }] as const;
  });
  return {
    ...defaultTargetTraits,
    name: url.host,
    baseUrl: url.href,
    keys: Object.fromEntries(keys),
    network,
    callSecrets: [...secretsOfNetwork(network), ...headerValues, ...url.searchParams.values()],
  };
}
