import { headerNames } from "../../spec/headers.ts";
import type { Header, ResponseHead } from "../behaviour/transport.ts";
import { runsAgent } from "../endpoint.ts";
import {
  anchoredWindow,
  overrideLimiter,
  fixedWindow,
  type Limiter,
  type WindowStatus,
  type WindowSize,
  windowsOf,
} from "../limits/windows.ts";
import { fault, faults, overrideResult, withLimiters, withoutRateHeaders, withPath, type Override } from "../patch.ts";
import { waitEventLoopTurns } from "../server/wait.ts";

function editAdvertisedWindow(edit: (old: WindowStatus, nowMs: number, head: ResponseHead) => WindowStatus): Override {
  return (base) => ({
    rateHeaders: (old, nowMs, head) => base.rateHeaders(edit(old, nowMs, head), nowMs, head),
  });
}

function editRateHeader(
  name: string,
  edit: (old: string, window: WindowStatus, nowMs: number, head: ResponseHead) => string,
): Override {
  return overrideResult("rateHeaders")((headers, ...args) =>
    headers.map(([header, old]): Header => [header, header === name ? edit(old, ...args) : old]),
  );
}

const isNearlyUsedUp = ({ limit, remaining }: WindowStatus) => limit > 200 && remaining > 0 && remaining < 4;

/**
 * Creates a limiter that admits and refuses correctly, but reports too few used requests. For its status, requests that
 * arrive within two event-loop turns count as one.
 */
function underreportingLimiter(size: WindowSize): Limiter {
  const [exact, advertised] = [fixedWindow(size), fixedWindow(size)];
  let isBusy = false;
  return overrideLimiter(exact, {
    status: (nowMs) => advertised.status(nowMs),
    count: (nowMs) => {
      exact.count(nowMs);
      if (isBusy) return;
      isBusy = true;
      advertised.count(nowMs);
      void waitEventLoopTurns(2).then(() => (isBusy = false));
    },
  });
}

const requestCost = overrideResult("requestCost");

const windowSeconds = { hour: 3600, minute: 60, address: 60 } as const;

const { rateLimit, rateRemaining, rateReset, rateResetAfter } = headerNames;
const isPlainEndpoint = ({ endpoint }: ResponseHead) =>
  endpoint !== "stream" && endpoint !== "health" && endpoint !== "unknown";
const hasStatus =
  (...statuses: readonly number[]) =>
  (head: ResponseHead) =>
    isPlainEndpoint(head) && statuses.includes(head.status);

export const headerFaults = faults("Limits / Scope of limits 2", {
  "headers-missing-on-200": fault("HDR-1", "Successful responses have no rate-limit headers.").by(
    withoutRateHeaders(hasStatus(200)),
  ),
  "limit-missing-on-200": fault("HDR-1", "Successful responses have no `X-RateLimit-Limit`.").by(
    withoutRateHeaders(hasStatus(200), [rateLimit]),
  ),
  "reset-after-missing-on-200": fault("HDR-1", "Successful responses have no `X-RateLimit-Reset-After`.").by(
    withoutRateHeaders(hasStatus(200), [rateResetAfter]),
  ),
  "headers-missing-on-400": fault("HDR-2", "A 400 has no rate-limit headers.").by(
    withoutRateHeaders(({ status }) => status === 400),
  ),
  "headers-missing-on-404": fault(["HDR-2", "HDR-7"], "A 404 of an agent has no rate-limit headers.").by(
    withoutRateHeaders(({ status, endpoint }) => status === 404 && endpoint !== "unknown"),
  ),
  "headers-missing-on-401": fault("HDR-3", "A 401 has no rate-limit headers.").by(
    withoutRateHeaders(({ status }) => status === 401),
  ),
  "headers-missing-on-429": fault("HDR-4", "A 429 has no rate-limit headers.").by(
    withoutRateHeaders(({ status }) => status === 429),
  ),
  "headers-missing-on-500": fault("HDR-5", "A 500 has no rate-limit headers.").by(
    withoutRateHeaders(({ status }) => status === 500),
  ),
  "headers-missing-on-stream": fault("HDR-6", "A stream has no rate-limit headers.").by(
    withoutRateHeaders(({ endpoint, status }) => endpoint === "stream" && status === 200),
  ),
  "headers-missing-on-health": fault("HDR-7", "Health has no rate-limit headers.").by(
    withoutRateHeaders(({ endpoint, status }) => endpoint === "health" && status === 200),
  ),
  "headers-missing-on-unknown-path": fault("HDR-8", "A path that is not defined has no rate-limit headers.").by(
    withoutRateHeaders(({ endpoint, status }) => endpoint === "unknown" && status === 404),
  ),
  "limit-with-window": fault("HDR-9", "`X-RateLimit-Limit` has its window behind it.").by(
    editRateHeader(rateLimit, (limit, { window }) => `${limit};w=${windowSeconds[window]}`),
  ),
  "last-requests-negative": fault(
    "HDR-9",
    "`X-RateLimit-Remaining` of a large window is negative when hardly anything is left.",
  ).by(editRateHeader(rateRemaining, (left, advertised) => (isNearlyUsedUp(advertised) ? `-${left}` : left))),
  "limit-sent-twice": fault("HDR-9", "`X-RateLimit-Limit` is sent twice.").by(
    overrideResult("rateHeaders")((headers) => [...headers, ...headers.slice(0, 1)]),
  ),
  "limit-of-no-tier": fault("HDR-10", "`X-RateLimit-Limit` is one more than any tier's.").by(
    editRateHeader(rateLimit, (limit) => String(Number(limit) + 1)),
    ["HDR-20"],
  ),
  "remaining-whole-on-key-usage": fault(
    ["HDR-12", "HDR-15"],
    "On key usage `X-RateLimit-Remaining` is always the whole limit.",
  ).by(
    editAdvertisedWindow((old, _nowMs, { endpoint }) =>
      endpoint === "keyUsage" ? { ...old, remaining: old.limit } : old,
    ),
  ),
  "remaining-above-limit": fault(
    "HDR-11",
    "`X-RateLimit-Remaining` is above the limit on a path that is not defined.",
  ).by(
    editRateHeader(rateRemaining, (left, { remaining, limit }, _nowMs, { endpoint }) =>
      endpoint === "unknown" ? String(remaining + limit) : left,
    ),
  ),
  "remaining-above-limit-on-403": fault("HDR-11", "On a 403 `X-RateLimit-Remaining` is above the limit.").by(
    editRateHeader(rateRemaining, (left, { remaining, limit }, _nowMs, { status }) =>
      status === 403 ? String(remaining + limit) : left,
    ),
  ),
  "hour-says-none-left-too-early": fault(
    ["HDR-12", "HDR-19"],
    "`X-RateLimit-Remaining` of the hour is 0 for its last five requests.",
  ).by(editAdvertisedWindow((old) => (old.window === "hour" && old.remaining <= 5 ? { ...old, remaining: 0 } : old))),
  "only-turns-count": fault("HDR-12", "Only invoke and stream use up the allowance.").by(
    requestCost((_, endpoint) => Number(runsAgent(endpoint))),
  ),
  "only-turns-are-limited": fault("HDR-12", "Only invoke and stream are limited, and use up the allowance.").by(() => ({
    isLimited: runsAgent,
    requestCost: (endpoint) => Number(runsAgent(endpoint)),
  })),
  "key-usage-not-counted": fault("HDR-12", "Reading key usage does not count.").by(
    requestCost((cost, endpoint) => (endpoint === "keyUsage" ? 0 : cost)),
  ),
  "deliveries-count-twice": fault("HDR-12", "Listing the deliveries of a webhook counts as two requests.").by(
    requestCost((cost, endpoint) => cost * (endpoint === "listDeliveries" ? 2 : 1)),
  ),
  "third-page-counts-twice": fault("HDR-12", "Page 3 of the list counts as two requests.").by(
    withPath((path) => requestCost((cost) => cost * (/[?&]page=3/.test(path()) ? 2 : 1))),
  ),
  "bad-requests-refunded-twice": fault("HDR-12", "A request that ends in a 400 is taken back twice.").by((base) => ({
    remainsCounted: (head) => head.status !== 400 && base.remainsCounted(head),
    refundedRequests: () => 2,
  })),
  "remaining-skips": fault("HDR-12", "`X-RateLimit-Remaining` skips a number in the middle of a window.").by(
    editAdvertisedWindow((old) => {
      const isPastMiddle = old.remaining < old.limit / 2;
      return { ...old, remaining: old.remaining - (isPastMiddle && old.remaining > 1 ? 1 : 0) };
    }),
    ["HDR-19"],
  ),
  "remaining-stands-still": fault(["HDR-12", "HDR-13"], "`X-RateLimit-Remaining` stays where it was until it is 0.").by(
    editAdvertisedWindow((old) => ({ ...old, remaining: old.remaining === 0 ? 0 : old.limit - 1 })),
  ),
  "reset-in-milliseconds": fault("HDR-14", "`X-RateLimit-Reset` is in milliseconds.").by(
    editRateHeader(rateReset, (seconds) => `${seconds}000`),
  ),
  "reset-in-milliseconds-on-403": fault("HDR-14", "On a 403 `X-RateLimit-Reset` is in milliseconds.").by(
    editRateHeader(rateReset, (seconds, _window, _nowMs, { status }) => (status === 403 ? `${seconds}000` : seconds)),
  ),
  "reset-is-a-delta": fault("HDR-14", "`X-RateLimit-Reset` is the seconds until the reset.").by(
    editRateHeader(rateReset, (seconds, _window, nowMs) =>
      String(Math.max(0, Number(seconds) - Math.floor(nowMs / 1000))),
    ),
  ),
  "reset-ten-seconds-off": fault("HDR-14", "`X-RateLimit-Reset` is ten seconds late.").by(
    editRateHeader(rateReset, (seconds) => String(Number(seconds) + 10)),
  ),
  "reset-after-stands-still": fault("HDR-15", "`X-RateLimit-Reset-After` is always the length of the window.").by(
    editAdvertisedWindow((old, nowMs) => ({ ...old, resetAtMs: nowMs + windowSeconds[old.window] * 1000 })),
  ),
  "reset-after-the-window": fault("HDR-16", "The reset is an hour and a minute too late.").by(
    editAdvertisedWindow((old) => ({ ...old, resetAtMs: old.resetAtMs + 3_660_000 })),
  ),
  "reset-after-the-window-on-403": fault("HDR-16", "On a 403 the reset is an hour and a minute too late.").by(
    editAdvertisedWindow((old, _nowMs, { status }) =>
      status === 403 ? { ...old, resetAtMs: old.resetAtMs + 3_660_000 } : old,
    ),
  ),
  "refusal-of-the-hour-has-one-left": fault("HDR-17", "A 429 for the hour reports one request left.").by(
    overrideResult("refusalWindow")((window) => (window.window === "hour" ? { ...window, remaining: 1 } : window)),
  ),
  "refusal-has-one-left": fault("HDR-17", "A 429 reports one request left.").by(
    overrideResult("refusalWindow")((window) => ({ ...window, remaining: 1 })),
  ),
  "goes-on-after-none-left": fault(
    "HDR-19",
    "The burst is admitted on top of the minute, after `X-RateLimit-Remaining` is 0.",
  ).by(
    withLimiters(({ hour, minute }, { perMinute, burst }) => {
      const advertised = fixedWindow(minute);
      const enforced = fixedWindow({ ...minute, limit: perMinute + (burst ?? perMinute) });
      const count = (nowMs: number) => [advertised, enforced].forEach((each) => each.count(nowMs));
      return [fixedWindow(hour), overrideLimiter(enforced, { count, status: (nowMs) => advertised.status(nowMs) })];
    }),
  ),
  "one-more-after-none-left-later": fault(
    "HDR-19",
    "From the second minute on one request more is admitted than `X-RateLimit-Remaining` reports; windows begin with their first request.",
  ).by(
    withLimiters(({ hour, minute }, { perMinute }) => {
      const advertised = anchoredWindow(minute);
      const enforced = anchoredWindow({ ...minute, limit: perMinute + 1 });
      let firstResetMs = Number.POSITIVE_INFINITY;
      const count = (nowMs: number) => {
        for (const each of [advertised, enforced]) each.count(nowMs);
        firstResetMs = Math.min(firstResetMs, advertised.status(nowMs).resetAtMs);
      };
      const hasRoom = (nowMs: number) => (nowMs < firstResetMs ? advertised : enforced).hasRoom(nowMs);
      return [
        anchoredWindow(hour),
        overrideLimiter(enforced, { hasRoom, count, status: (nowMs) => advertised.status(nowMs) }),
      ];
    }),
  ),
  "retry-after-header-differs": fault("HDR-18", "`Retry-After` is twice the `retry_after` of the body.").by(() => ({
    retryAfterHeader: (seconds) => String(seconds * 2 + 10),
  })),
  "retry-after-header-unreadable": fault("HDR-18", "`Retry-After` is neither seconds nor a date.").by(() => ({
    retryAfterHeader: (seconds) => `PT${seconds}S`,
  })),
  "remaining-with-fraction": fault("HDR-9", "`X-RateLimit-Remaining` is a fraction.").by(
    editRateHeader(rateRemaining, (left) => `${left}.5`),
  ),
  "limit-with-a-burst-that-is-not-there": fault(
    "HDR-10",
    "`X-RateLimit-Limit` is the minute's with a burst on top that is not admitted.",
  ).by(
    withLimiters(({ hour, minute }, { perMinute, burst }) => [
      fixedWindow(hour),
      fixedWindow({ ...minute, advertisedLimit: perMinute + (burst ?? 0) }),
    ]),
  ),
  "counts-of-requests-at-once-lost": fault(
    "HDR-13",
    "Of requests at once the headers of a large window count some only.",
  ).by((base) => ({
    limiters: (limits) =>
      limits.perMinute > 200
        ? [underreportingLimiter(windowsOf(limits).hour), underreportingLimiter(windowsOf(limits).minute)]
        : base.limiters(limits),
    refusalWindow: (refusing) => ({ ...refusing, remaining: 0 }),
  })),
});
