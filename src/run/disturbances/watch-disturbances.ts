import type { Target } from "../../target/target.ts";
import type { ProbeRun } from "../plan/plan.ts";
import type { Client } from "../send/client.ts";
import type { Recorder } from "../send/recorder.ts";
import { orIfSkipped } from "../skip-reason.ts";
import type { RunClock } from "../time/run-clock.ts";
import type { Disturbance } from "./disturbance.ts";
import { announceRun } from "./other-runs.ts";
import { findForeignUse } from "./foreign-use.ts";
import { isKeyRefusal } from "../../base/http.ts";
import { type Exchange, statusOf } from "../../evidence/exchange.ts";
import { isAdmitted, type Sample } from "../../rules/limits/sample.ts";
import { headerNames } from "../../spec/headers.ts";
import { readFileSync } from "node:fs";

export interface MachineClocks {
  /** Milliseconds on a clock that never goes back. This clock may stand still while the machine sleeps. */
  readonly monotonic: () => number;
  /** The time of day in Unix milliseconds, which the user or the system may change. */
  readonly wall: () => number;
  /** CPU time of this process in milliseconds, plus the time that its main thread waited for a processor. */
  readonly busy: () => number;
}

const machineClocks: MachineClocks = {
  monotonic: () => performance.now(),
  wall: () => Date.now(),
  busy: () => {
    const { user, system } = process.cpuUsage();
    return (user + system) / 1000 + processorQueueMs();
  },
};

/** Returns how long the main thread has waited for a processor, in ms. Returns 0 on systems other than Linux. */
function processorQueueMs(): number {
  try {
    return Number(readFileSync("/proc/self/schedstat", "utf8").split(" ")[1]) / 1e6;
  } catch {
    return 0;
  }
}

const clockReadIntervalMs = 250;
/** Two clock reads, normally 250 ms apart, show a stall if they are this far apart, not counting `busy` time. */
const minStallMs = 3000;
/** Between two reads, `wall` and `monotonic` normally advance equally. A difference of this size is a clock jump. */
const minJumpMs = 2000;

/** Watches for stalls: this machine sleeps, the process is stopped, or a clock jumps. */
export function watchStalls(startMs: number, clocks: MachineClocks = machineClocks) {
  const stalls: Disturbance[] = [];
  const read = () => ({ monotonic: clocks.monotonic(), wall: clocks.wall(), busy: clocks.busy() });
  let last = read();
  const check = (): void => {
    const now = read();
    const passedMs = now.monotonic - last.monotonic;
    const isStopped = passedMs - (now.busy - last.busy) >= minStallMs;
    const isJump = Math.abs(now.wall - last.wall - passedMs) >= minJumpMs;
    const lastedMs = Math.max(passedMs, Math.abs(now.wall - last.wall));
    if (isStopped || isJump)
      stalls.push({ kind: "stalled", fromMs: last.monotonic - startMs, toMs: now.monotonic - startMs, lastedMs });
    last = now;
  };
  const timer = setInterval(check, clockReadIntervalMs).unref();
  return {
    all: (): readonly Disturbance[] => {
      check();
      return stalls;
    },
    close: (): void => clearInterval(timer),
  };
}

export interface DisturbanceWatch {
  readonly ended: (run: ProbeRun) => void;
  /** Returns when a probe ended, in milliseconds since the start of the run. `Infinity` if `ended` was not called. */
  readonly endedMs: (run: ProbeRun) => number;
  /** Finds all disturbances so far. May send requests to find out whether a key is revoked or shared. */
  readonly find: (target: Target, sending: SearchTools, limitsBroken: () => boolean) => Promise<readonly Disturbance[]>;
  readonly close: () => void;
}

interface SearchTools {
  readonly client: Client;
  readonly recorder: Recorder;
  readonly signal: AbortSignal;
}

interface WatchOptions {
  readonly target: Target;
  readonly time: RunClock;
  readonly isSimulated: boolean;
  /** Whether to announce the run to other runs on this machine, and to look for other users of its keys. */
  readonly announces: boolean;
}

export function watchDisturbances({ target, time, isSimulated, announces }: WatchOptions): DisturbanceWatch {
  const startedUnixMs = Date.now() - time.now();
  const stalls = isSimulated ? null : watchStalls(performance.now() - time.now());
  const announced = announces ? announceRun(target) : null;
  const endings = new Map<ProbeRun, number>();
  const shared = (): Disturbance[] => {
    const found = announced?.shared() ?? null;
    if (found === null) return [];
    return [
      { kind: "keys shared", by: "another run", fromMs: Math.max(0, found.sinceMs - startedUnixMs), keys: found.keys },
    ];
  };
  return {
    ended: (run) => void endings.set(run, time.now()),
    endedMs: (run) => endings.get(run) ?? Infinity,
    find: async (known, { client, recorder, signal }, limitsBroken) => {
      const refused = await orIfSkipped(findRefusedKeys(known, client, recorder), [], signal);
      const ofRuns = [...refused, ...(stalls?.all() ?? []), ...shared()];
      const isInDoubt = announces && !isSimulated && ofRuns.length === 0 && limitsBroken();
      const agent = known.agents.answering;
      if (!isInDoubt || agent === undefined) return ofRuns;
      const keys = Object.values(known.keys).filter(
        ({ name, expired }) => !expired && recorder.samplesOf(name).length > 0,
      );
      return orIfSkipped(findForeignUse({ keys, health: (key) => client.as(key).health(agent), time }), [], signal);
    },
    close: () => {
      stalls?.close();
      announced?.close();
    },
  };
}

/** Finds keys that the target accepted before and now always refuses, such as revoked ones. */
async function findRefusedKeys(target: Target, client: Client, recorder: Recorder): Promise<Disturbance[]> {
  const found: Disturbance[] = [];
  for (const key of Object.values(target.keys)) {
    if (key.expired || key.expiresInSeconds !== null) continue;
    const fromMs = refusedSince(recorder.samplesOf(key.name));
    const earlier =
      fromMs === null ? undefined : recorder.exchangesSinceOutage().find((each) => isRepeatable(each, key.name));
    if (fromMs === null || earlier === undefined) continue;
    const { pathname, search } = new URL(earlier.request.url);
    const again = await client.as(key).send("GET", pathname + search, { fromOrigin: true, unpaced: true });
    if (isKeyRefusal(statusOf(again))) found.push({ kind: "key refused", key: key.name, fromMs });
  }
  return found;
}

const isRepeatable = (exchange: Exchange, key: string): boolean =>
  exchange.key === key && exchange.request.method === "GET" && statusOf(exchange) === 200 && !isSigned(exchange);

/** Whether a request was signed. A signed request cannot be repeated, because its signature expires. */
const isSigned = ({ request }: Exchange): boolean =>
  request.headers.some(([name]) => name.toLowerCase() === headerNames.signature.toLowerCase());

function refusedSince(samples: readonly Sample[]): number | null {
  const accepted = samples.filter(({ status }) => status !== null && !isKeyRefusal(status));
  if (!accepted.some(isAdmitted)) return null;
  const lastMs = accepted.reduce((latest, { sentMs }) => Math.max(latest, sentMs), -Infinity);
  const refused = samples.filter(({ status, headMs }) => isKeyRefusal(status) && headMs >= lastMs);
  return refused.length === 0 ? null : refused.reduce((first, { headMs }) => Math.min(first, headMs), Infinity);
}
