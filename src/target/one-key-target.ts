import type { z } from "zod";

import type { Network } from "../base/network/network.ts";
import type { PublishedTier } from "../spec/tiers.ts";
import { readBaseUrl } from "./base-url.ts";
import { checkedKey, webhooksOf } from "./target-file.ts";
import type { webhooksSchema } from "./target-file-schema.ts";
import { secretsOfNetwork } from "./network-settings.ts";
import { defaultKeyTraits, defaultTargetTraits, type Target } from "./target.ts";

/** Describes a target with a single key, by flags or options instead of a target file. */
export interface OneKeyTarget {
  /** Base URL, with or without `/v1`. */
  readonly baseUrl: string;
  readonly apiKey: string;
  readonly tier?: PublishedTier | undefined;
  /**
   * Id of the agent for invokes, and also for streams, which it may not support. Absent: discovery chooses an agent.
   */
  readonly agent?: string | undefined;
  readonly webhooks?: z.infer<typeof webhooksSchema> | undefined;
  readonly network: Network;
}

/**
 * Creates a target from a base URL and one key.
 *
 * @throws {UsageError} if the base URL or the key cannot be used
 */
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
    agents: agent === undefined ? {} : { answering: agent, streaming: agent },
    webhooks: webhooksOf(webhooks, baseUrl),
    network,
    callSecrets: secretsOfNetwork(network),
  };
}
