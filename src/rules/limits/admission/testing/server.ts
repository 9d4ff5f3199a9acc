import type { TierLimits } from "../../../../spec/tiers.ts";
import { anchored, fixed, type Limiter, rolling } from "./limiters.ts";
import type { Random } from "./random.ts";

export type Rounding = "below" | "fits" | "floor";

export function weighted(capacity: number, windowMs: number, phaseMs: number, rounding: Rounding): Limiter {
  const counts = new Map<number, number>();
  const windowAt = (nowMs: number) => Math.floor((nowMs - phaseMs) / windowMs);
  const estimate = (nowMs: number) => {
    const index = windowAt(nowMs);
    const elapsed = (nowMs - phaseMs - index * windowMs) / windowMs;
    return (counts.get(index) ?? 0) + (counts.get(index - 1) ?? 0) * (1 - elapsed);
  };
  const count = (nowMs: number) => void counts.set(windowAt(nowMs), (counts.get(windowAt(nowMs)) ?? 0) + 1);
  return {
    isFull: (nowMs) => {
      if (rounding === "fits") return estimate(nowMs) + 1 > capacity;
      return (rounding === "floor" ? Math.floor(estimate(nowMs)) : estimate(nowMs)) >= capacity;
    },
    count,
    countRefusal: count,
  };
}

export function bucket(capacity: number, refillPerMs: number, refillsWhole: boolean): Limiter {
  let tokens = capacity;
  let atMs: number | null = null;
  const refill = (nowMs: number) => {
    const elapsedMs = Math.max(0, nowMs - (atMs ?? nowMs));
    const gained = refillsWhole ? Math.floor(elapsedMs * refillPerMs + 1e-9) : elapsedMs * refillPerMs;
    atMs =
      refillsWhole && tokens + gained < capacity
        ? (atMs ?? nowMs) + gained / refillPerMs
        : Math.max(atMs ?? nowMs, nowMs);
    tokens = Math.min(capacity, tokens + gained);
  };
  const take = (nowMs: number) => {
    refill(nowMs);
    tokens -= 1;
  };
  return {
    isFull: (nowMs) => {
      refill(nowMs);
      return tokens < 1 - 1e-9;
    },
    count: take,
    countRefusal: take,
  };
}

export const windowShapes = ["rolling", "fixed", "anchored", "pushed", "weighted"] as const;
export type WindowShape = (typeof windowShapes)[number];

export function windowLimiter(shape: WindowShape, capacity: number, windowMs: number, random: Random): Limiter {
  const size = { capacity, reported: capacity, windowMs };
  const phaseMs = random.between(0, windowMs);
  switch (shape) {
    case "rolling":
      return rolling(size, true);
    case "fixed":
      return fixed(size, phaseMs);
    case "anchored":
      return anchored(size, false);
    case "pushed":
      return anchored(size, true);
    case "weighted":
      return weighted(capacity, windowMs, phaseMs, random.pick(["below", "fits", "floor"]));
  }
}

/** A simulated server, which decides about requests. */
export interface Server {
  readonly describe: string;
  /** Decides about a request, at `onMs` of the limiter's clock and `atMs` of real time, by which slots are held. */
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
  readonly countsRefusals: boolean;
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
      if (parts.countsRefusals) limiter.countRefusal(onMs);
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
    countsRefusals: random.chance(0.5),
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
