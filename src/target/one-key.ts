import type { z } from "zod";

import type { Network } from "../base/network/network.ts";
import type { PublishedTier } from "../spec/tiers.ts";
import { readBaseUrl } from "./base-url.ts";
import { readKey, webhooksOf } from "./file.ts";
import type { webhooksSchema } from "./file-schema.ts";
import { secretsOfNetwork } from "./network.ts";
import { defaultKeyTraits, defaultTargetTraits, type Target } from "./target.ts";

/** All that is known of a target that nobody wrote a file of. */
export interface OneKey {
  /** With or without `/v1`. */
  readonly baseUrl: string;
  readonly apiKey: string;
  readonly tier?: PublishedTier | undefined;
  /** It is promised to answer, and may stream. */
  readonly agent?: string | undefined;
  readonly webhooks?: z.infer<typeof webhooksSchema> | undefined;
  readonly network: Network;
}

/** @throws {UsageProblem} where address or key cannot be used */
export function oneKeyTarget({ baseUrl: given, apiKey, tier, agent, webhooks, network }: OneKey): Target {
  const baseUrl = readBaseUrl(given);
  const key = {
    name: "key",
    key: readKey(apiKey, "The API key"),
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
