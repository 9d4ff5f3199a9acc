import { z } from "zod";

import { patchesByName } from "../reference/catalogue.ts";
import type { Patch } from "../reference/patch.ts";
import { type PublishedTier, publishedTierNames } from "../spec/tiers.ts";
import { readTargetFile, targetFromObject } from "../target/target-file.ts";
import { type targetFileSchema, webhooksSchema } from "../target/target-file-schema.ts";
import { oneKeyTarget } from "../target/target-from-options.ts";
import { readNetwork, networkSchema } from "../target/network-settings.ts";
import { line, UsageError } from "../base/line.ts";
import type { Target } from "../target/target.ts";
import { type ReferenceServer, targetOfServer } from "./server.ts";

/** A deployment, described by its base URL and one API key. */
export interface PlainTarget {
  /** Base URL of the deployment, with or without `/v1`. */
  readonly baseUrl: string;
  readonly apiKey: string;
  /** Tier of the key. Default: the tier whose limits the rate-limit headers show. */
  readonly tier?: PublishedTier;
  /** Id of an agent that answers. Default: one from the target's list. */
  readonly agent?: string;
  /** The harness's webhook receiver: its local address, and the URL at which the target reaches it. */
  readonly webhooks?: { readonly listen?: string; readonly publicUrl?: string };
  /** Proxy, CA certificates and client certificate. Paths are relative to the working directory. */
  readonly network?: z.input<typeof networkSchema>;
}

/** The content of a target file. An environment variable replaces `${NAME}` in a string. */
export type TargetFile = z.input<typeof targetFileSchema>;

/** The embedded reference server, whose clock the harness controls. The harness starts and stops this server. */
export interface EmbeddedTarget {
  readonly embedded: true;
  readonly faults?: readonly string[];
  readonly variants?: readonly string[];
}

/** The target to judge, in any of five forms. `{ file }` has the path of a target file. */
export type TargetDescription = PlainTarget | TargetFile | { readonly file: string } | EmbeddedTarget | ReferenceServer;

/**
 * The target to judge, from its description. `target: null` means the embedded reference server, with the faults and
 * variants in `patches`.
 */
type ResolvedTarget =
  | { readonly target: Target; readonly patches: readonly [] }
  | { readonly target: null; readonly patches: readonly Patch[] };

const patchNamesSchema = z.array(z.string()).optional();
const filePathSchema = z.strictObject({ file: z.string().min(1) });
const embeddedSchema = z.strictObject({
  embedded: z.literal(true),
  faults: patchNamesSchema,
  variants: patchNamesSchema,
});
const plainSchema = z.strictObject({
  baseUrl: z.string(),
  apiKey: z.string().min(1, "is empty: is the environment variable set?"),
  tier: z.enum(publishedTierNames).optional(),
  agent: z.string().min(1).optional(),
  webhooks: webhooksSchema.optional(),
  network: networkSchema.optional(),
});

export function resolveTarget(description: TargetDescription): ResolvedTarget {
  const given: unknown = description;
  if (typeof given !== "object" || given === null)
    throw new UsageError(
      line`The target is no object. Give { baseUrl, apiKey }, { file }, { embedded: true } or a server.`,
    );
  if ("embedded" in given) {
    const { faults = [], variants = [] } = parseDescription(embeddedSchema, given);
    return { target: null, patches: patchesByName(faults, variants) };
  }
  return { target: targetOfServer(given) ?? readDescription(given), patches: [] };
}

function readDescription(given: object): Target {
  if ("file" in given) return readTargetFile(parseDescription(filePathSchema, given).file, process.env);
  if ("keys" in given || "control" in given) return targetFromObject(given, "the target", process.env);
  const { network = {}, ...plain } = parseDescription(plainSchema, given);
  const source = { nameOf: (part: string) => `network.${part}`, folder: "." };
  return oneKeyTarget({ ...plain, network: readNetwork(network, source, process.env) });
}

function parseDescription<T>(schema: z.ZodType<T>, given: object): T {
  const result = schema.safeParse(given);
  if (result.success) return result.data;
  const problems = result.error.issues.map(({ path, message }) => [...path.map(String), message].join(" "));
  throw new UsageError(line`The target cannot be used: ${problems.join("; ")}.`);
}
