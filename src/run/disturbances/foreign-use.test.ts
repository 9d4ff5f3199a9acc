import { describe, expect, it } from "vitest";

import { rateHeaderTable } from "../../spec/headers.ts";
import { aKey, anExchange } from "../testing/values.ts";
import { findForeignUse } from "./foreign-use.ts";

const windowMs = 30_000;

/**
 * Simulates a key with windows of 30 s. Another client may send a request every `everyMs`, and the server may count
 * health requests.
 */
function simulate({ limit = 100, everyMs = Infinity, perHealth = 0, usedBefore = 0 }) {
  let [nowMs, readings] = [900, 0];
  const remaining = (): number => {
    const inWindowMs = nowMs % windowMs;
    const before = nowMs < windowMs ? usedBefore : 0;
    return Math.max(0, limit - before - Math.floor(inWindowMs / everyMs) - readings * perHealth);
  };
  const pass = async (ms: number): Promise<void> => {
    nowMs += ms;
    await Promise.resolve();
  };
  return {
    keys: [aKey({ name: "main" })],
    health: async () => {
      readings += 1;
      const headers = [
        [rateHeaderTable.limit.header, String(limit)],
        [rateHeaderTable.remaining.header, String(remaining())],
        [rateHeaderTable.resetAfter.header, String(Math.ceil((windowMs - (nowMs % windowMs)) / 1000))],
      ] as const;
      const { answer, ...exchange } = anExchange("x1");
      return Promise.resolve({ ...exchange, answer: { ...answer, headers: [...headers] } as typeof answer });
    },
    time: { canAdvance: false, canWait: () => true, passTime: pass, sleepReal: pass },
  };
}

describe("a key whose limits seem broken", () => {
  it.each<[string, Parameters<typeof simulate>[0], readonly string[]]>([
    ["five times a second by somebody else", { everyMs: 200 }, ["main"]],
    ["once a second by somebody else", { everyMs: 1000 }, ["main"]],
    ["up, and still used by somebody else", { everyMs: 1000, usedBefore: 100 }, ["main"]],
    ["up at once in each window by somebody else", { limit: 10, everyMs: 50, usedBefore: 10 }, ["main"]],
    ["by nobody else", {}, []],
    ["up, and by nobody else", { usedBefore: 100 }, []],
    ["by nobody else, while health counts", { perHealth: 1 }, []],
    ["by somebody else, while health counts", { perHealth: 1, everyMs: 200 }, ["main"]],
  ])("is used %s", async (_, use, expected) => {
    const found = await findForeignUse(simulate(use));
    expect(found.flatMap((each) => (each.kind === "keys shared" ? each.keys : []))).toEqual(expected);
  });
});
