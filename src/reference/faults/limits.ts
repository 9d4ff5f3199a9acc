import { hourMs } from "../../base/duration.ts";
import { memoizeByObject } from "../../base/memoize.ts";
import type { ResponseHead } from "../behaviour/transport.ts";
import type { Endpoint } from "../endpoint.ts";
import type { ResponseEvent } from "../behaviour/limits.ts";
import { fieldsOf } from "../json-edit.ts";
import type { ReferenceKey } from "../keys.ts";
import {
  overrideLimiter,
  fixedWindow,
  hideUntilRefusal,
  rollingWindow,
  tokenBucket,
  windowsOf,
  type Limiter,
  type WindowName,
  type WindowSize,
} from "../limits/windows.ts";
import {
  always,
  fault,
  faults,
  overrideError,
  overrideResult,
  reportOnly,
  withLast,
  withLimiters,
  withPath,
  type Override,
} from "../patch.ts";
import { waitEventLoopTurns } from "../server/wait.ts";
import type { TierLimits } from "../../spec/tiers.ts";

const exemptStreamsFromHour = (window: (size: WindowSize) => Limiter): Override =>
  withLast("isLimited", (last) =>
    withLimiters((sizes) => {
      const hour = window(sizes.hour);
      const hasRoom = (nowMs: number) => last()?.[0] === "stream" || hour.hasRoom(nowMs);
      return [overrideLimiter(hour, { hasRoom }), window(sizes.minute)];
    }),
  );

/** Changes the size of the tier's hour or minute. The headers still report the tier's limit. */
const resizeWindow = (name: WindowName, change: (size: WindowSize) => Partial<WindowSize>): Override =>
  withLimiters((sizes) =>
    [sizes.hour, sizes.minute].map((size) =>
      fixedWindow(size.window === name ? { ...size, advertisedLimit: size.limit, ...change(size) } : size),
    ),
  );

/** Creates a limiter that counts each request `lagTurns` event-loop turns late, and so admits too many. */
export function racyLimiter(size: WindowSize, lagTurns = 8): Limiter {
  const advertised = fixedWindow(size);
  const lagging = fixedWindow(size);
  return overrideLimiter(lagging, {
    status: (nowMs) => advertised.status(nowMs),
    count: (nowMs) => {
      advertised.count(nowMs);
      void waitEventLoopTurns(lagTurns).then(() => lagging.count(nowMs));
    },
  });
}

const shareByTier =
  (create: (sizes: ReturnType<typeof windowsOf>) => readonly Limiter[]): Override =>
  (base) => {
    const limitersOf = memoizeByObject((limits: TierLimits) => create(windowsOf(limits)).map(hideUntilRefusal));
    return { limiters: (limits) => [...base.limiters(limits), ...limitersOf(limits)] };
  };

const exemptFromLimits = (exempt: Endpoint): Override =>
  overrideResult("isLimited")((is, endpoint) => is && endpoint !== exempt);

export const countTwice = (matches: (parameters: Readonly<Record<string, unknown>>) => boolean): Override =>
  withLast("validateBody", (last) => {
    let counted: unknown;
    return overrideResult("requestsPerChunk")(() => {
      const [body] = last() ?? [];
      const isNew = body !== counted && matches(fieldsOf(fieldsOf(body)["parameters"]));
      counted = body;
      return Number(isNew);
    });
  });

const isUnrestricted = ({ scope, agents, allowedIps, expiresInSeconds, tokensUsedBefore }: ReferenceKey): boolean =>
  scope === "full" && agents === null && allowedIps === null && expiresInSeconds === null && tokensUsedBefore === 0;

const rateFaults = faults("Limits / Request rate", {
  "one-too-many-a-minute": fault(
    "LIM-1",
    "One request a minute more is admitted than the tier's minute and burst allow together.",
  ).by(
    withLimiters(({ hour, minute }, { perMinute, burst }) => {
      const limit = perMinute + (burst ?? perMinute) + 1;
      return [fixedWindow(hour), hideUntilRefusal(fixedWindow({ ...minute, limit, advertisedLimit: perMinute }))];
    }),
  ),
  "no-minute-limit": fault("LIM-1", "Only the hour is limited.").by(withLimiters(({ hour }) => [fixedWindow(hour)])),
  "hour-not-of-streams": fault("LIM-3", "Streams are admitted while the hour is used up.").by(
    exemptStreamsFromHour(fixedWindow),
    ["HDR-19"],
  ),
  "rolling-hour-not-of-streams": fault("LIM-3", "Windows roll, and streams are admitted while the hour is used up.").by(
    exemptStreamsFromHour(rollingWindow),
    ["HDR-19"],
  ),
  "batches-beyond-slots-503": fault("LIM-12", "A batch that is refused for its slot responds with 503.").by(
    overrideError(["concurrency-limit"], 503, "UNAVAILABLE", "batch"),
  ),
  "minute-too-short": fault("LIM-1", "The minute lasts ten seconds.").by(
    resizeWindow("minute", () => ({ windowMs: 10_000 })),
  ),
  "looks-before-it-counts": fault(
    "LIM-3",
    "Concurrent requests all find the same room in the hour; the headers report the minute.",
  ).by(
    (base) => ({
      ...withLimiters(({ hour, minute }) => [racyLimiter(hour), fixedWindow(minute)])(base),
      ...reportOnly("minute")(base),
    }),
    ["LIM-13"],
  ),
  "one-too-few-a-minute": fault(["LIM-2", "HDR-12"], "One request a minute less is admitted than the tier allows.").by(
    withLimiters(({ hour, minute }, { perMinute }) => {
      const fewer = hideUntilRefusal(fixedWindow({ ...minute, limit: perMinute - 1, advertisedLimit: perMinute }));
      return [fixedWindow(hour), fewer, fixedWindow(minute)];
    }),
  ),
  "one-too-many-an-hour": fault("LIM-3", "One request an hour more is admitted than the tier allows.").by(
    resizeWindow("hour", ({ limit }) => ({ limit: limit + 1 })),
  ),
  "no-hour-limit": fault("LIM-3", "Only the minute is limited.").by(
    withLimiters(({ minute }) => [fixedWindow(minute)]),
  ),
  "hour-too-short": fault("LIM-3", "The hour lasts half an hour.").by(
    resizeWindow("hour", () => ({ windowMs: hourMs / 2 })),
  ),
  "one-too-few-an-hour": fault("LIM-4", "One request an hour less is admitted than the tier allows.").by(
    resizeWindow("hour", ({ limit }) => ({ limit: limit - 1 })),
  ),
  "one-slot-too-many": fault(["LIM-5", "LIM-18"], "One request more may run at once than the tier allows.").by(
    overrideResult("maxConcurrentRequests")((slots) => slots + 1),
  ),
  "no-concurrency-limit": fault(["LIM-5", "LIM-18"], "Any number of requests may run at once.").by(
    always("maxConcurrentRequests", Number.POSITIVE_INFINITY),
  ),
  "one-slot-too-few": fault("LIM-6", "One request less may run at once than the tier allows.").by(
    overrideResult("maxConcurrentRequests")((slots) => slots - 1),
  ),
  "half-a-burst": fault(
    ["LIM-2", "LIM-7"],
    "Only half of a burst of 400 is admitted; the rest is spread over the minute.",
  ).by((base) => ({
    limiters: (limits) => {
      const { perMinute, burst } = limits;
      const half = { ...windowsOf(limits).minute, limit: 200, advertisedLimit: perMinute };
      return [...base.limiters(limits), ...(burst === 400 ? [hideUntilRefusal(tokenBucket(half, perMinute))] : [])];
    },
  })),
  "keys-share": fault(["LIM-9", "HDR-12"], "A request of one key uses up the allowance of all others too.").by(
    (base) => {
      const every: Limiter[] = [];
      return {
        limiters: (limits) => {
          const own = base.limiters(limits);
          every.push(...own);
          return own.map((limiter) =>
            overrideLimiter(limiter, {
              count: (nowMs) => {
                for (const each of every) if (each.window === limiter.window) each.count(nowMs);
              },
            }),
          );
        },
      };
    },
    ["HLT-16", "LIM-4", "LIM-13"],
  ),
  "limits-shared-by-tier": fault(
    ["LIM-9", "HDR-12"],
    "Keys of one tier also share a minute and an hour; the headers report the key's own.",
  ).by(shareByTier(({ hour, minute }) => [fixedWindow(hour), fixedWindow(minute)])),
  "rolling-limits-shared-by-tier": fault(
    "LIM-9",
    "Keys of one tier also share a rolling minute and a rolling hour; the headers report the key's own.",
  ).by(shareByTier(({ hour, minute }) => [rollingWindow(hour), rollingWindow(minute)])),
  "one-account-for-a-tier": fault(
    "LIM-9",
    "Keys of one tier that are restricted in nothing are one account: allowance, slots and tokens.",
  ).by(() => ({ accountOf: (key) => (isUnrestricted(key) ? key.tier : key.key) })),
  "read-only-keys-not-counted": fault("HDR-12", "Requests with a read-only key are not counted.").by(
    withLast("permits", (last) =>
      overrideResult("requestCost")((cost) => (last()?.[0].scope === "read-only" ? 0 : cost)),
    ),
  ),
  "scheme-case-counts-apart": fault("LIM-25", "A key whose scheme is written otherwise has another allowance.").by(
    () => ({
      accountOf: ({ key }, credentials) => (credentials.kind === "bearer" ? `${credentials.scheme} ${key}` : key),
    }),
  ),
});

const lateMs = 90_000;

function delaySlotRelease(matches: (event: ResponseEvent, head: ResponseHead) => boolean): Override {
  return overrideResult("releaseDelayMs")((delayMs, ...when) => (matches(...when) ? lateMs : delayMs));
}

const scopeFaults = faults("Limits / Scope of limits", {
  "invoke-not-limited": fault(["LIM-1", "LIM-5", "LIM-10", "LIM-18", "LIM-19"], "Invoke is never refused.").by(
    exemptFromLimits("invoke"),
    ["HDR-19"],
  ),
  "key-usage-not-limited": fault("HDR-19", "Key usage is admitted while a limit is used up.").by(
    exemptFromLimits("keyUsage"),
  ),
  "list-not-limited": fault("HDR-19", "The list is admitted while a limit is used up.").by(exemptFromLimits("list")),
  "second-page-not-limited": fault("HDR-19", "Page 2 of the list is admitted while a limit is used up.").by(
    withPath((path) => overrideResult("isLimited")((is) => is && !/[?&]page=2(&|$)/.test(path()))),
  ),
  "chunks-count": fault("LIM-11", "Each chunk of a stream counts as a request.").by(always("requestsPerChunk", 1), [
    "HDR-12",
  ]),
  "streams-of-a-chunk-size-count-twice": fault(
    "LIM-11",
    "A stream that is asked for with `chunk_size` counts as two requests.",
  ).by(
    countTwice((parameters) => parameters["chunk_size"] !== undefined),
    ["HDR-12"],
  ),
  "streams-do-not-count": fault("LIM-11", "A stream does not count.").by(
    overrideResult("requestCost")((cost, endpoint) => (endpoint === "stream" ? 0 : cost)),
  ),
  "retry-after-of-hour-in-milliseconds": fault(
    "ERR-8",
    "`retry_after` is in milliseconds when the hour's requests are used up.",
  ).by(
    overrideResult("retryAfterSeconds")((seconds, { kind, window }) =>
      kind === "request-limit" && window.window === "hour" ? seconds * 1000 : seconds,
    ),
    ["LIM-14"],
  ),
  "retry-too-early": fault("LIM-13", "`retry_after` is a third of the time that is left.").by(
    overrideResult("retryAfterSeconds")((seconds) => Math.max(1, Math.floor(seconds / 3))),
  ),
  "retry-after-minute-of-both": fault(
    "LIM-13",
    "`retry_after` is the minute's if minute and hour are used up at the same time.",
  ).by(
    withLimiters((sizes) => {
      const [hour, minute] = [fixedWindow(sizes.hour), fixedWindow(sizes.minute)];
      const roomAtMs = (nowMs: number) => (minute.hasRoom(nowMs) ? hour : minute).roomAtMs(nowMs);
      return [overrideLimiter(hour, { roomAtMs }), minute];
    }),
  ),
  "tokens-back-too-early": fault("LIM-13", "`retry_after` is a second once the month's tokens are used up.").by(
    overrideResult("retryAfterSeconds")((seconds, { kind }) => (kind === "token-quota" ? 1 : seconds)),
  ),
  "slot-late-after-crash": fault("LIM-17", "The slot of a request that fails with 500 is free after 90 seconds.").by(
    delaySlotRelease((_moment, { status }) => status >= 500),
  ),
  "slot-late-after-bad-input": fault(
    "LIM-17",
    "The slot of a request that is refused with 400 or 404 is free after 90 seconds.",
  ).by(delaySlotRelease((_moment, { status }) => status >= 400 && status < 500)),
  "slot-late-after-streams": fault("LIM-17", "The slot of a successful stream is free after 90 seconds.").by(
    delaySlotRelease((event, { endpoint }) => endpoint === "stream" && event === "end"),
    ["LIM-6"],
  ),
  "slot-back-with-the-head": fault("LIM-18", "A stream frees its slot when its head is sent.").by(
    overrideResult("releasesSlot")((is, event, { endpoint }) => is || (event === "head" && endpoint === "stream")),
  ),
  "default-timeout-of-ten-seconds": fault("LIM-27", "An agent times out after 10 seconds by default.").by(
    always("timeoutMs", 10_000),
  ),
  "default-timeout-of-80-seconds": fault("LIM-27", "An agent times out after 80 seconds by default.").by(
    always("timeoutMs", 80_000),
  ),
  "no-default-timeout": fault("LIM-27", "An agent has no timeout by default.").by(
    always("timeoutMs", Number.POSITIVE_INFINITY),
  ),
  "wrong-keys-charge-the-right-one": fault("LIM-23", "A wrong key uses up the allowance of the key it resembles.").by(
    () => ({
      accountChargedForInvalidKey: (credentials, ring) => {
        if (credentials.kind !== "bearer") return null;
        const { text } = credentials;
        return ring.keys.find(({ key }) => text !== key && text.startsWith(key.slice(0, -1))) ?? null;
      },
    }),
  ),
});

export const limitFaults = [...rateFaults, ...scopeFaults];
