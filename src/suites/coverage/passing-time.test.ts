import { describe, expect, it } from "vitest";

import { passTimeBetween } from "./choose.ts";

describe("the time that passes between generated requests", () => {
  const passing = async (canAdvance: boolean): Promise<number[]> => {
    let passedMs = 0;
    const passTime = (ms: number): Promise<void> => {
      passedMs += ms;
      return Promise.resolve();
    };
    const passBefore = passTimeBetween({ canAdvance, passTime });
    const at: number[] = [];
    const rows = [
      { endpoint: "list", key: "pro" },
      { endpoint: "usage", key: "pro" },
      ...Array.from({ length: 40 }, () => ({ endpoint: "usage", key: "wrong" })),
    ];
    for (const row of rows) {
      await passBefore(row);
      at.push(passedMs / 1000);
    }
    return at;
  };

  it("is a minute before the first one of a key to an endpoint", async () => {
    const [first = 0, second = 0, third = 0] = await passing(true);
    expect(first).toBeGreaterThan(60);
    expect(second - first).toBeGreaterThan(60);
    expect(third - second).toBeLessThan(60);
  });

  it("meets every quarter of a minute", async () => {
    const quarters = (await passing(true)).map((seconds) => Math.floor((seconds % 60) / 15));
    expect(new Set(quarters)).toEqual(new Set([0, 1, 2, 3]));
  });

  it("is none without a test clock", async () => {
    expect(new Set(await passing(false))).toEqual(new Set([0]));
  });
});
