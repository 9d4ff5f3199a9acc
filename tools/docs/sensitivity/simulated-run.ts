import type { Exchange } from "../../../src/evidence/exchange.ts";
import type { TierLimits } from "../../../src/spec/tiers.ts";
import type { Limiter } from "../../../src/reference/limits/windows.ts";
import { defaultBounds } from "../../../src/run/plan/bounds.ts";
import { openClient } from "../../../src/run/send/client.ts";
import type { ClientContext } from "../../../src/run/send/send-request.ts";
import { noOutages } from "../../../src/run/send/outages.ts";
import { startPacer } from "../../../src/run/send/pacer.ts";
import type { Need } from "../../../src/run/plan/needs.ts";
import type { Probe, TierProbeContext } from "../../../src/run/probe.ts";
import { startRecorder } from "../../../src/run/send/recorder.ts";
import { startRunClock } from "../../../src/run/time/run-clock.ts";
import { defaultKeyTraits, defaultTargetTraits, type Target, type TargetKey } from "../../../src/target/target.ts";

/** A simulated target whose only function is rate limiting, and the conditions of the run that tests it. */
export interface SimulatedTarget {
  readonly limits: TierLimits;
  /** Limiters of the target. A request is admitted only if each limiter admits it. */
  readonly limiters: readonly Limiter[];
  readonly advertised: Limiter;
  /** Unix time of the target at the start of the run. It decides when the next fixed window begins. */
  readonly startMs: number;
  readonly isFresh: boolean;
  readonly hasClock: boolean;
  readonly maxWaitMs: number;
}

const latencyMs = 4;
/** Earlier requests of the key, as shares of the limit per minute, and the pause after them. None with a test clock. */
const earlierRequests = { invokeShare: 0.3, usageShare: 0.2, pauseMs: 2000 } as const;

export interface SimulatedEvidence {
  readonly probed: unknown;
  readonly reviewed: unknown;
}

export async function simulateProbe(target: SimulatedTarget, probe: Probe, review: Probe): Promise<SimulatedEvidence> {
  if (probe.per !== "tier") throw new Error(`the probe "${probe.name}" is not of a tier`);
  if (review.per === "tier") throw new Error(`the probe "${review.name}" is of a tier`);
  const { hasClock, maxWaitMs, limits } = target;
  let realMs = 0;
  let clockMs = 0;
  const sleep = async (ms: number): Promise<void> => void (realMs += ms);
  const advance = async (ms: number): Promise<void> => void (clockMs += ms);
  const known = knownTarget(target, hasClock ? { advance, settleMs: 0, agentsFollow: true } : null);
  const signal = new AbortController().signal;
  const time = startRunClock({ clock: known.clock, maxWaitMs, signal, timers: { now: () => realMs, sleep } });
  const recorder = startRecorder();
  const transport = simulatedTransport(
    target,
    () => ({ sentMs: realMs, clockMs }),
    () => (realMs += latencyMs),
  );
  const clientContext: ClientContext = {
    baseUrl: known.baseUrl,
    requestTarget: known,
    transport: { ...transport, close: async () => {} },
    recorder,
    pacer: startPacer(time, () => limits),
    time,
    outages: noOutages,
    ...defaultBounds,
    maxRequests: Infinity,
    maxWindow: Infinity,
    maxWaitMs,
    signal,
  };
  const client = openClient(clientContext, ownKey(target));
  if (!hasClock) {
    for (let sent = 0; sent < earlierRequests.invokeShare * limits.perMinute; sent += 1)
      await client.sample("POST", invokePath);
    for (let sent = 0; sent < earlierRequests.usageShare * limits.perMinute; sent += 1)
      await client.sample("GET", "/usage");
    realMs += earlierRequests.pauseMs;
  }
  const context: TierProbeContext<Need> = {
    given: { "agents.answering": "echo" } as TierProbeContext<Need>["given"],
    client,
    time,
    target: known,
    recorder,
    outages: noOutages,
    discovery: { listing: unansweredUsageRead, usage: unansweredUsageRead, health: [], invoked: null },
    receiver: () => Promise.reject(new Error("a simulated run has no receiver")),
    readOnly: false,
    coverageSeed: 1,
    limitTests: () => [],
    tested: { tier: "own", key: client.key, limits, siblingKey: null },
  };
  const probed = await probe.run(context);
  return { probed, reviewed: await review.run(context) };
}

const invokePath = "/agents/echo/invoke";

/** Discovery's `GET /usage` without a response. It cannot show that reads count, so probes use up limits by invokes. */
const unansweredUsageRead: Exchange = {
  id: "x0",
  key: null,
  sentMs: 0,
  clockMs: 0,
  request: { method: "GET", url: "/v1/usage", headers: [], body: { kind: "none" } },
  answer: { kind: "unanswered", reason: "silent", detail: "", endMs: 0 },
};

const ownKey = ({ isFresh }: SimulatedTarget): TargetKey => ({
  ...defaultKeyTraits,
  name: "key",
  key: "ah_key",
  tier: "own",
  variable: "KEY",
  fresh: isFresh,
});

const knownTarget = (target: SimulatedTarget, clock: Target["clock"]): Target => ({
  ...defaultTargetTraits,
  name: "simulated",
  baseUrl: "http://127.0.0.1/v1",
  keys: { key: ownKey(target) },
  tiers: { own: target.limits },
  clock,
});

interface SentRequest {
  readonly sentMs: number;
  readonly clockMs: number;
}

function simulatedTransport(
  { limiters, advertised, startMs }: SimulatedTarget,
  now: () => SentRequest,
  pass: () => number,
): Pick<ClientContext["transport"], "open" | "openFast"> {
  let count = 0;
  const answer = (url: string, key: string | null): Exchange => {
    const sent = now();
    const endMs = pass();
    const atMs = startMs + endMs + sent.clockMs;
    const isLimited = !url.endsWith("/health");
    const refusing = isLimited ? limiters.find((each) => !each.hasRoom(atMs)) : undefined;
    if (isLimited && refusing === undefined) for (const each of limiters) each.count(atMs);
    const { limit, remaining, resetAtMs } = (refusing ?? advertised).status(atMs);
    const status = refusing === undefined ? 200 : 429;
    const waitSeconds = refusing === undefined ? 0 : Math.max(1, Math.ceil((refusing.roomAtMs(atMs) - atMs) / 1000));
    const text = JSON.stringify(refusing === undefined ? {} : { error: { status, retry_after: waitSeconds } });
    count += 1;
    return {
      ...sent,
      id: `x${count}`,
      key,
      request: { method: "POST", url, headers: [], body: { kind: "none" } },
      answer: {
        kind: "answered",
        status,
        headers: [
          ["X-RateLimit-Limit", String(limit)],
          ["X-RateLimit-Remaining", String(remaining)],
          ["X-RateLimit-Reset", String(Math.ceil(resetAtMs / 1000))],
          ["X-RateLimit-Reset-After", String(Math.max(0, Math.ceil((resetAtMs - atMs) / 1000)))],
        ],
        headMs: endMs,
        endMs,
        body: { kind: "text", text, bytes: text.length },
        ending: { kind: "complete" },
        events: [],
      },
    };
  };
  const openFast: ClientContext["transport"]["openFast"] = ({ url, key }) => ({
    opened: Promise.resolve(),
    finished: Promise.resolve(answer(url, key)),
  });
  return {
    openFast,
    open: (outgoing) => ({ ...openFast(outgoing), firstEvent: Promise.resolve(), close: () => {} }),
  };
}
