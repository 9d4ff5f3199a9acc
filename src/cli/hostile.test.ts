import { describe, expect, it } from "vitest";

import { isFull, sampleOf, testSeed } from "../base/testing/test-scope.ts";
import { hostileModes } from "./testing/hostile/modes.ts";
import { problemsOf, tryMode } from "./testing/hostile/try-all.ts";

/**
 * One hostile behaviour of each kind that once did harm. The others take too long for every test run; `node tools/hostile.ts` tries them.
 */
const few = [
  "closes at once, from the first request on",
  "an agent named by half a surrogate alone",
  "echoes the key as JSON",
] as const;

/** A full test run also tries every tenth of the other behaviours. A seed decides which. */
const tenth = 10;

const chosen: readonly string[] = sampleOf(few, { of: few.length });
const tried = Object.entries(hostileModes).filter(
  ([name], at) => chosen.includes(name) || (isFull && at % tenth === testSeed % tenth),
);

describe("a whole run against a hostile target", () => {
  it("has a hundred ways and more to be done harm", () => {
    expect(Object.keys(hostileModes).length).toBeGreaterThan(100);
    expect(few.filter((name) => !Object.hasOwn(hostileModes, name))).toEqual([]);
  });

  it.each(tried)(
    "that %s ends with a report, in bounds, and without a trace of the key",
    { timeout: 200_000 },
    async (_, harm) => {
      expect(problemsOf(await tryMode(harm, { maxSeconds: 150 }))).toEqual([]);
    },
  );
});
