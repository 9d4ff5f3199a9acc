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
 * Number of rate-limit decisions before memory is measured. They make V8 compile the code, so that the memory of
 * compiled code is not measured.
 */
const warmUpDecisions = 20_000;
/** Minimum number of keys in all measured limiters together. With fewer keys, other memory distorts the result. */
const minMeasuredKeys = 200_000;

type DecideRequest = (name: string) => void;

/** Measures the time per million decisions (if `of` is `time`), or the bytes per key (if `of` is `memory`). */
export async function run(input: unknown): Promise<Measurement> {
  const { side, of, keys, decisions } = inputSchema.parse(input);
  // The Set makes V8 compute each string's hash before the memory measurement starts.
  const names = [...new Set(Array.from({ length: keys }, (_, at) => `key-${String(at).padStart(9, "0")}`))];
  const open = side === "limiter" ? limiter : mapLookUp;
  if (of === "memory") return { wallMs: 0, cpuMs: 0, bytes: bytesOfKey(open, names) };
  const decide = open();
  for (const name of names) decide(name);
  const order = shuffled(keys);
  const round = (count: number): void => {
    for (let at = 0; at < count; at += 1) decide(names[order[at % order.length] ?? 0] ?? "");
  };
  round(decisions / 4);
  return divideTimes(await measureTime(() => round(decisions)), decisions / 1e6);
}

function bytesOfKey(open: () => DecideRequest, names: readonly string[]): number {
  const limiters = Array.from({ length: Math.ceil(minMeasuredKeys / names.length) }, open);
  const warm = open();
  for (let time = 0; time < warmUpDecisions; time += 1) warm(names[time % names.length] ?? "");
  const emptyBytes = heapBytes();
  for (const decide of limiters) for (const name of names) decide(name);
  const bytes = heapBytes() - emptyBytes;
  // Uses all limiters once more, because the garbage collector could remove unused limiters before `heapBytes()` runs.
  for (const decide of [...limiters, warm]) decide(names[0] ?? "");
  return Math.max(0, bytes) / (limiters.length * names.length);
}

function heapBytes(): number {
  for (let time = 0; time < 3; time += 1) globalThis.gc?.();
  return process.memoryUsage().heapUsed;
}

/** Returns a function that decides on a request and chooses the window for its headers, as the reference does. */
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

/** Returns the baseline: a function that reads the clock and looks up a key in a Map. No limiter can do less. */
function mapLookUp(): DecideRequest {
  const counts = new Map<string, number>();
  const results = { last: 0, sum: 0 };
  return (name) => {
    results.last = Date.now();
    const count = counts.get(name);
    if (count === undefined) counts.set(name, 1);
    else results.sum += count;
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
