import type { Answered, Exchange, StreamEvent } from "../../evidence/exchange.ts";
import { duration } from "../../base/duration.ts";
import type { Deadlines } from "../../wire/deadlines.ts";

/** How a run deals with a target that lets it wait. */
export interface TimeoutPolicy {
  /** To be told of each exchange that had the deadlines given here. */
  readonly observe: (exchange: Exchange) => void;
  /** The deadlines of the next request: shorter where the endpoint has been silent before, so that it cannot use up the time of the run. */
  readonly deadlinesFor: (method: string, path: string) => Partial<Deadlines>;
  /** Real time after its last event in which a stream must close, in milliseconds; then it is left. */
  readonly streamCloseTimeout: () => { readonly ms: number; readonly isKnown: boolean };
  /** Why the run should end, with figures; `null` where it may go on. */
  readonly reasonToStop: () => string | null;
}

/** What runs no agent is answered at once. */
const quick: Partial<Deadlines> = { headMs: 15_000, silenceMs: 10_000, exchangeMs: 20_000 };
/** Once an endpoint has run into a deadline, and as long as none of its answers took longer. */
const short = { headMs: 4000, silenceMs: 4000, exchangeMs: 8000 } as const;
/** Of an endpoint that was silent, answers may take so many times as long as the longest that came. */
const slower = 3;

/** Real time that deadlines may take, those that run side by side counted once. */
const mostHungMs = 40_000;
/** The same once so many were waited for one after another: each of the rest would tell as little. */
const mostOften = { turns: 4, hungMs: 25_000 } as const;
/** What runs no agent and takes so long each time is too slow for a run: real time of such answers, those side by side counted once. */
const slow = { leastMs: 5000, mostMs: 25_000 } as const;
/** So many deadlines one after another, with nothing answered in between, are the end. */
const mostInTurn = 5;
/** Every request gets this, however little is left. */
const leastMs = 5000;

/** Time in which a stream that is over closes, and in which one does of a server that has left another open. */
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
    // What was sent side by side counts once.
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

/** Slow answers that no agent had to be run for. */
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

/** A sum of stretches of time; what two of them share is counted once. */
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

/** What is silent before its head may be silent after it: both take of what is left. An answer that goes on may go on. */
function within(standing: Partial<Deadlines>, leftMs: number): Partial<Deadlines> {
  const mostMs = Math.max(leastMs, Math.round(leftMs / 1000) * 1000);
  const upTo = (ms: number = mostMs): number => Math.min(ms, mostMs);
  return { ...standing, headMs: upTo(standing.headMs), silenceMs: upTo(standing.silenceMs) };
}

const pathOf = (url: string): string => url.replace(/^\w+:\/\/[^/]*/, "").replace(/[?].*/s, "");

/** The last segment of a path, or of a URL's. */
function endpointOf(url: string): string {
  const [path = ""] = url.split("?", 1);
  return path.slice(path.lastIndexOf("/") + 1);
}

/** What may run an agent takes as long as an agent may. */
const runsAgent = (method: string, path: string): boolean => method === "POST" && !/\/(webhooks|alerts)$/.test(path);

/** The deadline that an exchange ran into; `null` where it did not. */
function deadlineIn({ answer }: Exchange): string | null {
  if (answer.kind === "unanswered") return answer.reason === "silent" ? answer.detail : null;
  return answer.ending.kind === "deadline" ? answer.ending.detail : null;
}

/** When the target was last heard of: of what we closed ourselves, the end says how long we waited. */
const lastSignMs = ({ ending, events, headMs, endMs }: Answered): number =>
  ending.kind === "closed by us" ? (events.at(-1)?.atMs ?? headMs) : endMs;

/** Whether a stream stayed open after its last event. */
const isLeftOpen = ({ answer }: Exchange): boolean =>
  answer.kind === "answered" && answer.ending.kind === "deadline" && answer.events.some(isLastEvent);

/** Whether a stream should end with an event. */
export const isLastEvent = ({ name }: StreamEvent): boolean => name === "done" || name === "error";
