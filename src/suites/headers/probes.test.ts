import { describe, expect, it } from "vitest";

import type { Sample } from "../../limits/sample.ts";
import { sample } from "../testing/sample.ts";
import { endsOf } from "./probes.ts";

const sentAt = (samples: readonly Sample[]): number[] => samples.map(({ sentMs }) => sentMs);

describe("the answers of a key that was used by the ten thousand", () => {
  const serial = Array.from({ length: 20 }, (_, at) => sample({ sentMs: at }));

  it("are the first and the last of them, in the order of sending", () => {
    expect(sentAt(endsOf(serial.toReversed(), 5, 3))).toEqual([0, 1, 2, 3, 4, 17, 18, 19]);
    expect(endsOf(serial, 15, 5)).toBe(serial);
  });

  it("leave out whatever was in flight together with what is left out, for its neighbours would seem to be alone", () => {
    const burst = [3, 4, 5, 6].map((sentMs) => sample({ sentMs, headMs: 9, endMs: 9 }));
    const all = [...serial.filter(({ sentMs }) => sentMs < 3 || sentMs > 6), ...burst];
    expect(sentAt(endsOf(all, 5, 12))).toEqual([0, 1, 2, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19]);
  });
});
