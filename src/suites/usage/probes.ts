import type { Exchange } from "../../evidence/exchange.ts";
import type { TierLimits } from "../../interface/tiers.ts";
import type { Sample } from "../../limits/sample.ts";
import { greeting } from "../../run/greeting.ts";
import { probe } from "../../run/probe.ts";
import { limitsOf } from "../../run/tier-of.ts";
import type { Target, TargetKey } from "../../target/target.ts";

/** A reading of usage, with what is known of the key. */
export interface UsageRead {
  readonly usage: Exchange;
  /** Numbers of the key's tier; `null` where they are not known. */
  readonly limits: TierLimits | null;
  /** Tokens a month of the tier; `null` where nobody said which tier it is: the request headers tell nothing of tokens. */
  readonly quota: number | null;
}

/** The look's own reading, at no further cost. */
export const usageRead = probe(
  "usage is read",
  { requests: 0, reads: true },
  async ({ look, client, target }): Promise<UsageRead> => ({
    usage: look.usage,
    limits: limitsOf(client.key, target),
    quota: quotaOf(client.key, target),
  }),
);

const quotaOf = (key: TargetKey, target: Target): number | null =>
  key.isTierShown ? null : (limitsOf(key, target)?.tokensPerMonth ?? null);

/** Two readings of usage, and all that the key did between them. */
export interface UsageGrowth extends UsageRead {
  readonly later: Exchange;
  /** Everything the key was seen to do since the start of the run. */
  readonly samples: readonly Sample[];
  /** Invokes and streams that were answered between the readings. */
  readonly turns: readonly Exchange[];
  /** Whether the run is the first to use the key, so that nobody else's use comes in between. */
  readonly isFresh: boolean;
}

export const usageGrown = probe(
  "usage is read, an agent is invoked, and usage is read again",
  { needs: ["agents.answering"], requests: 3, lane: "alone" },
  async ({ client, given, recorder, target }): Promise<UsageGrowth> => {
    const before = await client.send("GET", "/usage");
    await client.invoke(given["agents.answering"], { query: greeting });
    const later = await client.send("GET", "/usage");
    const { key } = client;
    const turns = recorder
      .exchanges()
      .filter((each) => each.key === key.name && isBetween(each, before, later) && isTurn(each));
    return {
      usage: before,
      later,
      samples: recorder.samplesOf(key.name),
      turns,
      isFresh: key.fresh,
      limits: limitsOf(key, target),
      quota: quotaOf(key, target),
    };
  },
);

const isTurn = ({ request }: Exchange): boolean => /\/agents\/[^/]+\/(invoke|stream)$/.test(request.url);
const isBetween = (
  { sentMs, answer }: Pick<Exchange, "sentMs"> & { readonly answer: { readonly endMs: number } },
  before: Exchange,
  after: Exchange,
): boolean => sentMs >= before.answer.endMs && answer.endMs <= after.sentMs;
