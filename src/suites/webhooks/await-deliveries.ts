import type { Delivery } from "../../evidence/delivery.ts";
import type { Hook } from "../../receiver/receiver.ts";
import type { RunClock } from "../../run/time/run-clock.ts";

export interface ExpectedDeliveries {
  readonly address: Hook;
  readonly count: number;
}

/** Maximum wait for a first delivery. A target may poll its delivery queue only every few seconds. */
export const maxQueuedMs = 10_000;
const queueStepMs = 1000;

export const deliveryTimeoutMs = ({ canAdvance, settleMs }: RunClock): number => {
  if (!canAdvance) return maxQueuedMs;
  return settleMs === 0 ? 100 : Math.max(500, settleCount * settleMs);
};

const settleCount = 3;

export const awaitDeliveries = (expected: readonly ExpectedDeliveries[], time: RunClock): Promise<boolean> =>
  awaitQueue(
    async (realMs) =>
      (await Promise.all(expected.map(({ address, count }) => address.waitForDeliveries(count, realMs)))).every(
        Boolean,
      ),
    time,
  );

export const awaitCondition = (isMet: () => boolean, time: RunClock): Promise<boolean> =>
  awaitQueue(async (realMs) => {
    for (let waitedMs = 0; !isMet() && waitedMs < realMs; waitedMs += pollMs) await time.sleepReal(pollMs);
    return isMet();
  }, time);

async function awaitQueue(check: (realMs: number) => Promise<boolean>, time: RunClock): Promise<boolean> {
  // First waits without advancing the clock. Most deliveries need no advance, and some targets advance slowly.
  if (time.settleMs > 0 && (await check(time.settleMs))) return true;
  if (time.canAdvance) await time.passTime(1, inTransit);
  if (await check(deliveryTimeoutMs(time))) return true;
  if (!time.canAdvance) return false;
  for (let advancedMs = 0; advancedMs < maxQueuedMs; advancedMs += queueStepMs) {
    await time.passTime(queueStepMs, "a queued delivery must be sent");
    if (await check(Math.max(pollMs, time.settleMs))) return true;
  }
  return check(time.agentsFollow ? settleCount * time.settleMs : maxQueuedMs);
}

/** Waits until an unexpected delivery would have arrived. */
export async function awaitUnexpected(time: RunClock): Promise<void> {
  if (time.canAdvance) await time.passTime(1, inTransit);
  await time.sleepReal(time.canAdvance ? time.settleMs : unexpectedMs);
}

const inTransit = "deliveries in transit must arrive";
const pollMs = 5;
const unexpectedMs = 500;

export const deliveriesTo = (deliveries: readonly Delivery[], hook: string): Delivery[] =>
  deliveries.filter((each) => each.hook === hook);
