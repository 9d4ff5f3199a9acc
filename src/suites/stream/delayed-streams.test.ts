import { describe, expect, it } from "vitest";

import { chunk, event, exchange, start, streamed } from "../testing/evidence.ts";
import { judgePacedTimes } from "./delayed-streams.ts";

const delaysMs = [50, 110, 150] as const;

interface Times {
  readonly reported: readonly unknown[];
  readonly tookMs?: number;
  readonly chunks?: readonly number[];
}

const streamsOf = ({ reported, tookMs = 5000, chunks = [16, 16, 16] }: Times) =>
  delaysMs.map((delayMs, at) => ({
    delayMs,
    tookMs,
    exchange: streamed([
      start,
      ...Array.from({ length: chunks[at] ?? 0 }, () => chunk("one ")),
      event("done", { message: "Done.", usage: { total_tokens: 3 }, execution_time: reported[at] }),
    ]),
  }));

describe("the time that `done` reports of a stream with delays", () => {
  it.each<[string, Times, string]>([
    ["has all its seconds", { reported: [0.75, 1.65, 2.25] }, "holds"],
    ["has all its seconds, and those of other work", { reported: [0.9, 1.9, 2.6] }, "holds"],
    ["has lost its whole seconds", { reported: [0.75, 0.65, 0.25] }, "breach"],
    ["has lost them, with a delay after each chunk", { reported: [0.8, 0.76, 0.4] }, "breach"],
    ["has lost them, and has a little more", { reported: [0.77, 0.69, 0.31] }, "breach"],
    ["does not count the delays", { reported: [0.002, 0.002, 0.003] }, "inapplicable"],
    ["is that of the agent alone, as long as the first delays", { reported: [0.75, 0.75, 0.75] }, "holds"],
    ["is short, as the stream was", { reported: [0.75, 0.65, 0.25], tookMs: 900 }, "holds"],
    ["is in whole seconds", { reported: [0, 1, 2] }, "inapplicable"],
    ["belongs to texts of different lengths", { reported: [0.75, 0.65, 0.25], chunks: [16, 12, 9] }, "unproven"],
    ["belongs to few chunks", { reported: [0.1, 0.2, 0.3], chunks: [3, 3, 3] }, "inapplicable"],
    ["is absent", { reported: ["", "", ""] }, "unproven"],
  ])("%s", (_, times, expected) => {
    expect(judgePacedTimes(streamsOf(times)).kind).toBe(expected);
  });

  it("is not known if a stream is refused, or the key has few requests", () => {
    const refused = { delayMs: 50, tookMs: 5, exchange: exchange({ status: 429 }) };
    expect(judgePacedTimes([refused, ...streamsOf({ reported: [] })]).kind).toBe("unproven");
    expect(judgePacedTimes(null).kind).toBe("inapplicable");
  });
});
