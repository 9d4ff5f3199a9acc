import type { TierLimits } from "../../../../spec/tiers.ts";
import { bucket, windowLimiter, windowShapes, type Limiter } from "./limiters.ts";
import type { Random } from "./random.ts";

/** A simulated server, which decides about requests. */
export interface Server {
  readonly describe: string;
  /**
   * Decides about a request. `onMs` is the time on the limiter's clock. `atMs` is real time, by which slots are held.
   */
  readonly ask: (onMs: number, atMs: number) => "admitted" | "refused";
  /** Keeps the slot of an admitted request until this real time. */
  readonly hold: (untilMs: number) => void;
  readonly heldAt: (atMs: number) => number;
}

export interface ServerParts {
  readonly describe: string;
  readonly limiters: readonly Limiter[];
  readonly concurrent: number;
  readonly slotsFirst: boolean;
  readonly refusalsCount: boolean;
  /** Whether a request that one limit refuses still counts for the limits that were checked before. */
  readonly countsBeforeAsking: boolean;
  readonly slotRefusalsCount: boolean;
}

export function serverOf(parts: ServerParts): Server {
  let holds: number[] = [];
  const heldAt = (atMs: number) => holds.filter((untilMs) => untilMs > atMs).length;
  const slotsFull = (atMs: number) => heldAt(atMs) >= parts.concurrent;
  const slotRefusal = (onMs: number, isCounted: boolean) => {
    if (parts.slotRefusalsCount && !isCounted) for (const limiter of parts.limiters) limiter.count(onMs);
    return "refused" as const;
  };
  return {
    describe: parts.describe,
    ask: (onMs, atMs) => {
      if (parts.slotsFirst && slotsFull(atMs)) return slotRefusal(onMs, false);
      if (!askLimiters(parts, onMs)) return "refused";
      if (slotsFull(atMs)) return slotRefusal(onMs, parts.countsBeforeAsking);
      if (!parts.countsBeforeAsking) for (const limiter of parts.limiters) limiter.count(onMs);
      return "admitted";
    },
    hold: (untilMs) => {
      holds = [...holds.slice(-200), untilMs];
    },
    heldAt,
  };
}

function askLimiters(parts: ServerParts, onMs: number): boolean {
  for (const limiter of parts.limiters) {
    if (limiter.isFull(onMs)) {
      if (parts.refusalsCount) limiter.countRefusal(onMs);
      return false;
    }
    if (parts.countsBeforeAsking) limiter.count(onMs);
  }
  return true;
}

/** Creates a server that enforces the limits in one of the ways that the document allows. */
export function legalServer(limits: TierLimits, random: Random): Server {
  const hourShape = random.pick(windowShapes);
  const minute = legalMinute(limits, random);
  const hour = windowLimiter(hourShape, limits.perHour, 3_600_000, random);
  const refillPerMs = limits.perMinute / 60_000;
  const burst = limits.burst ?? random.whole(1, 20);
  const besides = random.chance(0.25) ? [bucket(burst, refillPerMs, random.chance(0.5))] : [];
  const limiters = random.chance(0.5) ? [hour, minute.limiter, ...besides] : [...besides, minute.limiter, hour];
  const parts = {
    limiters,
    concurrent: limits.concurrent,
    slotsFirst: random.chance(0.5),
    refusalsCount: random.chance(0.5),
    countsBeforeAsking: random.chance(0.5),
    slotRefusalsCount: random.chance(0.3),
  };
  const { limiters: _, ...described } = parts;
  const describe = `hour ${hourShape}, minute ${minute.describe}, beside ${besides.length}, ${JSON.stringify(described)}`;
  return serverOf({ ...parts, describe });
}

function legalMinute(limits: TierLimits, random: Random): { limiter: Limiter; describe: string } {
  const shape = random.pick(["bucket", ...windowShapes] as const);
  const adds = random.chance(0.5);
  const burst = limits.burst ?? random.whole(1, 20);
  const capacity = limits.perMinute + (adds ? burst : 0);
  const describe = `${shape}${adds ? " with the burst added" : ""} (${capacity}, burst ${burst})`;
  if (shape !== "bucket") return { limiter: windowLimiter(shape, capacity, 60_000, random), describe };
  const limiter = bucket(adds ? capacity : burst, limits.perMinute / 60_000, random.chance(0.5));
  return { limiter, describe };
}
