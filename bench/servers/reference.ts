import { referenceTiers } from "../../src/reference/keys.ts";
import { startReference } from "../../src/reference/reference.ts";

const unreachableLimits = {
  perHour: 1e9,
  perMinute: 1e9,
  concurrent: 100_000,
  burst: 1e9,
  tokensPerMonth: Number.MAX_SAFE_INTEGER,
};

/** Starts the reference server with a real clock, and with rate limits that no measurement reaches. */
export async function start(): Promise<{ readonly url: string; readonly key: string }> {
  const reference = await startReference({ tiers: { ...referenceTiers, enterprise: unreachableLimits } });
  return { url: reference.baseUrl, key: reference.issueKey("enterprise").key };
}
