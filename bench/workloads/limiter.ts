import { z } from "zod";

import { systemClock } from "../../src/reference/clock.ts";
import { keyRing, referenceTiers } from "../../src/reference/keys.ts";
import { applyPatches } from "../../src/reference/patch.ts";
import { serverState } from "../../src/reference/server/state.ts";
import { addressGuard } from "../../src/reference/webhooks/address-guard.ts";
import { outbox } from "../../src/reference/webhooks/outbox.ts";
import { memoryStore } from "../../src/reference/webhooks/store.ts";
import { divideTimes, measureTime, type Measurement } from "../measuring/measurement.ts";

const inputSchema = z.object({
  side: z.enum(["limiter", "map"]),
  of: z.enum(["time", "memory"]),
  keys: z.int(),
  decisions: z.int(),
});

/**
 * Number of rate-limit decisions before the memory measurement. They make V8 compile the code, to keep compiled code
 * out of the measurement.
 */
const warmUpDecisions = 20_000;
/** Minimum number of keys in a memory measurement. With fewer keys, unrelated memory would distort the result. */
const minMeasuredKeys = 200_000;

type DecideRequest = (name: string) => void;

/** Returns the time per million decisions, or the bytes per key, as `of` selects. */
export async function run(input: unknown): Promise<Measurement> {
  const { side, of, keys, decisions } = inputSchema.parse(input);
  // The Set makes V8 compute each string's hash before the memory measurement starts.
  const names = [...new Set(Array.from({ length: keys }, (_, at) => `key-${String(at).padStart(9, "0")}`))];
  const open = side === "limiter" ? limiter : mapLookUp;
  if (of === "memory") return { wallMs: 0, cpuMs: 0, bytes: bytesOfKey(open, names) };
  const decideVerdict = open();
  for (const name of names) decideVerdict(name);
  const order = shuffled(keys);
  const round = (count: number): void => {
    for (let at = 0; at < count; at += 1) decideVerdict(names[order[at % order.length] ?? 0] ?? "");
  };
  round(decisions / 4);
  return divideTimes(await measureTime(() => round(decisions)), decisions / 1e6);
}

function bytesOfKey(open: () => DecideRequest, names: readonly string[]): number {
  const servers = Array.from({ length: Math.ceil(minMeasuredKeys / names.length) }, open);
  const warm = open();
  for (let time = 0; time < warmUpDecisions; time += 1) warm(names[time % names.length] ?? "");
  const emptyBytes = heapBytes();
  for (const decideVerdict of servers) for (const name of names) decideVerdict(name);
  const bytes = heapBytes() - emptyBytes;
  // The garbage collector could remove unused limiters before `heapBytes()` runs. This later use prevents that.
  for (const decideVerdict of [...servers, warm]) decideVerdict(names[0] ?? "");
  return Math.max(0, bytes) / (servers.length * names.length);
}

function heapBytes(): number {
  for (let time = 0; time < 3; time += 1) globalThis.gc?.();
  return process.memoryUsage().heapUsed;
}

/** Returns the function to measure. The function decides on a request and reads the header values, like the server. */
function limiter(): DecideRequest {
  const clock = systemClock();
  const behaviour = applyPatches([]);
  const records = memoryStore();
  const guard = addressGuard({ allowsLoopback: true, allowed: [] });
  const ring = keyRing([], (text) => text, clock.now());
  const state = serverState({
    clock,
    behaviour,
    ring,
    records,
    tiers: referenceTiers,
    controlToken: null,
    controlHosts: [],
    trustedProxies: [],
    outbox: outbox({ clock, behaviour, store: records, guard, receivers: "in-process" }),
  });
  const key = ring.issue("team", {}, clock.now());
  return (name) => {
    const nowMs = clock.now();
    const account = state.accountOf(name, key);
    if (account.exhaustedLimiter(nowMs) === undefined) account.count(nowMs);
    behaviour.advertisedWindow(account.windows(nowMs));
  };
}

/** The baseline of the benchmark: looks up a key in a Map and reads the clock. No limiter can do less. */
function mapLookUp(): DecideRequest {
  const counts = new Map<string, number>();
  const seen = { last: 0, sum: 0 };
  return (name) => {
    seen.last = Date.now();
    const count = counts.get(name);
    if (count === undefined) counts.set(name, 1);
    else seen.sum += count;
  };
}

function shuffled(count: number): Uint32Array {
  const order = Uint32Array.from({ length: count }, (_, at) => at);
  let seed = 1;
  for (let at = count - 1; at > 0; at -= 1) {
    seed = (Math.imul(seed, 1_664_525) + 1_013_904_223) >>> 0;
    const other = seed % (at + 1);
    const kept = order[at] ?? 0;
    order[at] = order[other] ?? 0;
    order[other] = kept;
  }
  return order;
}
