import { hourMs, minuteMs } from "../../base/duration.ts";
import { headerNames } from "../../spec/headers.ts";
import type { Header } from "../behaviour/transport.ts";
import { runsAgent } from "../endpoint.ts";
import {
  anchoredWindow,
  fixedWindow,
  hideUntilRefusal,
  rollingWindow,
  slidingWindow,
  tokenBucket,
  windowsOf,
  type Limiter,
  type WindowSize,
} from "../limits/windows.ts";
import {
  always,
  overrideError,
  overrideResult,
  reportOnly,
  variant,
  variants,
  withLimiters,
  type Override,
} from "../patch.ts";

type LimiterFactory = (size: WindowSize) => Limiter;

const windowsBy = (ofHour: LimiterFactory, ofMinute: LimiterFactory): Override =>
  withLimiters(({ hour, minute }) => [ofHour(hour), ofMinute(minute)]);

const addressLimit = 20;

export const limitVariants = variants("Limits", {
  "headers-of-hour": variant("The headers report the hour.").by(reportOnly("hour")),
  "headers-of-hour-throughout": variant("The headers report the hour, even if the minute refuses.").by((base) => ({
    ...reportOnly("hour")(base),
    refusalWindow: (_, advertised) => advertised,
  })),
  "headers-of-nobody-on-404": variant(
    "A 404 is sent before the key is checked, and its headers report the address.",
  ).by((base) => ({
    rateHeaders: (reading, nowMs, facts) =>
      base.rateHeaders(facts.status === 404 ? { ...reading, limit: 1234, remaining: 1233 } : reading, nowMs, facts),
  })),
  "headers-of-minute": variant("The headers report the minute.").by(reportOnly("minute")),
  "rolling-windows": variant("Hour and minute are rolling.").by(windowsBy(rollingWindow, rollingWindow)),
  "rolling-hour": variant("The hour is rolling, the minute fixed.").by(windowsBy(rollingWindow, fixedWindow)),
  "anchored-windows": variant("Windows begin with the first request in them.").by(
    windowsBy(anchoredWindow, anchoredWindow),
  ),
  "sliding-windows": variant("Windows are rolling, estimated from two fixed ones.").by(
    windowsBy(slidingWindow, slidingWindow),
  ),
  "token-bucket": variant("The minute is a bucket of the tier's burst that fills up all the time.").by((base) => ({
    limiters: (limits) => {
      const { perMinute, burst } = limits;
      const { hour, minute } = windowsOf(limits);
      const bucket = { ...minute, limit: burst ?? perMinute, advertisedLimit: perMinute };
      return burst === null ? base.limiters(limits) : [rollingWindow(hour), tokenBucket(bucket, perMinute)];
    },
  })),
  "burst-adds": variant("The burst adds to the minute; the headers report the hour.").by((base) => ({
    ...withLimiters(({ hour, minute }, { perMinute, burst }) => [
      fixedWindow(hour),
      fixedWindow({ ...minute, limit: perMinute + (burst ?? 0), advertisedLimit: perMinute }),
    ])(base),
    ...reportOnly("hour")(base),
  })),
  "team-burst-50": variant("A tier without a published burst has one of 50.").by((base) => ({
    limiters: (limits) => {
      const bucket = { ...windowsOf(limits).minute, limit: 50, advertisedLimit: limits.perMinute };
      const burst = limits.burst === null ? [hideUntilRefusal(tokenBucket(bucket, limits.perMinute))] : [];
      return [...base.limiters(limits), ...burst];
    },
  })),
  "refusals-count": variant("Refused requests use up the allowance.").by(always("countsRefused", true)),
  "concurrency-refusals-count": variant("Requests refused for concurrency use up the allowance, others do not.").by(
    () => ({ countsRefused: (kind) => kind === "concurrency-limit" }),
  ),
  "errors-do-not-count": variant("Requests that end in an error do not use up the allowance.").by(() => ({
    remainsCounted: ({ status }) => status < 400,
  })),
  "concurrency-of-turns": variant("Only invoke and stream take a slot.").by(() => ({ takesSlot: runsAgent })),
  "retry-rounded-up": variant("`retry_after` is a second more than the time that is left.").by(
    overrideResult("retryAfterSeconds")((seconds) => seconds + 1),
  ),
  "wrong-keys-limited": variant("An address may send 20 requests a minute without a valid key.").by(() => ({
    addressLimiter: () => fixedWindow({ window: "address", limit: addressLimit, windowMs: minuteMs }),
  })),
  "over-quota-402": variant("Beyond the month's tokens the status is 402.").by(
    overrideError(["token-quota"], 402, "PAYMENT_REQUIRED"),
  ),
  "over-quota-403": variant("Beyond the month's tokens the status is 403.").by(
    overrideError(["token-quota"], 403, "QUOTA_EXCEEDED"),
  ),
  "retry-is-the-window": variant("`retry_after` is the length of the window, and a minute.").by(
    overrideResult("retryAfterSeconds")((seconds, { kind, window }) =>
      kind === "request-limit" ? (window.window === "hour" ? hourMs : minuteMs) / 1000 + 60 : seconds,
    ),
    ["LIM-14"],
  ),
  "remaining-read-late": variant("`X-RateLimit-Remaining` is read when the response is sent.").by(() => ({
    refreshesBeforeSending: () => true,
    turnsBeforeResponse: () => 20,
  })),
  "burst-adds-and-shows": variant("The burst adds to the minute and to `X-RateLimit-Limit`.").by(
    withLimiters(({ hour, minute }, { perMinute, burst }) => [
      fixedWindow(hour),
      fixedWindow({ ...minute, limit: perMinute + (burst ?? 0) }),
    ]),
  ),
  "reset-after-with-decimals": variant("`X-RateLimit-Reset-After` has decimals.").by(
    overrideResult("rateHeaders")((headers, { resetAtMs }, nowMs) =>
      headers.map(([name, value]): Header => [
        name,
        name === headerNames.rateResetAfter ? (Math.max(0, resetAtMs - nowMs) / 1000).toFixed(3) : value,
      ]),
    ),
  ),
  "resets-with-decimals": variant(
    "Windows begin with their first request, and both headers of their reset have decimals.",
  ).by((base) => ({
    ...windowsBy(anchoredWindow, anchoredWindow)(base),
    rateHeaders: (reading, nowMs, facts) =>
      base.rateHeaders(reading, nowMs, facts).map(([name, value]): Header => {
        if (name === headerNames.rateReset) return [name, (reading.resetAtMs / 1000).toFixed(3)];
        if (name !== headerNames.rateResetAfter) return [name, value];
        return [name, (Math.max(0, reading.resetAtMs - nowMs) / 1000).toFixed(3)];
      }),
  })),
  "token-refusals-of-month": variant("The headers of a refusal for tokens report the month.").by(() => ({
    tokenQuotaWindow: (advertised, { limit }, backAtMs) => ({
      ...advertised,
      limit,
      remaining: 0,
      resetAtMs: backAtMs,
    }),
  })),
  "limits-told-last": variant(
    "An invoke or a stream of an unknown agent, or without a query, gets that error even beyond a limit.",
  ).by(always("reportsLimitErrorsLast", true)),
});
