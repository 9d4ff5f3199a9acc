import type { Answered, Exchange, StreamEvent } from "../../evidence/exchange.ts";
import { duration } from "../../base/duration.ts";
import type { Deadlines } from "../../wire/deadlines.ts";

/** Adapts timeouts to a target that responds late or not at all. */
export interface TimeoutPolicy {
  /** Learns from an exchange that was sent with the deadlines of this policy. */
  readonly observe: (exchange: Exchange) => void;
  /**
   * Deadlines of the next request. They get shorter after a timeout of the endpoint, so that it cannot use up the
   * run's time.
   */
  readonly deadlinesFor: (method: string, path: string) => Partial<Deadlines>;
  /**
   * How long to wait for a stream to close after its last event, in milliseconds of real time. Streams that stay open
   * longer are abandoned.
   */
  readonly streamCloseTimeout: () => { readonly ms: number; readonly isKnown: boolean };
  /** Why the run should stop, with figures. `null` if it may continue. */
  readonly reasonToStop: () => string | null;
}

/** Deadlines of requests that run no agent. */
const quick: Partial<Deadlines> = { headMs: 15_000, silenceMs: 10_000, exchangeMs: 20_000 };
/** Shortest deadlines of an endpoint after its first timeout. */
const short = { headMs: 4000, silenceMs: 4000, exchangeMs: 8000 } as const;
/** After a timeout, an endpoint gets this multiple of its longest response time. */
const slower = 3;

/** Total real time to spend on timeouts before the run stops. Concurrent ones count once. */
const mostHungMs = 40_000;
/** The run stops earlier after this many timeouts in sequence, because more of them show nothing new. */
const mostOften = { turns: 4, hungMs: 25_000 } as const;
/**
 * A response is late from `minMs` if no agent runs. The run stops once late responses have taken `maxTotalMs`,
 * concurrent ones counted once.
 */
const slow = { leastMs: 5000, mostMs: 25_000 } as const;
/** The run stops after this many timeouts in sequence without a response in between. */
const mostInTurn = 5;
/** Minimum deadline of a request, however little time is left. */
const leastMs = 5000;

/** How long a stream may stay open after its last event, before and after the target has left one open. */
const closing = { ms: 3000, knownMs: 300 } as const;

export function createTimeoutPolicy(now: () => number): TimeoutPolicy {
  const endpoints = new Map<string, { hung: number; longestMs: number }>();
  let staysOpen = false;
  let [hung, turns, inTurn, turnEndMs, answers] = [0, 0, 0, 0, 0];
  const hanging = startSum();
  const lateness = startLateness();
  let last = "";

  const at = (endpoint: string): { hung: number; longestMs: number } => {
    const known = endpoints.get(endpoint) ?? { hung: 0, longestMs: 0 };
    endpoints.set(endpoint, known);
    return known;
  };

  const sawHung = ({ request, answer, sentMs }: Exchange, detail: string): void => {
    at(endpointOf(request.url)).hung += 1;
    hung += 1;
    hanging.add(sentMs, answer.endMs);
    // Concurrent requests count once.
    if (sentMs >= turnEndMs) {
      inTurn += 1;
      turns += 1;
      turnEndMs = now();
    }
    last = `${request.method} ${pathOf(request.url)}: ${detail}`;
  };

  const observe = (exchange: Exchange): void => {
    answers += 1;
    const { answer, request, sentMs } = exchange;
    if (isLeftOpen(exchange)) {
      staysOpen = true;
      return;
    }
    const detail = deadlineIn(exchange);
    if (detail !== null) return sawHung(exchange, detail);
    if (answer.kind === "unanswered") return;
    inTurn = 0;
    lateness.saw(exchange);
    const known = at(endpointOf(request.url));
    known.longestMs = Math.max(known.longestMs, lastSignMs(answer) - sentMs);
  };

  const deadlinesFor = (method: string, path: string): Partial<Deadlines> => {
    const standing = runsAgent(method, path) ? {} : quick;
    const known = endpoints.get(endpointOf(path));
    if (known === undefined || known.hung === 0)
      return hanging.ms() === 0 ? standing : within(standing, mostHungMs - hanging.ms());
    const longMs = Math.ceil((known.longestMs * slower) / 1000) * 1000;
    return {
      headMs: Math.max(short.headMs, longMs),
      silenceMs: Math.max(short.silenceMs, longMs),
      exchangeMs: Math.max(short.exchangeMs, longMs),
    };
  };

  const reasonToStop = (): string | null => {
    const hungMs = hanging.ms();
    if (hungMs >= mostHungMs || inTurn >= mostInTurn || (hungMs >= mostOften.hungMs && turns >= mostOften.turns))
      return `${hung} of ${answers} answers ran into a deadline, which took ${duration(hungMs)}, the last one ${last}`;
    return lateness.exhausted(answers);
  };

  return {
    observe,
    deadlinesFor,
    reasonToStop,
    streamCloseTimeout: () => (staysOpen ? { ms: closing.knownMs, isKnown: true } : { ms: closing.ms, isKnown: false }),
  };
}

/** Tracks late responses of requests that run no agent. */
function startLateness(): {
  readonly saw: (exchange: Exchange) => void;
  readonly exhausted: (answers: number) => string | null;
} {
  const sum = startSum();
  let [late, last] = [0, ""];
  return {
    saw: ({ request, answer, sentMs }) => {
      const tookMs = answer.endMs - sentMs;
      if (tookMs < slow.leastMs || runsAgent(request.method, pathOf(request.url))) return;
      late += 1;
      sum.add(sentMs, answer.endMs);
      last = `${request.method} ${pathOf(request.url)}: ${duration(tookMs)}`;
    },
    exhausted: (answers) =>
      sum.ms() < slow.mostMs
        ? null
        : `${late} of ${answers} answers took ${duration(slow.leastMs)} and more where no agent runs, ${duration(sum.ms())} in all, the last one ${last}`,
  };
}

/** Adds up periods of time. Overlaps count once. */
function startSum(): { readonly add: (fromMs: number, toMs: number) => void; readonly ms: () => number } {
  let [sumMs, untilMs] = [0, 0];
  return {
    add: (fromMs, toMs) => {
      sumMs += Math.max(0, toMs - Math.max(fromMs, untilMs));
      untilMs = Math.max(untilMs, toMs);
    },
    ms: () => sumMs,
  };
}

/** Limits the head and silence timeouts to the time that is left. A response that keeps sending may continue. */
function within(standing: Partial<Deadlines>, leftMs: number): Partial<Deadlines> {
  const mostMs = Math.max(leastMs, Math.round(leftMs / 1000) * 1000);
  const upTo = (ms: number = mostMs): number => Math.min(ms, mostMs);
  return { ...standing, headMs: upTo(standing.headMs), silenceMs: upTo(standing.silenceMs) };
}

const pathOf = (url: string): string => url.replace(/^\w+:\/\/[^/]*/, "").replace(/[?].*/s, "");

/** The last segment of a path or a URL. */
function endpointOf(url: string): string {
  const [path = ""] = url.split("?", 1);
  return path.slice(path.lastIndexOf("/") + 1);
}

/** Whether a request may run an agent, and so gets the agent's time limit. */
const runsAgent = (method: string, path: string): boolean => method === "POST" && !/\/(webhooks|alerts)$/.test(path);

/** The deadline that ended the exchange. `null` if none did. */
function deadlineIn({ answer }: Exchange): string | null {
  if (answer.kind === "unanswered") return answer.reason === "silent" ? answer.detail : null;
  return answer.ending.kind === "deadline" ? answer.ending.detail : null;
}

/** When the target last sent anything. The end of an exchange that the harness closed is not such a time. */
const lastSignMs = ({ ending, events, headMs, endMs }: Answered): number =>
  ending.kind === "closed by us" ? (events.at(-1)?.atMs ?? headMs) : endMs;

/** Whether a stream stayed open after its final event. */
const isLeftOpen = ({ answer }: Exchange): boolean =>
  answer.kind === "answered" && answer.ending.kind === "deadline" && answer.events.some(isLastEvent);

/** Whether an event is the final one of a stream. */
export const isLastEvent = ({ name }: StreamEvent): boolean => name === "done" || name === "error";
