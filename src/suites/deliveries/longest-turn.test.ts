import { expect, it } from "vitest";

import { deliveries } from "./checks.ts";
import { delivery } from "../testing/delivery.ts";
import { exchange } from "../testing/exchange.ts";
import { judged } from "../testing/judged.ts";

const turn = exchange({ path: "/agents/echo/invoke", sentMs: 0, endMs: 200 });
const batch = exchange({ path: "/agents/echo/batch", sentMs: 0, endMs: 200 });
const afterwards = exchange({ path: "/agents/echo/invoke", sentMs: 9000 });
const data = { request_id: "r", input: {}, result: {}, tokens_used: 1 };
const told = (seconds: number) =>
  delivery({ event: { type: "agent.completed", agent_id: "echo", data: { ...data, execution_time: seconds } } });

it.each([
  ["as long as the request", 0.2, [turn, afterwards], "holds"],
  ["the milliseconds that the request took", 200, [turn, afterwards], "breach"],
  ["longer than any request, where a batch may have started it", 200, [turn, batch, afterwards], "holds"],
  ["longer than any request, where none is known", 200, [afterwards], "holds"],
] as const)("judges an execution time in a delivery: %s", (_, seconds, exchanges, expected) => {
  const sent = told(seconds);
  const evidence = {
    everything: { exchanges, validKeys: ["main"], batchPath: "/agents/{agent_id}/batch" },
    all: { deliveries: [{ ...sent, receivedMs: 1000 }] },
  };
  expect(judged(deliveries, "HOOK-17", evidence)).toBe(expected);
});
