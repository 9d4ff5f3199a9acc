import type { Answered, Exchange, StreamEvent } from "../../evidence/exchange.ts";
import { isFinalEventName } from "../../rules/streams/streams.ts";
import { formatDuration } from "../../base/duration.ts";
import type { Deadlines } from "../../wire/deadlines.ts";
import { getOrAdd } from "../../base/memoize.ts";

/** Shortens deadlines, and finally stops the run, if the target responds late or not at all. */
export interface TimeoutPolicy {
  /** Must be called with each exchange whose deadlines came from {@link deadlinesFor}. */
  readonly observe: (exchange: Exchange) => void;
  /** Returns a request's deadlines, which are shorter for requests that run no agent, and after earlier timeouts. */
  readonly deadlinesFor: (method: string, path: string) => Partial<Deadlines>;
  /**
   * Returns how long to wait for a stream to close after its last event. `isKnown` is true if an earlier stream stayed
   * open.
   */
  readonly streamCloseTimeout: () => { readonly ms: number; readonly isKnown: boolean };
  readonly reasonToStop: () => string | null;
}

const deadlinesWithoutAgent: Partial<Deadlines> = { headMs: 15_000, silenceMs: 10_000, exchangeMs: 20_000 };
/** Minimum deadlines of an endpoint after a timeout, however fast its earlier responses were. */
const minDeadlinesAfterTimeout = { headMs: 4000, silenceMs: 4000, exchangeMs: 8000 } as const;
/** After a timeout, an endpoint's deadline is this many times its longest response time. */
const slowEndpointFactor = 3;

/** The run stops when timeouts have taken this long in total. Overlapping timeouts count once. */
const maxTimeoutTotalMs = 40_000;
/** The run also stops after `count` timeouts that did not overlap, if all timeouts took at least `totalMs` in total. */
const repeatedTimeouts = { count: 4, totalMs: 25_000 } as const;
/**
 * The run stops when slow responses have taken `maxTotalMs` in total. A response is slow if it takes `minMs` or more,
 * although the request runs no agent.
 */
const lateResponseLimits = { minMs: 5000, maxTotalMs: 25_000 } as const;
/** The run stops after this many timeouts without a response in between. Overlapping timeouts count once. */
const maxTimeoutsInSequence = 5;
/**
 * As the total of the timeouts approaches `maxTimeoutTotalMs`, deadlines of endpoints without a timeout become shorter,
 * but not shorter than this.
 */
const minDeadlineMs = 5000;

/** Maximum wait for the target to close a stream after the last event; `knownMs` if an earlier stream stayed open. */
const streamCloseLimits = { ms: 3000, knownMs: 300 } as const;

export function createTimeoutPolicy(now: () => number): TimeoutPolicy {
  const endpoints = new Map<string, { hasTimedOut: boolean; longestMs: number }>();
  const timeouts = trackTimeouts(now);
  const lateResponses = trackLateResponses();
  let leavesStreamsOpen = false;
  let responseCount = 0;

  const stateOf = (endpoint: string) => getOrAdd(endpoints, endpoint, () => ({ hasTimedOut: false, longestMs: 0 }));

  const observe = (exchange: Exchange): void => {
    responseCount += 1;
    const { answer, request, sentMs } = exchange;
    if (isLeftOpen(exchange)) {
      // Probes newer than requirement set 1.0 must not shorten `streamCloseTimeout`. Otherwise, they could change the
      // result of SSE-28, which judges whether the server closes streams in time.
      leavesStreamsOpen ||= exchange.since === undefined;
      return;
    }
    const state = stateOf(endpointOf(request.url));
    const detail = deadlineIn(exchange);
    if (detail !== null) {
      state.hasTimedOut = true;
      return timeouts.observe(exchange, detail);
    }
    if (answer.kind === "unanswered") return;
    timeouts.endSequence();
    lateResponses.observe(exchange);
    state.longestMs = Math.max(state.longestMs, lastDataMs(answer) - sentMs);
  };

  const deadlinesFor = (method: string, path: string): Partial<Deadlines> => {
    const usual = runsAgent(method, path) ? {} : deadlinesWithoutAgent;
    const { hasTimedOut, longestMs } = stateOf(endpointOf(path));
    if (!hasTimedOut)
      return timeouts.totalMs() === 0 ? usual : limitDeadlines(usual, maxTimeoutTotalMs - timeouts.totalMs());
    const expectedMs = Math.ceil((longestMs * slowEndpointFactor) / 1000) * 1000;
    return {
      headMs: Math.max(minDeadlinesAfterTimeout.headMs, expectedMs),
      silenceMs: Math.max(minDeadlinesAfterTimeout.silenceMs, expectedMs),
      exchangeMs: Math.max(minDeadlinesAfterTimeout.exchangeMs, expectedMs),
    };
  };

  return {
    observe,
    deadlinesFor,
    reasonToStop: () => timeouts.reasonToStop(responseCount) ?? lateResponses.reasonToStop(responseCount),
    streamCloseTimeout: () =>
      leavesStreamsOpen
        ? { ms: streamCloseLimits.knownMs, isKnown: true }
        : { ms: streamCloseLimits.ms, isKnown: false },
  };
}

function trackTimeouts(now: () => number) {
  const time = sumPeriods();
  let [count, separate, inSequence, lastMs] = [0, 0, 0, 0];
  let last = "";
  return {
    observe: ({ request, answer, sentMs }: Exchange, detail: string): void => {
      count += 1;
      time.add(sentMs, answer.endMs);
      if (sentMs >= lastMs) {
        inSequence += 1;
        separate += 1;
        lastMs = now();
      }
      last = `${request.method} ${pathOf(request.url)}: ${detail}`;
    },
    endSequence: (): void => {
      inSequence = 0;
    },
    totalMs: time.ms,
    reasonToStop: (responses: number): string | null => {
      const totalMs = time.ms();
      const isRepeated = totalMs >= repeatedTimeouts.totalMs && separate >= repeatedTimeouts.count;
      return totalMs >= maxTimeoutTotalMs || inSequence >= maxTimeoutsInSequence || isRepeated
        ? `${count} of ${responses} requests timed out, which took ${formatDuration(totalMs)} in total; the last one was ${last}`
        : null;
    },
  };
}

function trackLateResponses() {
  const sum = sumPeriods();
  let [count, last] = [0, ""];
  return {
    observe: ({ request, answer, sentMs }: Exchange): void => {
      const tookMs = answer.endMs - sentMs;
      if (tookMs < lateResponseLimits.minMs || runsAgent(request.method, pathOf(request.url))) return;
      count += 1;
      sum.add(sentMs, answer.endMs);
      last = `${request.method} ${pathOf(request.url)}: ${formatDuration(tookMs)}`;
    },
    reasonToStop: (responses: number): string | null =>
      sum.ms() < lateResponseLimits.maxTotalMs
        ? null
        : `${count} of ${responses} responses took ${formatDuration(lateResponseLimits.minMs)} or more although no agent ran, ${formatDuration(sum.ms())} in total; the last one was ${last}`,
  };
}

/** Adds up periods of time. Time in which several periods overlap counts once. */
function sumPeriods() {
  let [sumMs, untilMs] = [0, 0];
  return {
    add: (fromMs: number, toMs: number): void => {
      sumMs += Math.max(0, toMs - Math.max(fromMs, untilMs));
      untilMs = Math.max(untilMs, toMs);
    },
    ms: (): number => sumMs,
  };
}

function limitDeadlines(usual: Partial<Deadlines>, leftMs: number): Partial<Deadlines> {
  const maxMs = Math.max(minDeadlineMs, Math.round(leftMs / 1000) * 1000);
  const upTo = (ms: number = maxMs): number => Math.min(ms, maxMs);
  return { ...usual, headMs: upTo(usual.headMs), silenceMs: upTo(usual.silenceMs) };
}

const pathOf = (url: string): string => url.replace(/^\w+:\/\/[^/]*/, "").replace(/[?].*/s, "");

function endpointOf(url: string): string {
  const [path = ""] = url.split("?", 1);
  return path.slice(path.lastIndexOf("/") + 1);
}

const runsAgent = (method: string, path: string): boolean => method === "POST" && !/\/(webhooks|alerts)$/.test(path);

function deadlineIn({ answer }: Exchange): string | null {
  if (answer.kind === "unanswered") return answer.reason === "silent" ? answer.detail : null;
  return answer.ending.kind === "deadline" ? answer.ending.detail : null;
}

/** Returns when the last data arrived. If the harness closed the connection, this is the time of the last event. */
const lastDataMs = ({ ending, events, headMs, endMs }: Answered): number =>
  ending.kind === "closed by us" ? (events.at(-1)?.atMs ?? headMs) : endMs;

const isLeftOpen = ({ answer }: Exchange): boolean =>
  answer.kind === "answered" && answer.ending.kind === "deadline" && answer.events.some(isLastEvent);

export const isLastEvent = ({ name }: StreamEvent): boolean => isFinalEventName(name);
