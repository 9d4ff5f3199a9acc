import { z } from "zod";

import { harnessLimitOf } from "../base/harness-limit.ts";
import type { Network } from "../base/network/network.ts";
import { parseJson } from "../base/parsing.ts";
import { sendControlCall } from "./control-calls.ts";
import type { ParsedTargetFile } from "./target-file-schema.ts";
import type { Target } from "./target.ts";

const keyUseSchema = z.object({
  start: z.string(),
  keys: z.record(z.string(), z.object({ last_used_at: z.iso.datetime().nullable() })),
});

/**
 * Returns a function that asks the target for the names of its unused keys, by the call under `freshness.ask` in the
 * target file. If the call fails, no key counts as unused. Throws {@link HarnessLimit} if this machine lacks what the
 * call needs, such as file descriptors.
 */
export const unusedKeysOverHttp =
  ({ freshAt, start, ask }: NonNullable<ParsedTargetFile["freshness"]>, network: Network) =>
  async (): Promise<ReadonlySet<string>> => {
    const answer = await sendControlCall(ask, network, 0, "").catch((error: unknown) => {
      const limit = harnessLimitOf(error);
      if (limit !== null) throw limit;
      return "";
    });
    const json = parseJson(answer);
    const parsed = keyUseSchema.safeParse(json.kind === "value" ? json.value : null);
    if (!parsed.success || parsed.data.start !== start) return new Set();
    const freshMs = Date.parse(freshAt);
    // A key that was used exactly at `freshAt` counts as used, because a clock that stands still shows equal times.
    const isUnused = (lastUsedAt: string | null): boolean => lastUsedAt === null || Date.parse(lastUsedAt) < freshMs;
    const unused = Object.entries(parsed.data.keys).filter(([, use]) => isUnused(use.last_used_at));
    return new Set(unused.map(([name]) => name));
  };

/**
 * Sets `fresh` of each key to `false`, unless the target confirms that the key is unused. Changes nothing if the target
 * has no call for that.
 */
export async function withConfirmedFreshness(target: Target): Promise<Target> {
  if (target.unusedKeys === null || Object.values(target.keys).every(({ fresh }) => !fresh)) return target;
  const unused = await target.unusedKeys();
  const keys = Object.entries(target.keys).map(([name, key]) => [
    name,
    { ...key, fresh: key.fresh && unused.has(name) },
  ]);
  return { ...target, keys: Object.fromEntries(keys) };
}
