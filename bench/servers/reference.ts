import { referenceTiers } from "../../src/reference/keys.ts";
import { startReference } from "../../src/reference/reference.ts";

/** Numbers that no go uses up. */
const boundless = {
  perHour: 1e9,
  perMinute: 1e9,
  concurrent: 100_000,
  burst: 1e9,
  tokensPerMonth: Number.MAX_SAFE_INTEGER,
};

/** The reference server on the machine's clock, with a key that is limited as any other, by numbers that are never reached. */
export async function start(): Promise<{ readonly url: string; readonly key: string }> {
  const reference = await startReference({ tiers: { ...referenceTiers, enterprise: boundless } });
  return { url: reference.baseUrl, key: reference.issueKey("enterprise").key };
}
