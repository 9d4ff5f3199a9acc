import { describe, expect, it } from "vitest";

import { delivery, event, streamed } from "../testing/evidence.ts";
import { judgeBy } from "../testing/judged.ts";
import { streamTimesCheck } from "./deliveries.ts";

const query = "Hello. 2f9c7a10-1b2c-4d3e-8f40-5a6b7c8d9e0f";
const suite = { title: "Relations", checks: [streamTimesCheck] };

/** A run with one stream of 20 ms and its delivery, and the deliveries of other executions. */
const run = (done: number, delivered: number, others: readonly number[] = []) => {
  const stream = streamed([event("done", { execution_time: done })], { sent: { query }, path: "/agents/echo/stream" });
  const reported = (seconds: number, input: object) =>
    delivery({ event: { data: { request_id: "r1", input, result: {}, execution_time: seconds } } });
  const deliveries = [reported(delivered, { query }), ...others.map((each) => reported(each, { query: "Another." }))];
  return {
    all: { exchanges: [stream], validKeys: ["main"], endClockMs: 0 },
    arrived: { deliveries, untilMs: 9000, clockMs: 0, canMove: false, unkept: {} },
  };
};

describe("the duration in the delivery of a short stream", () => {
  it.each<[string, ReturnType<typeof run>, string]>([
    ["is that of `done`", run(0.0042, 0.0043), "holds"],
    ["is in milliseconds", run(0.00042, 0.42), "breach"],
    ["is about 1000 times as long, and longer than the stream", run(0.00042, 0.5), "breach"],
    ["is exactly 1000 times as long, and not longer than the stream", run(0.00001, 0.01), "breach"],
    ["is longer, as the queue counts", run(0.00042, 0.05), "holds"],
    ["may be rounded up to a second", run(0.001, 1), "holds"],
    ["is a second, where others are no whole seconds", run(0.001, 1, [0.25]), "breach"],
    ["is 0 in `done`", run(0, 0.4), "inapplicable"],
  ])("%s", (_, evidence, expected) => {
    expect(judgeBy(suite, "HOOK-42/execution_time of short streams", evidence).kind).toBe(expected);
  });
});
