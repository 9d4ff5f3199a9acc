import type { z } from "zod";

import { publishedTierNames, type PublishedTier } from "../spec/tiers.ts";
import { withDefaultStreaming, readTargetFile, webhooksOf } from "../target/file.ts";
import { webhooksSchema } from "../target/file-schema.ts";
import { registerSecrets } from "./harness-errors.ts";
import { type NetworkFlagValues, networkFlagsOf, networkFromFlags } from "./network-flags.ts";
import { oneKeyTarget } from "../target/one-key.ts";
import { UsageError } from "../base/usage-error.ts";
import type { Target } from "../target/target.ts";

/** What a person can say of a target on the command line. */
export interface TargetFlags extends NetworkFlagValues {
  readonly baseUrl?: string | undefined;
  readonly apiKey?: string | undefined;
  readonly agent?: string | undefined;
  readonly tier?: string | undefined;
  readonly target?: string | undefined;
  /** Host and port where the harness listens for deliveries. */
  readonly receiverListen?: string | undefined;
  /** Address under which the target reaches it. */
  readonly receiverUrl?: string | undefined;
}

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * The target of a run, from flags, environment or a target file; `null` where none is given, which means the embedded server.
 *
 * @throws {UsageError}
 */
export const readTarget = (flags: TargetFlags, environment: Environment): Target | null =>
  registerSecrets(targetIn(flags, environment));

function targetIn(flags: TargetFlags, environment: Environment): Target | null {
  if (flags.target !== undefined) return fromFile(flags, flags.target, environment);
  const baseUrl = flags.baseUrl ?? nonEmpty(environment["CONFORMANCE_BASE_URL"]);
  const key = flags.apiKey ?? nonEmpty(environment["CONFORMANCE_API_KEY"]);
  if (baseUrl === undefined) {
    for (const [flag, value] of [
      ["--api-key", flags.apiKey],
      ["--agent", flags.agent],
      ["--tier", flags.tier],
      ["--receiver-listen", flags.receiverListen],
      ["--receiver-url", flags.receiverUrl],
      ["--proxy", flags.proxy],
      ["--ca", flags.ca],
      ["--client-cert", flags.clientCert],
      ["--client-key", flags.clientKey],
    ] as const)
      if (value !== undefined) throw new UsageError(`${flag} needs a target: give --base-url as well.`);
    return null;
  }
  if (key === undefined)
    throw new UsageError("There is a base URL but no API key. Set CONFORMANCE_API_KEY, or give --api-key.");
  return oneKeyTarget({
    baseUrl,
    apiKey: key,
    agent: flags.agent,
    tier: tierOf(flags),
    webhooks: receiverOf(flags),
    network: networkFromFlags(flags, environment),
  });
}

function fromFile(flags: TargetFlags, path: string, environment: Environment): Target {
  for (const [flag, value] of [
    ["--base-url", flags.baseUrl],
    ["--api-key", flags.apiKey],
    ["--tier", flags.tier],
  ] as const)
    if (value !== undefined) throw new UsageError(`${flag} and --target exclude each other: the target file says it.`);
  const file = readTargetFile(path, environment, networkFlagsOf(flags));
  const receiver = receiverOf(flags);
  const target = receiver === undefined ? file : { ...file, webhooks: webhooksOf(receiver, file.baseUrl) };
  if (flags.agent === undefined) return target;
  const { streaming: _, ...agents } = target.agents;
  return { ...target, ...withDefaultStreaming({ ...agents, answering: flags.agent }) };
}

/** @throws {UsageError} */
function tierOf({ tier }: TargetFlags): PublishedTier | undefined {
  if (tier === undefined || isPublished(tier)) return tier;
  throw new UsageError(
    `--tier is ${JSON.stringify(tier)}; allowed: ${publishedTierNames.join(", ")}. Custom tiers go into a target file.`,
  );
}

const isPublished = (tier: string): tier is PublishedTier => publishedTierNames.some((name) => name === tier);

/** @throws {UsageError} */
function receiverOf({ receiverListen, receiverUrl }: TargetFlags): z.infer<typeof webhooksSchema> | undefined {
  if (receiverListen === undefined && receiverUrl === undefined) return undefined;
  const parsed = webhooksSchema.safeParse({ listen: receiverListen, publicUrl: receiverUrl });
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  const flag = issue?.path[0] === "publicUrl" ? "--receiver-url" : "--receiver-listen";
  throw new UsageError(`${flag}: ${issue?.message ?? "cannot be used"}.`);
}

const nonEmpty = (text: string | undefined): string | undefined => (text === "" ? undefined : text);
