import {
  overrideLimiter,
  anchoredWindow,
  fixedWindow,
  hourMs,
  windowsOf,
  type Limiter,
  type WindowSize,
} from "../limits/windows.ts";
import { faults, loadOnlyFaults, type Override } from "../patch.ts";
import { eventLoopTurns } from "../server/wait.ts";
import { racyLimiter } from "./limits.ts";

/** So long, in turns of the event loop, a slow store takes to write: a millisecond or two on an idle machine. */
const writingTurns = 300;
/** So long that a whole stampede is decided by what was written before it. */
const stampedeTurns = 2000;

/** The hour as it should be, and a minute of another kind. */
function minute(limiterOf: (size: WindowSize) => Limiter): Override {
  return () => ({
    limiters: (limits) => [fixedWindow(windowsOf(limits).hour), limiterOf(windowsOf(limits).minute)],
  });
}

/** Every refusal closes the window for its whole length again, and what clients are told stays as it was. */
function secretlyRestarting(size: WindowSize): Limiter {
  const told = anchoredWindow(size);
  let closedUntilMs = Number.NEGATIVE_INFINITY;
  return overrideLimiter(told, {
    hasRoom: (nowMs) => {
      const has = told.hasRoom(nowMs) && nowMs >= closedUntilMs;
      if (!has) closedUntilMs = nowMs + size.windowMs;
      return has;
    },
    status: (nowMs) => ({ ...told.status(nowMs), ...(nowMs < closedUntilMs ? { remaining: 0 } : {}) }),
  });
}

const givingBackTurns = 8;

/** Takes a place first and gives it back where there was none; meanwhile the number of places left is below zero. */
function takesFirst(size: WindowSize): Limiter {
  const places = fixedWindow(size);
  let tooMany = 0;
  return overrideLimiter(places, {
    hasRoom: (nowMs) => {
      if (places.hasRoom(nowMs)) return true;
      tooMany += 1;
      void eventLoopTurns(givingBackTurns).then(() => (tooMany -= 1));
      return false;
    },
    status: (nowMs) => {
      const reading = places.status(nowMs);
      // Its own place, too, is back when a refusal is written.
      return reading.remaining > 0 ? reading : { ...reading, remaining: -Math.max(0, tooMany - 1) };
    },
  });
}

const refusalMs = 2000;
const lossOneIn = 1000;
const forgottenMs = 24 * hourMs;

/** Faults that need more than one request at a time to come to light, or very many, and that the suites see all the same. */
export const concurrencyFaults = faults("Limits / Request rate 2", {
  "refusals-restart-the-minute": [
    ["LIM-13"],
    "A refusal restarts the minute, and the headers and `retry_after` do not tell.",
    minute(secretlyRestarting),
  ],
  "negative-while-crowded": [
    ["HDR-9"],
    "`X-RateLimit-Remaining` is negative while several requests are refused at once.",
    minute(takesFirst),
  ],
});

/** Faults that only load shows. */
export const loadFaults = loadOnlyFaults("Limits / Request rate 3", {
  "decides-before-it-counts": [
    ["LIM-1"],
    "The minute is decided by a count that is written two thousand turns of the event loop later; the headers are right.",
    minute((size) => racyLimiter(size, stampedeTurns)),
  ],
  "slot-lost-by-leaving": [
    ["LIM-17"],
    "The slot of an invoke whose client has left never comes back.",
    (base) => ({
      releaseDelayMs: (moment, facts) =>
        moment === "left" && facts.operation === "invoke" ? forgottenMs : base.releaseDelayMs(moment, facts),
    }),
  ],
  "slow-refusals": [
    [],
    "A 429 takes two seconds.",
    (base) => ({ responseDelayMs: (facts) => (facts.isLimited ? refusalMs : base.responseDelayMs(facts)) }),
  ],
  "token-updates-lost": [
    ["USE-8", "LIM-19"],
    "The tokens used are read, added to, and written some hundred turns of the event loop later, whatever came in between.",
    () => ({
      chargeTokens: (account, count, nowMs) => {
        const sum = account.tokens(nowMs).used + count;
        void eventLoopTurns(writingTurns).then(() => account.useTokens(sum - account.tokens(nowMs).used, nowMs));
      },
    }),
  ],
  "one-event-in-a-thousand-lost": [
    ["HOOK-8"],
    "One event in a thousand is never delivered.",
    (base) => {
      let events = 0;
      return { acceptsEvent: (load) => (events += 1) % lossOneIn !== 0 && base.acceptsEvent(load) };
    },
  ],
});
