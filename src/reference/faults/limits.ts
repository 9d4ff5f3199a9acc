import type { TierLimits } from "../../interface/tiers.ts";
import type { Behaviour } from "../behaviour/behaviour.ts";
import { fixedWindow, hidden, hourMs, minuteMs, tokenBucket, type Limiter } from "../limits/windows.ts";
import { faults } from "../patch.ts";
import { turns } from "../server/pause.ts";

type Change = (base: Behaviour) => Partial<Behaviour>;

/** Hour and minute with other numbers than those they show, or other lengths. */
function windows(
  edit: (limits: TierLimits) => { hour?: number; minute?: number; hourLength?: number; minuteLength?: number },
): Change {
  return () => ({
    limiters: (limits) => {
      const { perHour, perMinute } = limits;
      const { hour = perHour, minute = perMinute, hourLength = hourMs, minuteLength = minuteMs } = edit(limits);
      return [
        fixedWindow({ window: "hour", limit: hour, shown: perHour, windowMs: hourLength }),
        fixedWindow({ window: "minute", limit: minute, shown: perMinute, windowMs: minuteLength }),
      ];
    },
  });
}

/** A limiter that looks before it counts, with time in between for others to look too. */
function racing(limiter: Limiter): Limiter {
  return { ...limiter, count: (nowMs) => void turns(5).then(() => limiter.count(nowMs)) };
}

const unlimited = Number.POSITIVE_INFINITY;

export const rateFaults = faults("Limits / Request rate", {
  "one-too-many-a-minute": [
    ["LIM-1"],
    "One request a minute more is admitted than the tier allows.",
    windows(({ perMinute }) => ({ minute: perMinute + 1 })),
  ],
  "no-minute-limit": [
    ["LIM-1"],
    "Only the hour is limited.",
    () => ({ limiters: ({ perHour }) => [fixedWindow({ window: "hour", limit: perHour, windowMs: hourMs })] }),
  ],
  "minute-too-short": [["LIM-1"], "The minute lasts 40 seconds.", windows(() => ({ minuteLength: 40_000 }))],
  "looks-before-it-counts": [
    ["LIM-1", "HDR-13"],
    "Requests sent at once all see the same room.",
    (base) => ({
      limiters: (limits) =>
        base.limiters(limits).map((limiter) => (limiter.window === "minute" ? racing(limiter) : limiter)),
    }),
  ],
  "one-too-few-a-minute": [
    ["LIM-2"],
    "One request a minute less is admitted than the tier allows.",
    () => ({
      limiters: ({ perHour, perMinute }) => [
        fixedWindow({ window: "hour", limit: perHour, windowMs: hourMs }),
        hidden(fixedWindow({ window: "minute", limit: perMinute - 1, shown: perMinute, windowMs: minuteMs })),
        fixedWindow({ window: "minute", limit: perMinute, windowMs: minuteMs }),
      ],
    }),
  ],
  "one-too-many-an-hour": [
    ["LIM-3"],
    "One request an hour more is admitted than the tier allows.",
    windows(({ perHour }) => ({ hour: perHour + 1 })),
  ],
  "no-hour-limit": [
    ["LIM-3"],
    "Only the minute is limited.",
    () => ({ limiters: ({ perMinute }) => [fixedWindow({ window: "minute", limit: perMinute, windowMs: minuteMs })] }),
  ],
  "hour-too-short": [["LIM-3"], "The hour lasts half an hour.", windows(() => ({ hourLength: hourMs / 2 }))],
  "one-too-few-an-hour": [
    ["LIM-4"],
    "One request an hour less is admitted than the tier allows.",
    windows(({ perHour }) => ({ hour: perHour - 1 })),
  ],
  "one-slot-too-many": [
    ["LIM-5"],
    "One request more may run at once than the tier allows.",
    (base) => ({ slots: (limits) => base.slots(limits) + 1 }),
  ],
  "no-concurrency-limit": [["LIM-5"], "Any number of requests may run at once.", () => ({ slots: () => unlimited })],
  "one-slot-too-few": [
    ["LIM-6"],
    "One request less may run at once than the tier allows.",
    (base) => ({ slots: (limits) => base.slots(limits) - 1 }),
  ],
  "half-a-burst": [
    ["LIM-7", "LIM-2"],
    "Only half of a burst is admitted; the rest is spread over the minute.",
    (base) => ({
      limiters: (limits) => {
        const { perMinute } = limits;
        const half = {
          window: "minute",
          limit: Math.ceil(perMinute / 2),
          shown: perMinute,
          windowMs: minuteMs,
        } as const;
        return [...base.limiters(limits), hidden(tokenBucket(half, perMinute))];
      },
    }),
  ],
  "keys-share": [
    ["LIM-9"],
    "All keys of a tier share one allowance.",
    () => ({ accountOf: ({ tier }) => `every ${tier} key` }),
  ],
  "scheme-case-counts-apart": [
    ["LIM-25"],
    "A key whose scheme is written otherwise has another allowance.",
    () => ({
      accountOf: ({ key }, credentials) => (credentials.kind === "bearer" ? `${credentials.scheme} ${key}` : key),
    }),
  ],
});

export const scopeFaults = faults("Limits / Scope of limits", {
  "invoke-not-limited": [
    ["LIM-10", "LIM-1", "LIM-3"],
    "Invoke is never refused.",
    (base) => ({ isLimited: (operation) => operation !== "invoke" && base.isLimited(operation) }),
  ],
  "chunks-count": [["LIM-11"], "Each chunk of a stream counts as a request.", () => ({ requestsPerChunk: () => 1 })],
  "streams-do-not-count": [
    ["LIM-11"],
    "A stream does not count.",
    (base) => ({ counts: (operation) => operation !== "stream" && base.counts(operation) }),
  ],
  "retry-too-early": [
    ["LIM-13"],
    "`retry_after` is a third of the time that is left.",
    (base) => ({
      retryAfterSeconds: (refusal, nowMs) => Math.max(1, Math.floor(base.retryAfterSeconds(refusal, nowMs) / 3)),
    }),
  ],
  "retry-is-the-window": [
    ["LIM-14"],
    "`retry_after` is the length of the window, and a minute.",
    (base) => ({
      retryAfterSeconds: (refusal, nowMs) =>
        refusal.kind === "request-limit"
          ? (refusal.reading.window === "hour" ? hourMs : minuteMs) / 1000 + 60
          : base.retryAfterSeconds(refusal, nowMs),
    }),
  ],
  "slot-lost-on-crash": [
    ["LIM-17"],
    "The slot of a request that fails with 500 never comes back.",
    (base) => ({ releasesSlot: (moment, facts) => facts.status < 500 && base.releasesSlot(moment, facts) }),
  ],
  "slot-lost-on-bad-input": [
    ["LIM-17"],
    "The slot of a request that is refused with 400 or 404 never comes back.",
    (base) => ({
      releasesSlot: (moment, facts) => (facts.status < 400 || facts.status >= 500) && base.releasesSlot(moment, facts),
    }),
  ],
  "slot-lost-by-streams": [
    ["LIM-17"],
    "The slot of a stream that ended well never comes back.",
    (base) => ({
      releasesSlot: (moment, facts) =>
        (facts.operation !== "stream" || moment === "left") && base.releasesSlot(moment, facts),
    }),
  ],
  "slot-back-with-the-head": [
    ["LIM-18"],
    "A stream gives its slot back when its head is sent.",
    (base) => ({
      releasesSlot: (moment, facts) =>
        (moment === "head" && facts.operation === "stream") || base.releasesSlot(moment, facts),
    }),
  ],
  "tokens-not-limited": [["LIM-19"], "The month's tokens are not limited.", () => ({ needsTokens: () => false })],
  "wrong-keys-charge-the-right-one": [
    ["LIM-23"],
    "A wrong key uses up the allowance of the key it resembles.",
    () => ({
      chargedForStranger: (credentials, ring) => {
        if (credentials.kind !== "bearer") return null;
        const { text } = credentials;
        return ring.keys.find(({ key }) => text !== key && text.startsWith(key.slice(0, -1))) ?? null;
      },
    }),
  ],
});
