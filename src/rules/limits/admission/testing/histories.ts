import { type Decision, decisionOf, type DecisionOutcome, type History, type PriorUse } from "../history.ts";
import type { Random } from "./random.ts";
import type { Server } from "./server.ts";

/** How a simulated client sends, and how its network and the limiter's clock behave. */
interface Traffic {
  readonly requests: number;
  readonly toleranceMs: number;
  /** Whether the limiter uses a clock that stands still while requests are in flight. */
  readonly virtualClock: boolean;
  /** Number of requests that are sent before the history begins. */
  readonly unseen: number;
  readonly lossRate: number;
  readonly failedShare: number;
}

interface Sent {
  readonly observed: Decision;
  readonly freeMs: number;
}

interface Planned {
  readonly sentMs: number;
  readonly reachesMs: number;
  readonly virtualMs: number;
  readonly group: number;
}

/** Plans groups of requests: some sent at once, some at intervals, some as fast as possible. */
function plan(traffic: Traffic, random: Random): Planned[] {
  const planned: Planned[] = [];
  let nowMs = random.between(0, 7_200_000);
  let virtualMs = random.between(0, 7_200_000);
  const latencyMs = random.pick([1, 20, 200, 2000]);
  for (let group = 0; planned.length < traffic.requests; group += 1) {
    const size = Math.min(random.whole(1, 30), traffic.requests - planned.length);
    const gapMs = random.pick([0, 0, 1, 50, 1000, 6000, 30_000]);
    for (let index = 0; index < size; index += 1) {
      planned.push({ sentMs: nowMs, reachesMs: nowMs + random.between(0, latencyMs), virtualMs, group });
      nowMs += random.between(0, 2 * gapMs);
    }
    const pauseMs = random.pick([1, 500, 6000, 20_000, 59_000, 60_000, 61_000, 600_000, 3_600_000]);
    nowMs += (traffic.virtualClock ? 10_000 : pauseMs) + random.between(0, latencyMs);
    virtualMs += pauseMs;
  }
  return planned;
}

/** Lets a server decide on every planned request as it arrives. Records what the client observes. */
export function simulate(server: Server, traffic: Traffic, random: Random): History {
  const backMs = random.pick([1, 20, 200]);
  const worksMs = random.pick([0, 5, 300, 5000]);
  const sent = plan(traffic, random)
    .toSorted((left, right) => left.reachesMs - right.reachesMs)
    .map((planned, index) => send(server, traffic, random, planned, `r${index}`, backMs, worksMs));
  return cut(sent, traffic.unseen);
}

function send(
  server: Server,
  traffic: Traffic,
  random: Random,
  planned: Planned,
  id: string,
  backMs: number,
  worksMs: number,
): Sent {
  const { sentMs, reachesMs } = planned;
  const skewMs = random.between(-traffic.toleranceMs, traffic.toleranceMs);
  const answer = server.ask(traffic.virtualClock ? planned.virtualMs : reachesMs + skewMs, reachesMs);
  const freeMs = answer === "admitted" ? reachesMs + random.between(0, worksMs) : reachesMs;
  if (answer === "admitted") server.hold(freeMs + random.between(0, 10));
  const streams = random.chance(0.3);
  const endedMs = freeMs + random.between(0, backMs);
  const answeredMs = streams ? random.between(reachesMs, endedMs) : endedMs;
  const isDropped = random.chance(traffic.lossRate);
  const failed = answer === "admitted" && random.chance(traffic.failedShare);
  const outcome = isDropped ? "unknown" : failed ? "failed" : answer;
  const observed = decisionOf({
    id,
    sentMs,
    answeredMs: isDropped ? Infinity : answeredMs,
    endedMs: isDropped ? Infinity : endedMs,
    outcome,
    minOccupiedMs: Math.max(0, freeMs - reachesMs - 1),
    maxTransitMs: backMs,
  });
  const virtual = { fromMs: planned.virtualMs, toMs: planned.virtualMs };
  return { observed: traffic.virtualClock ? { ...observed, decided: virtual } : observed, freeMs };
}

/** Leaves out the first requests, if they were decided before the others were sent. */
function cut(sent: readonly Sent[], unseen: number): History {
  const kept = sent.slice(unseen);
  const forgotten = sent.slice(0, unseen);
  const begunMs = kept.reduce((earliest, { observed }) => Math.min(earliest, observed.inFlight.fromMs), Infinity);
  const decidedMs = forgotten.reduce((latest, { observed }) => Math.max(latest, observed.inFlight.toMs), -Infinity);
  if (forgotten.length === 0 || decidedMs >= begunMs) {
    return { priorUse: "nothing", decisions: sent.map(({ observed }) => observed) };
  }
  const freeMs = forgotten.reduce((latest, one) => Math.max(latest, one.freeMs), -Infinity);
  const priorUse: PriorUse = freeMs + 60 < begunMs ? "counted" : "anything";
  return { priorUse, decisions: kept.map(({ observed }) => observed) };
}

/** Several requests at intervals of `everyMs`, each decided within 5 ms. */
interface Step {
  readonly fromMs: number;
  readonly everyMs: number;
  readonly outcomes: readonly DecisionOutcome[];
}

export const admitted = (count: number): DecisionOutcome[] => Array.from({ length: count }, () => "admitted");
export const refused = (count: number): DecisionOutcome[] => Array.from({ length: count }, () => "refused");

/** Makes a history on a fresh key from these steps. */
export function script(...steps: readonly Step[]): History {
  const decisions = steps.flatMap((step) =>
    step.outcomes.map((outcome, at) => ({ outcome, ms: step.fromMs + at * step.everyMs })),
  );
  return { priorUse: "nothing", decisions: decisions.map(({ outcome, ms }, index) => quick(`r${index}`, ms, outcome)) };
}

function quick(id: string, sentMs: number, outcome: DecisionOutcome): Decision {
  return decisionOf({ id, sentMs, answeredMs: sentMs + 5, endedMs: sentMs + 5, outcome });
}

/** Makes a history of one request at each of these times. `admits` decides about each. */
export function drive(timesMs: readonly number[], admits: (nowMs: number) => boolean): History {
  const decisions = timesMs.map((ms, index) => quick(`r${index}`, ms, admits(ms) ? "admitted" : "refused"));
  return { priorUse: "nothing", decisions };
}
