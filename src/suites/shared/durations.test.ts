import { expect, it } from "vitest";

import { deliveries } from "../deliveries/checks.ts";
import { delivery, exchange } from "../testing/evidence.ts";
import { judged } from "../testing/judged.ts";

const invoke = exchange({ path: "/agents/echo/invoke", sentMs: 0, endMs: 200 });
const batch = exchange({ path: "/agents/echo/batch", sentMs: 0, endMs: 200 });
const afterwards = exchange({ path: "/agents/echo/invoke", sentMs: 9000 });
const data = { request_id: "r", input: {}, result: {}, tokens_used: 1 };
const completed = (seconds: number) =>
  delivery({ event: { type: "agent.completed", agent_id: "echo", data: { ...data, execution_time: seconds } } });

it.each([
  ["as long as the request", 0.2, [invoke, afterwards], "holds"],
  ["the milliseconds that the request took", 200, [invoke, afterwards], "breach"],
  ["longer than any request, if a batch may have started it", 200, [invoke, batch, afterwards], "holds"],
  ["longer than any request, if no earlier one is known", 200, [afterwards], "holds"],
] as const)("judges an execution time in a delivery: %s", (_, seconds, exchanges, expected) => {
  const sent = completed(seconds);
  const evidence = {
    exchanges: { exchanges, validKeys: ["main"], batchPath: "/agents/{agent_id}/batch" },
    all: { deliveries: [{ ...sent, receivedMs: 1000 }] },
  };
  expect(judged(deliveries, "HOOK-17", evidence)).toBe(expected);
});
