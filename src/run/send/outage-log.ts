import { TargetLost } from "../skip-reason.ts";

/** How an outage appears: the target refuses connections, or a gateway responds in its place. */
export type OutageKind = "refused" | "gateway";

/** A period in which the target was unavailable, in milliseconds since the start of the run. */
export interface OutageTimes {
  readonly kind: OutageKind;
  readonly fromMs: number;
  readonly toMs: number | null;
}

export interface OutageLog {
  readonly all: () => readonly OutageTimes[];
  /** Returns the outage that was under way at the time `ms`; `null` if there was none. */
  readonly at: (ms: number) => OutageTimes | null;
  /** Records the beginning of an outage; returns the current one if there is one already. */
  readonly begin: (kind: OutageKind, fromMs: number) => OutageTimes;
  /** Waits for the end of the latest outage. Resolves to `false` if the target does not come back. */
  readonly awaitReturn: () => Promise<boolean>;
  /** Rejects if the target does not come back. `isHasty`: rejects as soon as an outage begins. */
  readonly loss: (isHasty: boolean) => Promise<never>;
  /** Whether the run gives up, because an outage has lasted too long. */
  readonly isDead: () => boolean;
}

interface OutageLogOptions {
  readonly now: () => number;
  readonly isBack: (kind: OutageKind) => Promise<boolean>;
  readonly sleep: (ms: number) => Promise<void>;
  readonly onReturn: () => void;
  /** If the target refuses connections for this long, the run gives up. */
  readonly deadAfterMs: number;
}

/**
 * The run waits this many times longer if a gateway responds for the target. Then the target is probably being
 * deployed, which takes longer than a restart.
 */
const gatewayDeadFactor = 4;
const pollMs = 100;

export function openOutageLog({ now, isBack, sleep, onReturn, deadAfterMs }: OutageLogOptions): OutageLog {
  const outages: { -readonly [Name in keyof OutageTimes]: OutageTimes[Name] }[] = [];
  let isDead = false;
  let returning: Promise<boolean> | null = null;
  let nextOutage = Promise.withResolvers<void>();

  const awaitEnd = async (outage: (typeof outages)[number]): Promise<boolean> => {
    const untilMs = now() + deadAfterMs * (outage.kind === "gateway" ? gatewayDeadFactor : 1);
    while (now() < untilMs) {
      try {
        await sleep(pollMs);
      } catch {
        return false;
      }
      if (!(await isBack(outage.kind))) continue;
      outage.toMs = now();
      onReturn();
      return true;
    }
    isDead = true;
    return false;
  };

  const at: OutageLog["at"] = (ms) => {
    const last = outages.at(-1);
    return last !== undefined && (last.toMs === null || ms < last.toMs) ? last : null;
  };

  return {
    all: () => outages,
    at,
    begin: (kind, fromMs) => {
      const ongoing = at(fromMs);
      if (ongoing !== null) return ongoing;
      const outage = { kind, fromMs, toMs: null };
      outages.push(outage);
      returning = awaitEnd(outage);
      nextOutage.resolve();
      nextOutage = Promise.withResolvers();
      // Prevents an unhandled rejection if the run is stopped while no code waits for this promise.
      returning.catch(() => {});
      return outage;
    },
    awaitReturn: async () => (await returning) ?? true,
    loss: async (isHasty) => {
      for (;;) {
        await nextOutage.promise;
        if (isHasty || !(await returning)) throw new TargetLost();
      }
    },
    isDead: () => isDead,
  };
}
