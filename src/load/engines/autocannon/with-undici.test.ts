import { describe, expect, it } from "vitest";

import type { TrafficShape } from "../../scenarios.ts";
import { sample } from "../../testing/samples.ts";
import { createSampleCollector } from "../../second-counts.ts";
import { sendInShape } from "./with-undici.ts";

const never = new AbortController().signal;
const turn = (): Promise<void> => new Promise((resolve) => void setImmediate(resolve));

/**
 * Sends requests in a shape. The responses have these statuses in turn, of which the last repeats. Returns the number
 * of requests, and the greatest number at once.
 */
async function sentIn(
  shape: TrafficShape,
  statuses: readonly number[] = [200],
  retryAfterSeconds: number | null = null,
) {
  let sent = 0;
  let atOnce = 0;
  let mostAtOnce = 0;
  const send = async () => {
    const status = statuses[Math.min(sent, statuses.length - 1)] ?? 200;
    sent += 1;
    atOnce += 1;
    mostAtOnce = Math.max(mostAtOnce, atOnce);
    await turn();
    atOnce -= 1;
    return sample({ status, retryAfterSeconds: status === 429 ? retryAfterSeconds : null });
  };
  await sendInShape(shape, { send, signal: never, speed: 1000 });
  return { sent, mostAtOnce };
}

describe("sending in a shape", () => {
  it.each<[TrafficShape, number, number]>([
    [{ kind: "at once", requests: 12 }, 12, 12],
    [{ kind: "in turn", requests: 5 }, 5, 1],
    [{ kind: "shared", atOnce: 3, requests: 10 }, 10, 3],
    [{ kind: "shared", atOnce: 9, requests: 2 }, 2, 2],
  ])("keeps the amount and how many are on the way: %o", async (shape, sent, mostAtOnce) => {
    expect(await sentIn(shape)).toEqual({ sent, mostAtOnce });
  });

  it("keeps a closed loop closed", async () => {
    const { sent, mostAtOnce } = await sentIn({ kind: "closed", atOnce: 4, seconds: 0.05 });
    expect(mostAtOnce).toBe(4);
    expect(sent).toBeGreaterThan(4);
  });

  it.each<[string, readonly number[], number | null, number]>([
    ["asks in time after one refusal, early and in time after another", [200, 429, 200, 429, 429, 429, 200], 30, 7],
    ["asks in time only where the wait is too short to come early", [200, 429, 200, 429, 200], 1, 5],
    ["cannot wait where the refusal does not say how long", [200, 429], null, 3],
    ["gives up on a target that fails", [200, 500], null, 3],
  ])("%s", async (_, statuses, retryAfterSeconds, expected) => {
    const { sent } = await sentIn({ kind: "after refusal", rounds: 2 }, statuses, retryAfterSeconds);
    expect(sent).toBe(expected);
  });

  it("sends no more once it was stopped", async () => {
    const controller = new AbortController();
    let sent = 0;
    const send = async () => {
      sent += 1;
      if (sent === 3) controller.abort();
      return sample();
    };
    await sendInShape({ kind: "in turn", requests: 10 }, { send, signal: controller.signal, speed: 1 });
    expect(sent).toBe(3);
  });
});

describe("the sample collector", () => {
  it("is every request up to a number, and from there on exact counts alone", () => {
    const few = createSampleCollector(3);
    const many = createSampleCollector(2);
    for (const status of [200, 429, null]) {
      few.sample(sample({ status }));
      many.sample(sample({ status }));
    }
    expect(few.counts).toEqual({ sent: 3, admitted: 1, refused: 1, failed: 1 });
    expect(few.collected()).toEqual(
      expect.objectContaining({ requests: [expect.anything(), expect.anything(), expect.anything()], summary: [] }),
    );
    const [slot] = many.collected().summary;
    expect(slot).toEqual(expect.objectContaining({ admitted: 1, refused: 1, unanswered: 1 }));
    expect(many.collected().requests).toEqual([]);
    expect(many.collected().latency).toEqual(few.collected().latency);
  });

  it("is in order of sending", () => {
    const collection = createSampleCollector();
    for (const sentMs of [3, 1, 2]) collection.sample(sample({ sentMs }));
    expect(collection.collected().requests.map(({ sentMs }) => sentMs)).toEqual([1, 2, 3]);
  });
});
