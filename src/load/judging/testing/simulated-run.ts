import { atSpeed, type EngineName, type Flow, requestsOf, type Scenario } from "../../../../scenarios/scenario.ts";
import type { Random } from "../../../admission/testing/random.ts";
import { nothingShown } from "../../../evidence/sample.ts";
import type { TierLimits, TierName } from "../../../interface/tiers.ts";
import { histogramsOf } from "../../histogram.ts";
import { type LoadEvidence, loadEvidenceFormat, type LoadSample } from "../../load-evidence.ts";
import { decideAt, shownBy, type SimulatedServer } from "./simulated-server.ts";

/** What the world does to a run. */
export interface World {
  readonly limits: TierLimits;
  readonly tier: TierName | null;
  readonly engine: EngineName;
  readonly speed: number;
  /** Real ms, each way. */
  readonly latencyMs: number;
  readonly lostShare: number;
  /** Target's clock minus ours, at the start; ms. */
  readonly skewMs: number;
  /** By how much faster the target's clock runs than `speed` says. */
  readonly drift: number;
  readonly dates: "fresh" | "stale" | "absent";
  readonly isFresh: boolean;
}

interface Event {
  readonly atMs: number;
  readonly run: () => void;
}

const unanswered = { status: null, ...nothingShown } as const;

/** Real time that a run begins at; a Unix time of this era. */
const beganMs = 1_790_000_000_123;

/** Runs a scenario against a simulated server, and gives the evidence that an engine would. */
export function simulateRun(
  scenario: Pick<Scenario, "name" | "flows">,
  server: SimulatedServer,
  world: World,
  random: Random,
): LoadEvidence {
  const { limits, speed } = world;
  const planned = scenario.flows(limits);
  const events: Event[] = [];
  const samples: LoadSample[] = [];
  const later = (atMs: number, run: () => void) => void events.push({ atMs, run });
  const targetMs = (realMs: number) => beganMs + world.skewMs + (realMs - beganMs) * speed * (1 + world.drift);
  const send = (flow: Flow, atMs: number, answered: (sample: LoadSample) => void) => {
    const reachesMs = atMs + random.between(0.05, world.latencyMs);
    later(reachesMs, () => {
      const sample = answer(flow, atMs, reachesMs);
      samples.push(sample);
      later(sample.endMs, () => answered(sample));
    });
  };
  const answer = (flow: Flow, sentMs: number, reachesMs: number): LoadSample => {
    const nowMs = targetMs(reachesMs);
    const { operation } = flow;
    const account = server.accountOf(flow.key);
    const backMs = random.between(0.05, world.latencyMs);
    const isTurn = operation.kind === "invoke" || operation.kind === "stream";
    const counts = operation.kind === "stream" ? server.parts.countsOfStream : 1;
    if (!isTurn && operation.kind === "health" && server.parts.countsHealth) account.minute.count(nowMs);
    const decided = isTurn
      ? decideAt(account, server.parts, nowMs, counts)
      : { answer: "admitted" as const, shown: shownBy(account, server.parts, nowMs), retryAfterSeconds: null };
    const worksMs = isTurn ? worksFor(operation.agent, random) : 0;
    const takesMs = (decided.answer === "admitted" ? worksMs : server.parts.refusalTakesMs) / speed;
    const isStream = operation.kind === "stream" && decided.answer === "admitted";
    const leavesMs = flow.leaveAfterMs === null ? Infinity : sentMs + flow.leaveAfterMs / speed;
    const doneMs = reachesMs + takesMs;
    const headMs = (isStream ? reachesMs + 0.1 : doneMs) + backMs;
    const endMs = Math.max(headMs, doneMs + backMs);
    const left = leavesMs < endMs;
    const failed = operation.agent === "failing" && decided.answer === "admitted";
    if (isTurn && decided.answer === "admitted") {
      const freeMs = failed
        ? targetMs(doneMs) + server.parts.failureKeepsMs
        : left
          ? targetMs(leavesMs) + server.parts.noticeMs()
          : targetMs(doneMs) + server.parts.releaseMs();
      const keeps =
        left || operation.kind === "invoke"
          ? freeMs
          : server.parts.slotsUntil(operation.kind, freeMs, targetMs(headMs - backMs));
      account.busyUntilMs.push(keeps);
      if (failed && !server.parts.errorsCount)
        for (const limiter of [account.hour, account.minute, ...account.besides]) limiter.uncount(nowMs, nowMs);
    }
    const lost = random.chance(world.lostShare);
    const isSeen = !lost && Math.min(headMs, endMs) <= leavesMs;
    const { reset, resetAfter } = {
      reset: server.parts.round(decided.shown.resetMs / 1000),
      resetAfter: Math.max(0, server.parts.round((decided.shown.resetMs - nowMs) / 1000)),
    };
    const times = timesOf(world.engine, sentMs, Math.min(headMs, leavesMs), Math.min(endMs, leavesMs));
    const base = { flow: flow.name, key: flow.key, ...times, left, tokens: null };
    if (!isSeen) {
      return { ...base, headMs: times.endMs, ...unanswered };
    }
    return {
      ...base,
      status: decided.answer === "refused" ? 429 : failed ? 500 : 200,
      limit: decided.shown.limit,
      remaining: decided.shown.remaining,
      reset,
      resetAfter,
      retryAfterSeconds: decided.retryAfterSeconds,
      date: dateOf(world, targetMs(headMs - backMs), random),
      tokens: decided.answer === "admitted" && !failed && isTurn ? 12 : null,
    };
  };
  for (const flow of planned) drive(atSpeed(flow, speed), flow, send, later, speed);
  while (events.length > 0) next(events).run();
  samples.sort((a, b) => a.sentMs - b.sentMs);
  const exact = planned.reduce((sum, flow) => sum + (requestsOf(flow) ?? 0), 0);
  return {
    format: loadEvidenceFormat,
    scenario: scenario.name,
    engine: world.engine,
    engineVersion: "0",
    tier: world.tier,
    limits,
    flows: [...planned],
    isFresh: world.isFresh,
    startedAt: new Date(beganMs).toISOString(),
    durationMs: Math.max(0, ...samples.map(({ endMs }) => endMs - beganMs)),
    speed,
    segments: ["0:1"],
    notes: [],
    requests: samples,
    summary: [],
    generator: { planned: Math.min(exact, samples.length), sent: samples.length, dropped: 0, late: 0, busiest: 0.3 },
    latency: histogramsOf(samples),
    streams: [],
    ledger: null,
    deliveries: null,
    server: null,
    stopped: null,
  };
}

type Send = (flow: Flow, atMs: number, answered: (sample: LoadSample) => void) => void;
type Later = (atMs: number, run: () => void) => void;

/** `flow` in our own time, `own` as it is planned. */
function drive(flow: Flow, own: Flow, send: Send, later: Later, speed: number): void {
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
      later(startMs, () => round(shape.rounds, startMs));
  }
  function round(rounds: number, atMs: number): void {
    if (rounds === 0) return;
    send(own, atMs, (sample) => {
      if (sample.status !== 429 || sample.retryAfterSeconds === null) return round(rounds, sample.endMs + 0.05);
      const saidMs = (sample.retryAfterSeconds * 1000) / speed;
      const earlyMs = sample.endMs + saidMs / 3;
      later(earlyMs, () => send(own, earlyMs, () => undefined));
      const afterMs = sample.endMs + saidMs + 100 + 1000 / speed;
      later(afterMs, () => send(own, afterMs, ({ endMs }) => round(rounds - 1, endMs + 0.05)));
    });
  }
}

function next(events: Event[]): Event {
  let first = 0;
  for (let index = 1; index < events.length; index += 1)
    if ((events[index]?.atMs ?? 0) < (events[first]?.atMs ?? 0)) first = index;
  const found = events[first];
  const last = events.pop();
  if (found === undefined || last === undefined) throw new Error("no event is left");
  if (first < events.length) events[first] = last;
  return found;
}

/** How long an agent thinks, in target ms. */
function worksFor(agent: Flow["operation"]["agent"], random: Random): number {
  if (agent === "slow") return random.between(1950, 2050);
  return agent === "slowStreaming" ? random.between(8000, 11_000) : random.between(0, 5);
}

/** Whole ms are what autocannon tells. */
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
