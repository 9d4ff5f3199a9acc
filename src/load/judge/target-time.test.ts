import { describe, expect, it } from "vitest";

import { type DatedResponse, targetTime, withClockLag } from "./target-time.ts";

/** Makes responses every 100 ms, each after 4 ms. The target's clock is ahead by `offsetMs`, and runs at `speed`. */
const answers = (count: number, speed: number, offsetMs: (ms: number) => number): DatedResponse[] =>
  Array.from({ length: count }, (_, index) => {
    const sentMs = index * 100;
    return { sentMs, headMs: sentMs + 4, date: Math.floor((speed * (sentMs + 2) + offsetMs(sentMs)) / 1000) };
  });

describe("the target's time", () => {
  it.each([1, 30, 900])("is computed within the precision of whole seconds, at speed %d", (speed) => {
    const time = targetTime(
      answers(200, speed, () => 123_456),
      speed,
    );
    expect(time.kind).toBe("steady");
    expect(Math.abs(time.at(1000).fromMs - (speed * 1000 + 123_456))).toBeLessThanOrEqual(time.unknownMs);
  });

  it("drifts if no single offset fits all responses", () => {
    const time = targetTime(
      answers(2000, 1, (ms) => ms / 20),
      1,
    );
    expect(time.kind).toBe("drifting");
    const { fromMs, toMs } = time.at(150_000);
    expect(fromMs).toBeLessThanOrEqual(157_500);
    expect(toMs).toBeGreaterThanOrEqual(157_500);
  });

  it.each([
    ["no answer has a date", [{ sentMs: 0, headMs: 1, date: null }]],
    [
      "dates do not follow a clock of that speed",
      answers(500, 1, () => 0).map((one) => ({ ...one, date: (one.sentMs * 7919) % 10_000 })),
    ],
  ])("is unknown where %s", (_, dated) => {
    expect(targetTime(dated, 1).kind).toBe("unknown");
  });

  it("is known less exactly if the clock lags behind by more than tolerances allow for", () => {
    const time = targetTime(
      answers(200, 1, () => 0),
      1,
    );
    const { fromMs } = time.at(5000);
    expect(withClockLag(time, 900)).toBe(time);
    expect(withClockLag(time, 3000).at(5000)).toEqual({ fromMs: fromMs - 3000, toMs: fromMs + 3000 });
    expect(withClockLag(time, 3000).kind).not.toBe("steady");
  });
});
