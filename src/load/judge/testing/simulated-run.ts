import {
  atSpeed,
  earlyRetrySeconds,
  type EngineName,
  type Flow,
  lateRetrySeconds,
  requestCount,
  type Scenario,
} from "../../scenarios.ts";
import type { Random } from "../../../rules/limits/admission/testing/random.ts";
import { noRateLimitInfo } from "../../../rules/limits/rate-limit-info.ts";
import type { TierLimits, TierName } from "../../../spec/tiers.ts";
import type { LoadEvidence, LoadSample } from "../../../evidence/load-evidence.ts";
import { evidenceOf } from "../../testing/samples.ts";
import { type Account, type Decided, decideAt, reportOf, type SimulatedServer } from "./simulated-server.ts";

/** The network, the clocks and the engine of a simulated run. */
export interface World {
  readonly limits: TierLimits;
  readonly tier: TierName | null;
  readonly engine: EngineName;
  readonly speed: number;
  /** Maximum network delay in each direction, in real ms. */
  readonly latencyMs: number;
  readonly lossShare: number;
  /** Milliseconds by which the target's clock is ahead of the client's at the start. */
  readonly skewMs: number;
  /** Share by which the target's clock runs faster than `speed` says. */
  readonly drift: number;
  readonly dates: "fresh" | "stale" | "absent";
  readonly isFresh: boolean;
}

const unanswered = { status: null, ...noRateLimitInfo } as const;

/** Runs a scenario against a simulated server. Returns the evidence that an engine would return. */
export function simulateRun(
  scenario: Pick<Scenario, "name" | "flows">,
  server: SimulatedServer,
  world: World,
  random: Random,
): LoadEvidence {
  const planned = scenario.flows(world.limits);
  const events: Event[] = [];
  const samples: LoadSample[] = [];
  const later: Later = (atMs, run) => void events.push({ atMs, run });
  const send: Send = (flow, atMs, answered) => {
    const reachesMs = atMs + random.between(0.05, world.latencyMs);
    later(reachesMs, () => {
      const sample = answer(flow, { sentMs: atMs, reachesMs }, { server, world, random });
      samples.push(sample);
      later(sample.endMs, () => answered(sample));
    });
  };
  for (const flow of planned) drive(atSpeed(flow, world.speed), flow, send, later, world.speed);
  while (events.length > 0) next(events).run();
  return runEvidence(
    scenario.name,
    planned,
    samples.toSorted((a, b) => a.sentMs - b.sentMs),
    world,
  );
}

interface Parties {
  readonly server: SimulatedServer;
  readonly world: World;
  readonly random: Random;
}

const targetMsAt = ({ skewMs, speed, drift }: World, realMs: number): number =>
  beganMs + skewMs + (realMs - beganMs) * speed * (1 + drift);

/** The course of a request, in times of the client's clock. */
interface Course {
  readonly sentMs: number;
  readonly reachesMs: number;
  readonly doneMs: number;
  readonly headMs: number;
  readonly endMs: number;
  readonly leavesMs: number;
  /** Network delay of the response. */
  readonly backMs: number;
  readonly left: boolean;
  readonly failed: boolean;
}

function answer(
  flow: Flow,
  { sentMs, reachesMs }: Pick<Course, "sentMs" | "reachesMs">,
  { server, world, random }: Parties,
): LoadSample {
  const nowMs = targetMsAt(world, reachesMs);
  const { operation } = flow;
  const account = server.accountOf(flow.key);
  const backMs = random.between(0.05, world.latencyMs);
  const decided = decisionOn(flow, account, server, nowMs);
  const isAdmitted = decided.answer === "admitted";
  const worksMs = isTurn(flow) ? worksFor(operation.agent, random) : 0;
  const doneMs = reachesMs + (isAdmitted ? worksMs : server.parts.refusalTakesMs) / world.speed;
  const headMs = (operation.kind === "stream" && isAdmitted ? reachesMs + 0.1 : doneMs) + backMs;
  const endMs = Math.max(headMs, doneMs + backMs);
  const leavesMs = flow.leaveAfterMs === null ? Infinity : sentMs + flow.leaveAfterMs / world.speed;
  const failed = operation.agent === "failing" && isAdmitted;
  const left = leavesMs < endMs;
  const course = { sentMs, reachesMs, doneMs, headMs, endMs, leavesMs, backMs, left, failed };
  if (isTurn(flow) && isAdmitted) settleSlot(flow, course, account, { server, world, random });
  return sampleOf(flow, course, decided, { server, world, random });
}

const isTurn = ({ operation: { kind } }: Flow): boolean => kind === "invoke" || kind === "stream";

function decisionOn(flow: Flow, account: Account, { parts }: SimulatedServer, nowMs: number): Decided {
  if (isTurn(flow)) return decideAt(account, parts, nowMs, flow.operation.kind === "stream" ? parts.countsOfStream : 1);
  if (flow.operation.kind === "health" && parts.countsHealth) account.minute.count(nowMs);
  return { answer: "admitted", shown: reportOf(account, parts, nowMs), retryAfterSeconds: null };
}

/** Sets until when an admitted request holds its slot. Uncounts a failed request if errors do not count. */
function settleSlot(
  { operation }: Flow,
  course: Course,
  account: Account,
  { server: { parts }, world }: Parties,
): void {
  const { doneMs, headMs, backMs, leavesMs, left, failed, reachesMs } = course;
  const freeMs = failed
    ? targetMsAt(world, doneMs) + parts.failureKeepsMs
    : left
      ? targetMsAt(world, leavesMs) + parts.noticeMs()
      : targetMsAt(world, doneMs) + parts.releaseMs();
  const isWhole = !left && operation.kind === "stream";
  account.busyUntilMs.push(isWhole ? parts.slotsUntil("stream", freeMs, targetMsAt(world, headMs - backMs)) : freeMs);
  if (!failed || parts.errorsCount) return;
  const nowMs = targetMsAt(world, reachesMs);
  for (const limiter of [account.hour, account.minute, ...account.extraLimiters]) limiter.uncount(nowMs, nowMs);
}

function sampleOf(flow: Flow, course: Course, decided: Decided, { server, world, random }: Parties): LoadSample {
  const { sentMs, reachesMs, headMs, endMs, leavesMs, backMs, left, failed } = course;
  const { shown, retryAfterSeconds } = decided;
  const { round } = server.parts;
  const isAnswered = !random.chance(world.lossShare) && Math.min(headMs, endMs) <= leavesMs;
  const times = timesOf(world.engine, sentMs, Math.min(headMs, leavesMs), Math.min(endMs, leavesMs));
  const base = { flow: flow.name, key: flow.key, ...times, left, tokens: null, flaws: null };
  if (!isAnswered) return { ...base, headMs: times.endMs, ...unanswered };
  return {
    ...base,
    status: decided.answer === "refused" ? 429 : failed ? 500 : 200,
    ...noRateLimitInfo,
    limit: shown.limit,
    remaining: shown.remaining,
    reset: round(shown.resetMs / 1000),
    resetAfter: Math.max(0, round((shown.resetMs - targetMsAt(world, reachesMs)) / 1000)),
    retryAfterSeconds,
    date: dateOf(world, targetMsAt(world, headMs - backMs), random),
    tokens: decided.answer === "admitted" && !failed && isTurn(flow) ? 12 : null,
    flaws: [],
  };
}

function runEvidence(
  scenario: string,
  planned: readonly Flow[],
  samples: readonly LoadSample[],
  { engine, tier, limits, isFresh, speed }: World,
): LoadEvidence {
  const exact = planned.reduce((sum, flow) => sum + (requestCount(flow) ?? 0), 0);
  return evidenceOf(samples, {
    scenario,
    engine,
    engineVersion: "0",
    tier,
    limits,
    flows: [...planned],
    isFresh,
    startedAt: new Date(beganMs).toISOString(),
    durationMs: Math.max(0, ...samples.map(({ endMs }) => endMs - beganMs)),
    speed,
    generator: { planned: Math.min(exact, samples.length), sent: samples.length, dropped: 0, late: 0, busiest: 0.3 },
  });
}

/** Returns how long an agent works, in ms of the target's clock. */
function worksFor(agent: Flow["operation"]["agent"], random: Random): number {
  if (agent === "slow") return random.between(1950, 2050);
  return agent === "slowStreaming" ? random.between(8000, 11_000) : random.between(0, 5);
}

/** Rounds the times as the engine does: autocannon reports whole milliseconds. */
function timesOf(
  engine: EngineName,
  sentMs: number,
  headMs: number,
  endMs: number,
): Pick<LoadSample, "sentMs" | "headMs" | "endMs"> {
  return engine === "k6"
    ? { sentMs, headMs, endMs }
    : { sentMs: Math.round(sentMs), headMs: Math.round(headMs), endMs: Math.round(endMs) };
}

function dateOf({ dates }: World, targetMs: number, random: Random): number | null {
  if (dates === "absent") return null;
  return Math.floor((targetMs - (dates === "stale" ? random.between(0, 1000) : 0)) / 1000);
}

/** Real time at which each run begins: a Unix time of our years. */
export const beganMs = 1_790_000_000_123;

/** Something that happens at an instant of real time. */
export interface Event {
  readonly atMs: number;
  readonly run: () => void;
}

export type Send = (flow: Flow, atMs: number, answered: (sample: LoadSample) => void) => void;
export type Later = (atMs: number, run: () => void) => void;

/** Sends a flow in its shape. `flow` has the times of the client's clock, and `own` the planned times. */
export function drive(flow: Flow, own: Flow, send: Send, later: Later, speed: number): void {
  const startMs = beganMs + flow.afterSeconds * 1000;
  const { shape } = flow;
  const chain = (atMs: number, more: (atMs: number) => boolean): void => {
    if (more(atMs)) send(own, atMs, ({ endMs }) => chain(endMs + 0.05, more));
  };
  switch (shape.kind) {
    case "at once":
      for (let at = 0; at < shape.requests; at += 1)
        later(startMs + at * 0.02, () => send(own, startMs + at * 0.02, () => undefined));
      return;
    case "in turn":
    case "shared": {
      let left = shape.requests;
      const lanes = shape.kind === "shared" ? shape.atOnce : 1;
      for (let lane = 0; lane < lanes; lane += 1) later(startMs, () => chain(startMs, () => (left -= 1) >= 0));
      return;
    }
    case "closed":
      for (let lane = 0; lane < shape.atOnce; lane += 1)
        later(startMs, () => chain(startMs, (atMs) => atMs < startMs + shape.seconds * 1000));
      return;
    case "paced":
      for (let at = 0; at < shape.perSecond * shape.seconds; at += 1)
        later(startMs + (at * 1000) / shape.perSecond, () =>
          send(own, startMs + (at * 1000) / shape.perSecond, () => undefined),
        );
      return;
    case "after refusal":
      later(startMs, () => round(0, shape.rounds, startMs));
  }
  function round(at: number, rounds: number, atMs: number): void {
    if (at === rounds) return;
    send(own, atMs, ({ status, retryAfterSeconds, endMs: fromMs }) => {
      if (status !== 429 || retryAfterSeconds === null) return round(at, rounds, fromMs + 0.05);
      const askAt = ([dueMs, ...others]: readonly number[], from: number): void => {
        if (dueMs === undefined) return round(at + 1, rounds, from + 0.05);
        const dueAtMs = Math.max(dueMs, from + 0.05);
        later(dueAtMs, () => send(own, dueAtMs, ({ endMs }) => askAt(others, endMs)));
      };
      const after = (seconds: number): number => fromMs + (seconds * 1000) / speed;
      const early = earlyRetrySeconds(retryAfterSeconds, at).map(after);
      askAt([...early, after(lateRetrySeconds(retryAfterSeconds)) + 100], fromMs);
    });
  }
}

/** Removes the earliest event and returns it. */
export function next(events: Event[]): Event {
  let first = 0;
  for (let index = 1; index < events.length; index += 1)
    if ((events[index]?.atMs ?? 0) < (events[first]?.atMs ?? 0)) first = index;
  const found = events[first];
  const last = events.pop();
  if (found === undefined || last === undefined) throw new Error("no event is left");
  if (first < events.length) events[first] = last;
  return found;
}
