import { publishedTiers, type TierName, tierNames, type TierLimits } from "../spec/tiers.ts";

export type TierTable = Readonly<Record<TierName, TierLimits>>;

/** The default limits of each tier. The document has no limits for Enterprise, so this server chooses them. */
export const referenceTiers: TierTable = {
  ...publishedTiers,
  enterprise: { perHour: 600, perMinute: 400, concurrent: 20, burst: 400, tokensPerMonth: 50_000_000 },
};

/** Restrictions of an API key. Source: Resources, "API key". */
export interface KeyTraits {
  /**
   * Seconds from the issue of the key until it expires: 0 for a key that is issued expired, `null` for a key that never
   * expires. The server issues its first keys when it starts.
   */
  readonly expiresInSeconds: number | null;
  readonly scope: "full" | "read-only";
  readonly agents: readonly string[] | null;
  readonly allowedIps: readonly string[] | null;
  /** Tokens that the key has already used in the month in which the server starts. */
  readonly tokensUsedBefore: number;
}

/** An API key of the server. Source: Resources, "API key"; Authentication 1 to 3. */
export interface ReferenceKey extends KeyTraits {
  /** Name of the key, unique on one server. Unlike `key`, it is no secret and may be logged. */
  readonly name: string;
  readonly key: string;
  readonly tier: TierName;
}

const unrestrictedTraits: KeyTraits = {
  expiresInSeconds: null,
  scope: "full",
  agents: null,
  allowedIps: null,
  tokensUsedBefore: 0,
};

function keyOf(name: string, text: string, tier: TierName, traits: Partial<KeyTraits> = {}): ReferenceKey {
  return { ...unrestrictedTraits, ...traits, name, key: `ah_${text}`, tier };
}

/** Tokens that the `quota` key has left at the server's start: enough for a few short responses. */
const quotaTokensLeft = 20;

/** Fixed texts of the keys without restrictions, as long and as random as real keys. */
const standardTexts: Readonly<Record<TierName, string>> = {
  free: "free_4mJ9sQ2vXk7TtB1nLw6Yc3Re",
  pro: "pro_8pZr5HdW0gUf2xNa7KqEj4Vm",
  team: "team_1cVb6MzS3yGo9iPl5XhDw8Qt",
  enterprise: "ent_7nFk2RjT4uAe6sOy0ZvCg9Bx",
};

/** The default keys of a reference server. Names and texts never change, so target files can use them. */
export const referenceKeys: readonly ReferenceKey[] = [
  ...tierNames.map((tier) => keyOf(tier, standardTexts[tier], tier)),
  keyOf("expired", "old_3wLq8YtN5dHm1fXc6PbJr2Sz", "free", { expiresInSeconds: 0 }),
  keyOf("temporary", "tmp_5hGx9VsK2oEi7aUd4MnQy1Wf", "free", { expiresInSeconds: 600 }),
  keyOf("reader", "ro_2rWk6CbP9mTz4qLs8JxGh1Vd", "pro", { scope: "read-only" }),
  keyOf("oneAgent", "one_9yNv3QfE7sBt5uHk1DzMa6Xc", "pro", { agents: ["echo"] }),
  keyOf("elsewhere", "ip_0gSj4LwR8nCp2xFy6KdVb7Te", "pro", { allowedIps: ["203.0.113.9"] }),
  // `127.0.0.17` begins with `127.0.0.1`, the suites' own address. A server must not compare addresses as substrings.
  keyOf("nearby", "ip_3nQz7KtB5vMe0hXr9JwSa2Gd", "pro", { allowedIps: ["127.0.0.17"] }),
  keyOf("quota", "quo_6tDz1BpR8jCl3eYv0FkNw5Hm", "free", {
    tokensUsedBefore: publishedTiers.free.tokensPerMonth - quotaTokensLeft,
  }),
  keyOf("second", "two_8cXf4WnT1rLd7pGz6VhSk3Bq", "free"),
];

/** The secret for the signatures of requests. Source: Authentication 4. */
export const signingSecret = "reference-signing-secret";

export interface IssuedKey {
  readonly key: ReferenceKey;
  readonly expiresAtMs: number;
}

export type KeyRing = ReturnType<typeof keyRing>;

export function keyRing(initialKeys: readonly ReferenceKey[], keyText: (text: string) => string, startMs: number) {
  const byText = new Map<string, IssuedKey>();
  let count = 0;
  const add = (plain: ReferenceKey, atMs: number) => {
    const key = { ...plain, key: keyText(plain.key) };
    byText.set(key.key, issued(key, atMs));
    return key;
  };
  for (const key of initialKeys) add(key, startMs);
  return {
    get keys(): readonly ReferenceKey[] {
      return [...byText.values()].map(({ key }) => key);
    },
    find: (text: string) => byText.get(text),
    /** Issues a new key. Its text is predictable, such as `ah_fresh_free_000003` for the third issued key. */
    issue: (tier: TierName, traits: Partial<KeyTraits>, nowMs: number): ReferenceKey => {
      count += 1;
      const number = String(count).padStart(6, "0");
      return add(keyOf(`fresh-${number}`, `fresh_${tier}_${number}`, tier, traits), nowMs);
    },
  };
}

function issued(key: ReferenceKey, atMs: number): IssuedKey {
  const { expiresInSeconds } = key;
  return { key, expiresAtMs: expiresInSeconds === null ? Number.POSITIVE_INFINITY : atMs + expiresInSeconds * 1000 };
}
