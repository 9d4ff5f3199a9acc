import type { z } from "zod";

import { withoutUndefined } from "../base/json.ts";
import type { Network } from "../base/network/network.ts";
import { nonEmpty, joinWithOr } from "../base/text.ts";
import { line, UsageError } from "../base/line.ts";
import { publishedTierNames, type PublishedTier } from "../spec/tiers.ts";
import { webhooksSchema } from "../target/target-file-schema.ts";
import { type NetworkFlags, withDefaultStreamingAgent, readTargetFile, webhooksOf } from "../target/target-file.ts";
import { type EnvironmentVariables, readNetwork } from "../target/network-settings.ts";
import { oneKeyTarget } from "../target/target-from-options.ts";
import type { Target } from "../target/target.ts";
import { patchesByName } from "../reference/catalogue.ts";
import type { Patch } from "../reference/patch.ts";
import { registerSecrets } from "./errors.ts";
import { flagForSetting, type FlagsOf, repeatable } from "./options.ts";

export const networkOptions = {
  "--proxy <url>":
    "send everything through this proxy, loopback too; none for no proxy (otherwise HTTPS_PROXY, HTTP_PROXY, NO_PROXY)",
  "--ca <file>": "CA certificates of your own (PEM), trusted in addition to the machine's",
  "--client-cert <file>": "client certificate (PEM)",
  "--client-key <file>": "key of the client certificate (PEM)",
} as const;

export const targetOptions = {
  "--base-url <url>": "address of the deployment, with or without /v1 (or CONFORMANCE_BASE_URL)",
  "--api-key <key>": "API key (better: CONFORMANCE_API_KEY, which no process list shows)",
  "--tier <tier>": `tier of that key: ${joinWithOr(publishedTierNames)} (otherwise detected from its headers, if possible)`,
  "--agent <id>": "agent that answers (otherwise found through the list)",
  "--target <file>": "target file: more keys, agents, a test clock",
  "--receiver-listen <host:port>": "where the harness listens for deliveries; port 0 takes a free one",
  "--receiver-url <url>": "address under which the target reaches it, such as a tunnel's",
  ...networkOptions,
} as const;

export type NetworkFlagValues = FlagsOf<typeof networkOptions>;
export type TargetFlags = FlagsOf<typeof targetOptions>;

export const networkFlagsOf = ({ proxy, ca, clientCert, clientKey }: NetworkFlagValues): NetworkFlags => ({
  network: withoutUndefined({ proxy, ca, clientCert, clientKey }),
  nameOf: flagForSetting,
});

export function networkFromFlags(flags: NetworkFlagValues, environment: EnvironmentVariables = process.env): Network {
  const { network, nameOf } = networkFlagsOf(flags);
  return readNetwork(network, { nameOf, folder: "." }, environment);
}

/** Reads the target from flags, environment or a target file. Returns `null` for the embedded server. */
export const readTarget = (flags: TargetFlags, environment: EnvironmentVariables = process.env): Target | null =>
  registerSecrets(targetFromFlags(flags, environment));

function targetFromFlags(flags: TargetFlags, environment: EnvironmentVariables): Target | null {
  if (flags.target !== undefined) return targetFromFile(flags, flags.target, environment);
  const baseUrl = flags.baseUrl ?? nonEmpty(environment["CONFORMANCE_BASE_URL"]);
  const key = flags.apiKey ?? nonEmpty(environment["CONFORMANCE_API_KEY"]);
  if (baseUrl === undefined) {
    const proxyAndCertificates = ["proxy", "ca", "clientCert", "clientKey"] as const;
    const needsTarget = ["apiKey", "agent", "tier", "receiverListen", "receiverUrl", ...proxyAndCertificates] as const;
    for (const name of needsTarget)
      if (flags[name] !== undefined)
        throw new UsageError(line`${flagForSetting(name)} needs a target: give --base-url as well.`);
    return null;
  }
  if (key === undefined)
    throw new UsageError(line`There is a base URL but no API key. Set CONFORMANCE_API_KEY, or give --api-key.`);
  return oneKeyTarget({
    baseUrl,
    apiKey: key,
    agent: flags.agent,
    tier: tierOf(flags),
    webhooks: receiverOf(flags),
    network: networkFromFlags(flags, environment),
  });
}

function targetFromFile(flags: TargetFlags, path: string, environment: EnvironmentVariables): Target {
  for (const name of ["baseUrl", "apiKey", "tier"] as const)
    if (flags[name] !== undefined)
      throw new UsageError(line`${flagForSetting(name)} and --target exclude each other: the target file says it.`);
  const file = readTargetFile(path, environment, networkFlagsOf(flags));
  const receiver = receiverOf(flags);
  const target = receiver === undefined ? file : withReceiver(file, receiver);
  if (flags.agent === undefined) return target;
  const { streaming: _, ...agents } = target.agents;
  return { ...target, ...withDefaultStreamingAgent({ ...agents, answering: flags.agent }) };
}

function withReceiver(file: Target, receiver: z.infer<typeof webhooksSchema>): Target {
  const webhooks = webhooksOf(receiver, file.baseUrl);
  return { ...file, webhooks: webhooks && { ...webhooks, sources: file.webhooks?.sources ?? null } };
}

function tierOf({ tier }: TargetFlags): PublishedTier | undefined {
  const published = publishedTierNames.find((name) => name === tier);
  if (tier === undefined || published !== undefined) return published;
  throw new UsageError(
    line`--tier is ${JSON.stringify(tier)}; allowed: ${publishedTierNames.join(", ")}. Custom tiers go into a target file.`,
  );
}

function receiverOf({ receiverListen, receiverUrl }: TargetFlags): z.infer<typeof webhooksSchema> | undefined {
  if (receiverListen === undefined && receiverUrl === undefined) return undefined;
  const parsed = webhooksSchema.safeParse({ listen: receiverListen, publicUrl: receiverUrl });
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  const flag = issue?.path[0] === "publicUrl" ? "--receiver-url" : "--receiver-listen";
  throw new UsageError(line`${flag}: ${issue?.message ?? "cannot be used"}.`);
}

/** The options that change the embedded server. A fault breaks clauses on purpose; a variant is legal. */
export const faultAndVariantOptions = {
  "--fault <name>": repeatable("embedded server only: break one thing on purpose"),
  "--variant <name>": repeatable("embedded server only: behave differently, and still legally"),
} as const;

export type PatchFlags = FlagsOf<typeof faultAndVariantOptions>;

export function readFaultsAndVariants({ fault, variant }: PatchFlags, target: Target | null): readonly Patch[] {
  const patches = patchesByName(fault, variant);
  if (target === null || patches.length === 0) return patches;
  throw new UsageError(
    line`--fault and --variant change the embedded server only; a target of your own cannot have them.`,
  );
}

export const patchFlagsText = (patches: readonly Patch[]): string =>
  patches.map(({ kind, name }) => ` --${kind} ${name}`).join("");
