import type { Window } from "./models.ts";
import type { Span } from "./history.ts";
import type { Phases } from "./phases.ts";

/** What an answer said of its window. */
export interface Announcement {
  readonly remaining: number;
  /** Limiter's clock: when the window is said to be reset. */
  readonly resetMs: number;
  readonly resetAfterSeconds: number;
}

const secondMs = 1000;
/** Resets rounded up, down or to the nearest second by several machines lie so far apart. */
const mostApartMs = 2 * secondMs;
/** So many different values of `Remaining`, or so long a time: a reset that follows each request, or the time, is told by that. */
const leastValues = 3;
const leastSeconds = 10;

/**
 * Where fixed windows must end, if all answers announce ends of one phase; `null` where they do not, as with rolling windows and
 * buckets, or where all the announcements may be `now` plus a whole window.
 * @param unknownMs how far the limiter's clock may be from what we take it for
 */
export function announcedEnd(all: readonly Announcement[], windowMs: number, unknownMs: number): Span | null {
  const told = all.filter(({ resetAfterSeconds: after }) => after >= 1 && after * secondMs <= windowMs - 3 * secondMs);
  const [first] = told;
  if (first === undefined || !isTelling(told)) return null;
  let earliest = 0;
  let latest = 0;
  for (const { resetMs } of all) {
    const apart = around(resetMs - first.resetMs, windowMs);
    earliest = Math.min(earliest, apart);
    latest = Math.max(latest, apart);
    if (latest - earliest > mostApartMs) return null;
  }
  const slack = secondMs + unknownMs;
  return { fromMs: first.resetMs + earliest - slack, toMs: first.resetMs + latest + slack };
}

function isTelling(told: readonly Announcement[]): boolean {
  if (new Set(told.map(({ remaining }) => remaining)).size >= leastValues) return true;
  const least = told.reduce((some, { resetAfterSeconds }) => Math.min(some, resetAfterSeconds), Infinity);
  const most = told.reduce((some, { resetAfterSeconds }) => Math.max(some, resetAfterSeconds), -Infinity);
  return most - least >= leastSeconds;
}

/** A difference, up to whole windows: between minus and plus half a window. */
function around(ms: number, windowMs: number): number {
  return ms - Math.round(ms / windowMs) * windowMs;
}

/** The phases, counted from `startMs`, by which a window ends within the announced span; all of them where nothing was announced. */
export function phasesOf({ windowMs }: Window, announced: Span | undefined, startMs: number): Phases[] {
  const lengthMs = announced === undefined ? windowMs : announced.toMs - announced.fromMs;
  if (announced === undefined || lengthMs >= windowMs) return [{ fromMs: 0, toMs: windowMs }];
  const since = announced.fromMs - startMs;
  const fromMs = since - Math.floor(since / windowMs) * windowMs;
  const toMs = fromMs + lengthMs;
  if (toMs <= windowMs) return [{ fromMs, toMs }];
  return [
    { fromMs, toMs: windowMs },
    { fromMs: 0, toMs: toMs - windowMs },
  ];
}
