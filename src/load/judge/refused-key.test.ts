import { describe, expect, it } from "vitest";

import type { LoadSample } from "../../evidence/load-evidence.ts";
import { keyRefusalIn } from "../judge/target-loss.ts";
import { countBySecond } from "../second-counts.ts";
import { evidenceOf, sample } from "../testing/samples.ts";

const at = (ms: number, status: number | null, key = "main"): LoadSample =>
  sample({ key, status, sentMs: ms, headMs: ms + 2, endMs: ms + 3 });

describe("a key that a load was refused with", () => {
  it.each<[string, readonly LoadSample[], ReturnType<typeof keyRefusalIn>]>([
    ["was accepted before", [at(1, 200), at(10, 401), at(20, 401)], { key: "main", fromMs: 12 }],
    ["was accepted before, with a 403", [at(1, 200), at(10, 403)], { key: "main", fromMs: 12 }],
    ["was rate-limited in between", [at(1, 200), at(10, 429), at(20, 401)], { key: "main", fromMs: 22 }],
    [
      "is one of two",
      [at(1, 200), at(2, 200, "second"), at(10, 401, "second"), at(20, 200)],
      { key: "second", fromMs: 12 },
    ],
    ["was never accepted", [at(1, 401), at(10, 401)], null],
    ["was accepted again", [at(1, 200), at(10, 401), at(20, 200)], null],
    [
      "was limited afterwards, as many wrong keys are",
      [at(1, 200), at(10, 401), at(20, 429)],
      { key: "main", fromMs: 12 },
    ],
    ["got no more responses", [at(1, 200), at(10, null)], null],
  ])("%s", (_, requests, expected) => {
    expect(keyRefusalIn(evidenceOf(requests))).toEqual(expected);
  });

  it("is found in the counts of a long run", () => {
    const requests = [at(1000, 200), at(2000, 401), at(3000, 401)].map((each) => ({ ...each, date: null }));
    expect(keyRefusalIn(evidenceOf([], { summary: countBySecond(requests) }))).toEqual({ key: "main", fromMs: 2003 });
    const fine = requests.map((each) => ({ ...each, status: 200 }));
    expect(keyRefusalIn(evidenceOf([], { summary: countBySecond(fine) }))).toBeNull();
  });
});
