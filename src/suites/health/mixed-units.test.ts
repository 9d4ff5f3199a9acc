import { describe, expect, it } from "vitest";

import { exchange } from "../testing/evidence.ts";
import { judgeMixedUnits } from "./changing-values.ts";

const hourSeconds = 3600;

/** Reports of an agent, each with its `uptime` and the seconds since the start of the run. */
const judge = (...reports: readonly (readonly [uptime: number, atSeconds: number])[]) =>
  judgeMixedUnits({
    exchanges: reports.map(([uptime, atSeconds]) =>
      exchange({
        method: "GET",
        path: "/agents/echo/health",
        json: { status: "healthy", checks: {}, uptime },
        sentMs: 1000 * atSeconds,
      }),
    ),
    validKeys: ["main"],
  }).kind;

/** A process that has run for an hour when the run starts: its uptime at a time, in seconds and in milliseconds. */
const seconds = (at: number) => [hourSeconds + at, at] as const;
const milliseconds = (at: number) => [1000 * (hourSeconds + at), at] as const;
/** A process that has run for 50 days, and one that started half a minute before each request. */
const old = (at: number) => [50 * 24 * hourSeconds + at, at] as const;
const young = (at: number) => [4320, at] as const;

describe("the unit of `uptime`", () => {
  it.each([
    ["is seconds throughout", [0, 40, 80, 120].map(seconds), "holds"],
    [
      "is milliseconds in three reports of five",
      [seconds(0), ...[30, 60, 90].map(milliseconds), seconds(120)],
      "breach",
    ],
    [
      "is milliseconds in two reports, which may be chance",
      [seconds(0), ...[30, 120].map(milliseconds), seconds(150)],
      "holds",
    ],
    ["is milliseconds for less than a minute", [seconds(0), ...[5, 10, 15].map(milliseconds), seconds(20)], "holds"],
    [
      "is seconds on replicas of any age",
      [0, 40, 80, 120].flatMap((at) => [old(at), young(at), young(at + 1)]),
      "holds",
    ],
  ] as const)("%s", (_, reports, kind) => {
    expect(judge(...reports)).toBe(kind);
  });

  it("does not apply without a report", () => {
    expect(judge()).toBe("inapplicable");
  });
});
