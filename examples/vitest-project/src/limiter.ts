/** What a request found of its key's allowance. The numbers are those of the tighter window. */
export interface Allowance {
  readonly isAdmitted: boolean;
  readonly limit: number;
  readonly remaining: number;
  /** Unix seconds. */
  readonly reset: number;
  readonly resetAfterSeconds: number;
}

export interface Limits {
  readonly perMinute: number;
  readonly perHour: number;
  readonly concurrent: number;
}

/** A window of fixed length, and how many requests it has admitted since it began. */
interface Window {
  readonly lengthMs: number;
  readonly limit: number;
  beganMs: number;
  used: number;
}

/** Fixed windows of a minute and of an hour, and a number of requests at once. */
export class Limiter {
  readonly #windows: readonly Window[];
  readonly #concurrent: number;
  #open = 0;

  constructor({ perMinute, perHour, concurrent }: Limits) {
    this.#windows = [
      { lengthMs: 60_000, limit: perMinute, beganMs: 0, used: 0 },
      { lengthMs: 3_600_000, limit: perHour, beganMs: 0, used: 0 },
    ];
    this.#concurrent = concurrent;
  }

  /** Takes one request of the allowance and a slot, if there are any; {@link leave} gives the slot back. */
  enter(nowMs: number): Allowance {
    const isAdmitted = this.look(nowMs).remaining > 0 && this.#open < this.#concurrent;
    if (isAdmitted) {
      for (const window of this.#windows) window.used += 1;
      this.#open += 1;
    }
    return { ...this.look(nowMs), isAdmitted };
  }

  leave(): void {
    this.#open -= 1;
  }

  /** Looks without taking anything. */
  look(nowMs: number): Allowance {
    for (const window of this.#windows) {
      const beganMs = nowMs - (nowMs % window.lengthMs);
      if (beganMs !== window.beganMs) Object.assign(window, { beganMs, used: 0 });
    }
    const tightest = this.#windows.reduce((one, other) => (roomOf(other) < roomOf(one) ? other : one));
    const resetMs = tightest.beganMs + tightest.lengthMs;
    return {
      isAdmitted: true,
      limit: tightest.limit,
      remaining: roomOf(tightest),
      reset: resetMs / 1000,
      resetAfterSeconds: Math.ceil((resetMs - nowMs) / 1000),
    };
  }
}

const roomOf = ({ limit, used }: Window): number => limit - used;
