import type { Account } from "../limits/account.ts";
import { always, fault, faults, overrideResult } from "../patch.ts";

export const tokenFaults = faults("Limits / Token quota per month", {
  "tokens-not-limited": fault("LIM-19", "The month's tokens are not limited.").by(always("needsTokens", false)),
  "tokens-not-limited-in-streams": fault("LIM-19", "Streams are admitted once the month's tokens are used up.").by(
    overrideResult("needsTokens")((needs, endpoint) => needs && endpoint !== "stream"),
  ),
  "tokens-not-limited-in-operations": fault("LIM-19", "Operations start once the month's tokens are used up.").by(
    overrideResult("needsTokens")((needs, endpoint) => needs && endpoint !== "startOperation"),
  ),
  "tokens-not-limited-in-batches": fault("LIM-19", "Batches are admitted once the month's tokens are used up.").by(
    overrideResult("needsTokens")((needs, endpoint) => needs && endpoint !== "batch"),
  ),
  "tokens-kept-in-the-next-month": fault("LIM-19", "A new month begins with the tokens that the last one used.").by(
    (base) => {
      const maxUsed = new WeakMap<Account, number>();
      return {
        tokenCount: (account, nowMs) => {
          const { used, limit } = base.tokenCount(account, nowMs);
          const kept = Math.max(used, maxUsed.get(account) ?? 0);
          maxUsed.set(account, kept);
          return { used: kept, limit };
        },
      };
    },
  ),
});
