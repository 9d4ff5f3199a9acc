import { describe, expect, it } from "vitest";

import { rateHeaders } from "../../spec/headers.ts";
import { anExchange } from "../testing/evidence.ts";
import { aKey } from "../testing/targets.ts";
import { findForeignUse } from "./foreign-use.ts";

/** A minute of 100 requests on simulated time, with another client, and with a server that counts health requests. */
function simulate({ everyMs = Infinity, perHealth = 0, usedBefore = 0 }) {
  let [nowMs, readings, windowMs] = [0, 0, 0];
  const remaining = (): number =>
    Math.max(
      0,
      100 - (windowMs === 0 ? usedBefore : 0) - Math.floor((nowMs - windowMs) / everyMs) - readings * perHealth,
    );
  const pass = async (ms: number): Promise<void> => {
    nowMs += ms;
    await Promise.resolve();
  };
  return {
    keys: [aKey({ name: "main" })],
    health: async () => {
      readings += 1;
      const headers = [
        [rateHeaders.limit.header, "100"],
        [rateHeaders.remaining.header, String(remaining())],
        [rateHeaders.resetAfter.header, "30"],
      ] as const;
      const { answer, ...exchange } = anExchange("x1");
      return Promise.resolve({ ...exchange, answer: { ...answer, headers: [...headers] } as typeof answer });
    },
    time: {
      canWait: () => true,
      passTime: async (ms: number) => {
        await pass(ms);
        windowMs = nowMs;
      },
      sleepReal: pass,
    },
  };
}

describe("a key whose limits seem broken", () => {
  it.each<[string, Parameters<typeof simulate>[0], readonly string[]]>([
    ["five times a second by somebody else", { everyMs: 200 }, ["main"]],
    ["once a second by somebody else", { everyMs: 1000 }, ["main"]],
    ["up, and still used by somebody else", { everyMs: 1000, usedBefore: 100 }, ["main"]],
    ["by nobody else", {}, []],
    ["up, and by nobody else", { usedBefore: 100 }, []],
    ["by nobody else, while health counts", { perHealth: 1 }, []],
    ["by somebody else, while health counts", { perHealth: 1, everyMs: 200 }, ["main"]],
  ])("is used %s", async (_, use, expected) => {
    const found = await findForeignUse(simulate(use));
    expect(found.flatMap((each) => (each.kind === "keys shared" ? each.keys : []))).toEqual(expected);
  });
});
