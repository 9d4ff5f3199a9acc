import { z } from "zod";

import { patchesByName } from "../reference/embedded/patches-by-name.ts";
import type { Patch } from "../reference/patch.ts";
import { type PublishedTier, publishedTierNames } from "../spec/tiers.ts";
import { readTargetFile, targetFromObject } from "../target/file.ts";
import { type targetFileSchema, webhooksSchema } from "../target/file-schema.ts";
import { oneKeyTarget } from "../target/one-key.ts";
import { networkOf, networkSchema } from "../target/network.ts";
import { UsageError } from "../base/usage-error.ts";
import type { Target } from "../target/target.ts";
import { type ReferenceServer, targetOfServer } from "./server.ts";

/** A deployment of which no more is known than an address and a key. */
export interface PlainTarget {
  /** With or without `/v1`. */
  readonly baseUrl: string;
  readonly apiKey: string;
  /** Tier of that key; otherwise its headers tell, where they can. */
  readonly tier?: PublishedTier;
  /** Id of an agent that answers; otherwise one is found through the list. */
  readonly agent?: string;
  /** Where the harness listens for deliveries (`127.0.0.1:0`), and the address under which the target reaches it. */
  readonly webhooks?: { readonly listen?: string; readonly publicUrl?: string };
  /** A proxy, authorities and a client certificate, as in a target file; files are named as seen from the working directory. */
  readonly network?: z.input<typeof networkSchema>;
}

/** What a target file holds, as an object: more keys, agents, a test clock. `${NAME}` in a string takes an environment variable. */
export type TargetFile = z.input<typeof targetFileSchema>;

/** The reference server, on a virtual clock and started for the run alone. */
export interface EmbeddedTarget {
  readonly embedded: true;
  readonly faults?: readonly string[];
  readonly variants?: readonly string[];
}

/** What is judged. `{ file }` is the path of a target file. */
export type TargetDescription = PlainTarget | TargetFile | { readonly file: string } | EmbeddedTarget | ReferenceServer;

/** What is judged: a target, or the embedded server with what it does otherwise. */
export type ResolvedTarget =
  | { readonly target: Target; readonly patches: readonly [] }
  | { readonly target: null; readonly patches: readonly Patch[] };

const patchNames = z.array(z.string()).optional();
const fileSchema = z.strictObject({ file: z.string().min(1) });
const embeddedSchema = z.strictObject({ embedded: z.literal(true), faults: patchNames, variants: patchNames });
const plainSchema = z.strictObject({
  baseUrl: z.string(),
  apiKey: z.string().min(1, "is empty: is the environment variable set?"),
  tier: z.enum(publishedTierNames).optional(),
  agent: z.string().min(1).optional(),
  webhooks: webhooksSchema.optional(),
  network: networkSchema.optional(),
});

/** @throws {UsageError} */
export function resolveTarget(description: TargetDescription): ResolvedTarget {
  const given: unknown = description;
  if (typeof given !== "object" || given === null)
    throw new UsageError(
      "The target is no object. Give { baseUrl, apiKey }, { file }, { embedded: true } or a server.",
    );
  if ("embedded" in given) {
    const { faults = [], variants = [] } = parsed(embeddedSchema, given);
    return { target: null, patches: patchesByName(faults, variants) };
  }
  return { target: targetOfServer(given) ?? readDescription(given), patches: [] };
}

function readDescription(given: object): Target {
  if ("file" in given) return readTargetFile(parsed(fileSchema, given).file, process.env);
  if ("keys" in given) return targetFromObject(given, "the target", process.env);
  const { network = {}, ...plain } = parsed(plainSchema, given);
  const place = { nameOf: (part: string) => `network.${part}`, folder: "." };
  return oneKeyTarget({ ...plain, network: networkOf(network, place, process.env) });
}

function parsed<T>(schema: z.ZodType<T>, given: object): T {
  const result = schema.safeParse(given);
  if (result.success) return result.data;
  const said = result.error.issues.map(({ path, message }) => [...path.map(String), message].join(" "));
  throw new UsageError(`The target cannot be used: ${said.join("; ")}.`);
}
