import { describe, expect, it } from "vitest";

import type { Sample } from "../../rules/limits/sample.ts";
import { exchange, sample } from "../testing/evidence.ts";
import { judgeRemainingAfterReads } from "./value-sequences.ts";

const at = (id: string, sentMs: number, remaining: number, more: Partial<Sample> = {}): Sample =>
  sample({
    id,
    kind: "other",
    sentMs,
    headMs: sentMs + 5,
    endMs: sentMs + 5,
    limit: 100,
    remaining,
    reset: 1_800_000_060,
    resetAfter: 50,
    ...more,
  });

const judge = (samples: readonly Sample[], ...paths: readonly string[]): string =>
  judgeRemainingAfterReads({
    samples: {
      keys: [{ key: "main", limits: null, isFresh: false, samples }],
      keylessMs: [],
      hasClock: false,
      readsCount: false,
      startedUnixMs: 0,
    },
    all: {
      exchanges: paths.map((path, index) => ({
        ...exchange(
          path.endsWith("/batch")
            ? { path, sentMs: -5, sent: { batch: Array.from({ length: 9 }, () => ({ query: "hello" })) } }
            : { method: "GET", path },
        ),
        id: `r${index}`,
      })),
      validKeys: ["main"],
      batchPath: "/agents/{agent_id}/batch",
    },
  }).kind;

describe("what a reading says is left", () => {
  it.each<[string, readonly Sample[], string]>([
    ["is told the next request, too", [at("r0", 0, 90), at("x", 10, 89)], "holds"],
    ["is told before it is counted", [at("r0", 0, 90), at("x", 10, 88)], "holds"],
    ["is the whole limit, whatever was sent", [at("r0", 0, 100), at("x", 10, 89)], "breach"],
    ["is more after a refill", [at("r0", 0, 90), at("x", 10, 95)], "holds"],
    ["is of another window", [at("r0", 0, 100), at("x", 10, 89, { reset: 1_800_000_120 })], "unproven"],
    ["was told while another was under way", [at("y", -2, 96), at("r0", 0, 100), at("x", 10, 89)], "unproven"],
    ["was told a stream", [at("r0", 0, 100), at("x", 10, 89, { kind: "stream" })], "unproven"],
    ["was told a refused one", [at("r0", 0, 100), at("x", 10, 89, { status: 429 })], "unproven"],
  ])("%s", (_, samples, expected) => {
    expect(judge(samples, "/keys/usage")).toBe(expected);
  });

  it("may fall by a batch's entries, and tells nothing on other paths", () => {
    expect(judge([at("r0", 0, 100), at("x", 10, 89)], "/keys/usage", "/agents/echo/batch")).toBe("holds");
    expect(judge([at("r0", 0, 100), at("x", 10, 89)], "/agents/echo")).toBe("unproven");
  });
});
