import { publishedTierNames, publishedTiers } from "../interface/tiers.ts";
import { readBaseUrl } from "./base-url.ts";
import { agentsOf, readKey, readTargetFile, settingsOf, webhooksOfLoopback } from "./file.ts";
import { webhooksSchema } from "./file-schema.ts";
import { UsageProblem } from "./problem.ts";
import { plainKey, plainTarget, type Target, type TargetKey, type WebhookSettings } from "./target.ts";

/** What a person can say of a target on the command line. */
export interface TargetFlags {
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
 * @throws {UsageProblem}
 */
export function readTarget(flags: TargetFlags, environment: Environment): Target | null {
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
    ] as const)
      if (value !== undefined) throw new UsageProblem(`${flag} needs a target: give --base-url as well.`);
    return null;
  }
  if (key === undefined)
    throw new UsageProblem("There is a base URL but no API key. Set CONFORMANCE_API_KEY, or give --api-key.");
  return fromParts(readBaseUrl(baseUrl), readKey(key, "The API key"), flags);
}

function fromFile(flags: TargetFlags, path: string, environment: Environment): Target {
  for (const [flag, value] of [
    ["--base-url", flags.baseUrl],
    ["--api-key", flags.apiKey],
    ["--tier", flags.tier],
  ] as const)
    if (value !== undefined)
      throw new UsageProblem(`${flag} and --target exclude each other: the target file says it.`);
  const file = readTargetFile(path, environment);
  const hasReceiver = flags.receiverListen !== undefined || flags.receiverUrl !== undefined;
  const target = hasReceiver ? { ...file, webhooks: webhooksOf(flags, file.baseUrl) } : file;
  if (flags.agent === undefined) return target;
  const { streaming: _, ...agents } = target.agents;
  return { ...target, ...agentsOf({ ...agents, answering: flags.agent }) };
}

function fromParts(baseUrl: string, key: string, flags: TargetFlags): Target {
  if (flags.tier !== undefined && !Object.hasOwn(publishedTiers, flags.tier))
    throw new UsageProblem(
      `--tier is ${JSON.stringify(flags.tier)}; allowed: ${publishedTierNames.join(", ")}. Custom tiers go into a target file.`,
    );
  const only: TargetKey = {
    name: "key",
    key,
    ...plainKey,
    tier: flags.tier ?? null,
    variable: "CONFORMANCE_API_KEY",
  };
  return {
    ...plainTarget,
    name: new URL(baseUrl).host,
    baseUrl,
    keys: { key: only },
    // An agent named by a flag is promised to answer, not to stream.
    agents: flags.agent === undefined ? {} : { answering: flags.agent, streaming: flags.agent },
    webhooks: webhooksOf(flags, baseUrl),
  };
}

/**
 * Where to listen for deliveries. A flag is a promise that the target can reach it.
 *
 * @throws {UsageProblem}
 */
function webhooksOf({ receiverListen, receiverUrl }: TargetFlags, baseUrl: string): WebhookSettings | null {
  if (receiverListen === undefined && receiverUrl === undefined) return webhooksOfLoopback(baseUrl);
  const parsed = webhooksSchema.safeParse({ listen: receiverListen, publicUrl: receiverUrl });
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    const flag = issue?.path[0] === "publicUrl" ? "--receiver-url" : "--receiver-listen";
    throw new UsageProblem(`${flag}: ${issue?.message ?? "cannot be used"}.`);
  }
  return settingsOf(parsed.data);
}

const nonEmpty = (text: string | undefined): string | undefined => (text === "" ? undefined : text);
