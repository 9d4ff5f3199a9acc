import { describe, expect, it } from "vitest";

import { gatewayOutages, type ResponseCounts } from "./gateway.ts";

const stepMs = 100;

/** Makes a response for each character, 100 ms apart. `g` looks like a gateway's response, `.` does not. */
const responses = (text: string): ResponseCounts[] =>
  text.split("").map((each, index) => {
    const ms = index * stepMs;
    return { sentMs: ms, fromMs: ms, toMs: ms, gatewayLike: Number(each === "g"), others: Number(each !== "g") };
  });

const others = (count: number): string => ".".repeat(count);

describe("responses without anything of the interface", () => {
  it.each<[string, string, number]>([
    ["that come once", `${others(50)}g${others(50)}`, 1],
    ["while the target is away", `${others(50)}${"g".repeat(40)}${others(50)}`, 1],
    ["until the end", `${others(5)}${"g".repeat(500)}`, 1],
    ["for some seconds of a deployment, one of three", `${others(200)}${"g..".repeat(30)}${others(200)}`, 1],
    ["in two deployments", `${others(50)}ggg${others(50)}g.g.g${others(50)}`, 2],
    ["never", others(9), 0],
  ])("are a gateway's %s", (_, text, spells) => {
    expect(gatewayOutages(responses(text))).toHaveLength(spells);
  });

  it.each([
    ["one in a hundred, all the time", `${others(99)}g`.repeat(6)],
    ["one in three, all the time", "..g".repeat(200)],
  ])("are the target's own: %s", (_, text) => {
    expect(gatewayOutages(responses(text))).toBeNull();
  });

  it("are told apart in counts per second as well", () => {
    const seconds = (gatewayLike: readonly number[]): ResponseCounts[] =>
      gatewayLike.map((each, index) => {
        const ms = index * 1000;
        return { sentMs: ms, fromMs: ms, toMs: ms + 999, gatewayLike: each, others: 500 - each };
      });
    expect(gatewayOutages(seconds([0, 0, 3, 500, 500, 240, 0, 0]))).toEqual([
      { fromMs: 2000, toMs: 5999, gatewayLike: 1243, others: 757 },
    ]);
    expect(gatewayOutages(seconds(Array.from({ length: 60 }, () => 5)))).toBeNull();
  });

  it("are a gateway's if only requests from before were answered in between", () => {
    const away = responses("g".repeat(400)).map((each) => ({ ...each, toMs: each.toMs + 1 }));
    const late = { sentMs: -5, fromMs: 2000, toMs: 2000, gatewayLike: 0, others: 1 };
    expect(gatewayOutages([...away, late])).toHaveLength(1);
  });
});
