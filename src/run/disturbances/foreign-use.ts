import type { Exchange } from "../../evidence/exchange.ts";
import { minuteOverMs } from "../../rules/limits/key-history.ts";
import { secondsHeader, wholeNumberHeader } from "../../rules/limits/sample.ts";
import { rateHeaderTable } from "../../spec/headers.ts";
import type { TargetKey } from "../../target/target.ts";
import type { RunClock } from "../time/run-clock.ts";
import type { Disturbance } from "./disturbance.ts";

/** Real time to wait before the first health request, so that the target has counted all earlier requests. */
const countingDelayMs = 1000;
/** Real time between the `spacedReadings` health requests. Requests of another client lower `Remaining` meanwhile. */
const readingIntervalMs = 750;
const spacedReadings = 5;
/** Tolerance for the end of a rate-limit window, which the headers report in whole seconds. */
const roundingMs = 1200;
const windowPollMs = 100;
/** Number of health requests without pauses between them. They show by how much each of them lowers `Remaining`. */
const immediateReadings = 3;
/** Another client uses the key if `Remaining` falls by at least this much more than health requests lower it. */
const minForeignRequests = 2;

interface LimitReading {
  readonly limit: number;
  readonly remaining: number;
  readonly resetAfter: number | null;
}

interface ForeignUseSearch {
  readonly keys: readonly TargetKey[];
  readonly health: (key: TargetKey) => Promise<Exchange>;
  readonly time: Pick<RunClock, "canAdvance" | "canWait" | "passTime" | "sleepReal">;
}

/**
 * Finds keys that another client uses. Their `Remaining` falls while the run sends only health requests, and by more
 * than these requests cause.
 */
export async function findForeignUse({ keys, health, time }: ForeignUseSearch): Promise<Disturbance[]> {
  const read: ReadLimit = async (key) => readingOf(await health(key));
  await time.sleepReal(countingDelayMs);
  const found = await Promise.all(
    keys.map(async (key) => {
      await awaitNextWindow(key, read, time);
      return (await isUsedElsewhere(key, read, time)) ? [key.name] : [];
    }),
  );
  const names = found.flat();
  return names.length === 0 ? [] : [{ kind: "keys shared", by: "somebody else", fromMs: 0, keys: names }];
}

type ReadLimit = (key: TargetKey) => Promise<LimitReading | null>;

/** Waits for the key's next rate-limit window if `Remaining` is too low to fall by `minForeignRequests`. */
async function awaitNextWindow(key: TargetKey, read: ReadLimit, time: ForeignUseSearch["time"]): Promise<void> {
  const reading = await read(key);
  if (reading === null || reading.remaining >= minForeignRequests || reading.resetAfter === null) return;
  const resetMs = reading.resetAfter * 1000;
  const waitMs = time.canAdvance ? resetMs + roundingMs : Math.max(0, resetMs - roundingMs);
  if (time.canWait(waitMs)) await time.passTime(waitMs, "to see whether somebody else uses the key");
  // If `maxWaitMs` leaves less than this wait but is not used up, waits nonetheless, a minute at most. Otherwise, use by
  // another client could stay unnoticed.
  else if (waitMs <= minuteOverMs && time.canWait(1)) await time.sleepReal(waitMs);
  else return;
  if (!time.canAdvance) await pollForNextWindow(key, read, time);
}

async function pollForNextWindow(key: TargetKey, read: ReadLimit, time: ForeignUseSearch["time"]): Promise<void> {
  for (let waitedMs = 0; waitedMs < 3 * roundingMs; waitedMs += windowPollMs) {
    if (((await read(key))?.remaining ?? minForeignRequests) >= minForeignRequests) return;
    await time.sleepReal(windowPollMs);
  }
}

async function isUsedElsewhere(key: TargetKey, read: ReadLimit, time: ForeignUseSearch["time"]): Promise<boolean> {
  const immediate = await takeReadings(immediateReadings, () => read(key));
  const spaced = await takeReadings(
    spacedReadings,
    () => read(key),
    () => time.sleepReal(readingIntervalMs),
  );
  const perReading = Math.max(0, ...decreasesBetween(immediate));
  const counted = decreasesBetween(spaced).map((fall) => Math.max(0, fall - perReading));
  return counted.reduce((sum, fall) => sum + fall, 0) >= minForeignRequests;
}

async function takeReadings(
  count: number,
  read: () => Promise<LimitReading | null>,
  pause: () => Promise<void> = async () => {},
): Promise<(LimitReading | null)[]> {
  const found: (LimitReading | null)[] = [];
  for (let index = 0; index < count; index += 1) {
    if (index > 0) await pause();
    found.push(await read());
  }
  return found;
}

const decreasesBetween = (readings: readonly (LimitReading | null)[]): number[] =>
  readings.map((reading, index) => {
    const before = readings[index - 1] ?? null;
    if (reading === null || before === null || reading.limit !== before.limit) return 0;
    return before.remaining - reading.remaining;
  });

function readingOf(exchange: Exchange): LimitReading | null {
  const limit = wholeNumberHeader(exchange, rateHeaderTable.limit.header);
  const remaining = wholeNumberHeader(exchange, rateHeaderTable.remaining.header);
  const resetAfter = secondsHeader(exchange, rateHeaderTable.resetAfter.header);
  return limit === null || remaining === null ? null : { limit, remaining, resetAfter };
}
