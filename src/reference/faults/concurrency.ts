import { hourMs } from "../../base/duration.ts";
import {
  anchoredWindow,
  fixedWindow,
  type Limiter,
  overrideLimiter,
  type WindowSize,
  windowsOf,
} from "../limits/windows.ts";
import { always, fault, faults, type Override, overrideByCount, overrideResult, withLimiters } from "../patch.ts";
import { waitEventLoopTurns } from "../server/wait.ts";
import { racyLimiter } from "./limits.ts";
import type { Account } from "../limits/account.ts";

/**
 * Delay until a token count is written, as in a slow database, in event-loop turns. 300 turns take 1 or 2 ms on an idle
 * machine.
 */
const slowWriteTurns = 300;
/**
 * Delay until a limiter updates its count, in event-loop turns. Until then, the limiter decides by the old count, and
 * admits a whole burst.
 */
const lateWriteTurns = 2000;

const replaceMinuteLimiter = (limiterOf: (size: WindowSize) => Limiter): Override =>
  withLimiters(({ hour, minute }) => [fixedWindow(hour), limiterOf(minute)]);

function refusalRestartedLimiter(size: WindowSize): Limiter {
  const advertised = anchoredWindow(size);
  let closedUntilMs = Number.NEGATIVE_INFINITY;
  return overrideLimiter(advertised, {
    hasRoom: (nowMs) => {
      const has = advertised.hasRoom(nowMs) && nowMs >= closedUntilMs;
      if (!has) closedUntilMs = nowMs + size.windowMs;
      return has;
    },
    status: (nowMs) => ({ ...advertised.status(nowMs), ...(nowMs < closedUntilMs ? { remaining: 0 } : {}) }),
  });
}

const undoTurns = 8;

/**
 * Creates a limiter that reports a negative `remaining` if it refuses several requests at once, e.g. -2 for three. It
 * imitates a server that counts each request on arrival, and uncounts a refused one a few event-loop turns later.
 */
function countFirstLimiter(size: WindowSize): Limiter {
  const window = fixedWindow(size);
  let excess = 0;
  return overrideLimiter(window, {
    hasRoom: (nowMs) => {
      if (window.hasRoom(nowMs)) return true;
      excess += 1;
      void waitEventLoopTurns(undoTurns).then(() => (excess -= 1));
      return false;
    },
    status: (nowMs) => {
      const status = window.status(nowMs);
      // `excess` includes the current request. Without it, a single refusal reports 0, which is correct.
      return status.remaining > 0 ? status : { ...status, remaining: -Math.max(0, excess - 1) };
    },
  });
}

const refusalMs = 2000;
const eventsPerLoss = 1000;
const neverMs = 24 * hourMs;

/** Faults that show only under many or concurrent requests. A run of the suites sends enough of them. */
const manyRequestFaults = faults("Limits / Request rate 2", {
  "refusals-restart-the-minute": fault(
    "LIM-13",
    "A refusal restarts the minute, but headers and `retry_after` do not show it.",
  ).by(replaceMinuteLimiter(refusalRestartedLimiter)),
  "looks-before-it-counts-a-minute": fault(
    "HDR-19",
    "Concurrent requests all find the same room in a minute of ten requests; the headers are right.",
  ).by((base) => ({
    limiters: (limits) => {
      const { hour, minute } = windowsOf(limits);
      return limits.perMinute === 10 ? [fixedWindow(hour), racyLimiter(minute, 2)] : base.limiters(limits);
    },
  })),
  "negative-while-crowded": fault(
    "HDR-9",
    "`X-RateLimit-Remaining` is negative while several requests are refused at once.",
  ).by(replaceMinuteLimiter(countFirstLimiter)),
});

/** Faults that only a load run detects, because a run of the suites sends too few requests. */
const loadFaults = faults(
  "Limits / Request rate 3",
  {
    "decides-before-it-counts": fault(
      "LIM-1",
      "The minute is decided by a count that is written 2,000 turns of the event loop later; the headers are right.",
    ).by(replaceMinuteLimiter((size) => racyLimiter(size, lateWriteTurns))),
    "slot-lost-by-leaving": fault("LIM-17", "The slot of an invoke whose client has left is never free again.").by(
      overrideResult("releaseDelayMs")((delayMs, event, { endpoint }) =>
        event === "left" && endpoint === "invoke" ? neverMs : delayMs,
      ),
    ),
    "slow-refusals": fault([], "A 429 takes two seconds.").by(
      overrideResult("responseDelayMs")((delayMs, { isLimited }) => (isLimited ? refusalMs : delayMs)),
    ),
    "token-updates-lost": fault(
      ["USE-8", "LIM-19"],
      "The tokens used are read, added to, and written some hundred turns of the event loop later, so that other updates are lost.",
    ).by(() => ({
      chargeTokens: (account, count, nowMs) => {
        const sum = account.tokens(nowMs).used + count;
        void waitEventLoopTurns(slowWriteTurns).then(() => account.useTokens(sum - account.tokens(nowMs).used, nowMs));
      },
    })),
    "one-event-in-a-thousand-lost": fault("HOOK-8", "One event in a thousand is never delivered.").by(
      overrideByCount("acceptsEvent")((accepts, count) => accepts && count % eventsPerLoss !== 0),
    ),
  },
  "load",
);

export const concurrencyFaults = [...manyRequestFaults, ...loadFaults];

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
