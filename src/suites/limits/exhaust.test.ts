import { describe, expect, it } from "vitest";

import { aKey } from "../../run/testing/values.ts";
import type { Client } from "../../run/send/client.ts";
import { startRunClock } from "../../run/time/run-clock.ts";
import { publishedTiers } from "../../spec/tiers.ts";
import { sample } from "../testing/evidence.ts";
import { type ExhaustOptions, sendUntilRefused } from "./exhaust.ts";
import type { CountedRead } from "./key-history.ts";

/**
 * Sends a burst to a limiter that admits `admitted` requests, and GET requests only up to `admittedReads` in total.
 * Returns G for each GET request and i for each invoke.
 */
async function kindsOfBurst(
  admitted: number,
  countedRead: CountedRead | null,
  { admittedReads = admitted, ...options }: ExhaustOptions & { readonly admittedReads?: number },
) {
  const kinds: string[] = [];
  let count = 0;
  const client: Pick<Client, "key" | "sample"> = {
    key: aKey(),
    sample: async (method) => {
      kinds.push(method === "GET" ? "G" : "i");
      const isAdmitted = count < (method === "GET" ? admittedReads : admitted);
      count += Number(isAdmitted);
      return sample({ status: isAdmitted ? 200 : 429 });
    },
  };
  const time = startRunClock({ clock: null, maxWaitMs: 0, signal: new AbortController().signal });
  const sender = { client: client as Client, agent: "echo", limits: publishedTiers.free, time, countedRead };
  const result = await sendUntilRefused(sender, options);
  expect(result).toMatchObject({ admitted, end: "refused" });
  return kinds.join("");
}

describe("the kinds of requests in a burst", () => {
  const whole = { max: 42, expected: 10 };
  type Options = Parameters<typeof kindsOfBurst>[2];
  it.each<[name: string, admitted: number, read: CountedRead | null, options: Options, kinds: string]>([
    ["invokes from just below the limit on", 10, "usage", whole, "GGGGGGGiiii"],
    [
      "GET requests between the limit and the end of a burst",
      20,
      "usage",
      { ...whole, burst: 10 },
      "GGGGGGGiiiiiiGGGGiiii",
    ],
    ["invokes beyond a burst", 24, "list", { ...whole, burst: 10 }, "GGGGGGGiiiiiiGGGGiiiiiiii"],
    [
      "invokes after a GET request that a burst of invokes refuses",
      20,
      "usage",
      { ...whole, burst: 10, admittedReads: 10 },
      "GGGGGGGiiiiiiGiiiiiiii",
    ],
    ["the same after earlier requests", 17, "usage", { ...whole, alreadySent: 3, burst: 10 }, "GGGGiiiiiiGGGGiiii"],
    ["only invokes if no GET request is known to count", 20, null, { ...whole, burst: 10 }, "i".repeat(21)],
    ["no GET request in a burst that is too small", 16, "usage", { ...whole, burst: 6 }, "GGGGGGGiiiiiiiiii"],
  ])("are %s", async (_, admitted, read, options, kinds) => {
    expect(await kindsOfBurst(admitted, read, options)).toBe(kinds);
  });
});
