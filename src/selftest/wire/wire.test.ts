import { beforeAll, describe, expect, it } from "vitest";

import { isFull, testSeed } from "../../base/testing/test-scope.ts";
import { describeCondition } from "./conditions.ts";
import { isPossible } from "./dimensions.ts";
import { describeMutant, drawMutant, mutations, type WireMutant } from "./mutant.ts";
import { isIllegal } from "./mutations/mutation.ts";
import { type RequestProfile, takeProfile } from "./profile.ts";
import { probesAffectedBy, type MutantTester, mutantTester, runWire } from "./trial.ts";

/** Maximum share of illegal mutants whose condition no request of a run meets. */
const maxUnmetShare = 0.06;

const numbers = (count: number): number[] => Array.from({ length: count }, (_, index) => index + 1);

describe("mutants of behaviour that a seed draws", () => {
  const drawn = numbers(2000).map((number) => drawMutant(7, number));
  const share = (part: readonly unknown[], of: readonly unknown[]): number => part.length / of.length;

  it("are always the same, whichever are drawn before", () => {
    expect(drawn.map(describeMutant)).toEqual(numbers(2000).map((number) => describeMutant(drawMutant(7, number))));
    expect(describeMutant(drawMutant(7, 1500))).toBe(describeMutant(drawn[1499] as WireMutant));
    expect(numbers(50).map((number) => describeMutant(drawMutant(8, number)))).not.toEqual(
      drawn.slice(0, 50).map(describeMutant),
    );
  });

  it("are legal in a quarter of the cases, and by what is no dimension in a third", () => {
    expect(
      share(
        drawn.filter(({ kind }) => kind === "legal"),
        drawn,
      ),
    ).toBeCloseTo(0.25, 1);
    expect(
      share(
        drawn.filter(({ isDimensional }) => !isDimensional),
        drawn,
      ),
    ).toBeCloseTo(1 / 3, 1);
  });

  it("are illegal exactly if they break a clause that binds a server", () => {
    for (const { kind, mutation } of drawn) expect(kind === "illegal").toBe(isIllegal(mutation));
  });

  it("choose requests that can exist", () => {
    for (const { condition } of drawn)
      expect({ condition: describeCondition(condition), isPossible: isPossible(condition.values) }).toMatchObject({
        isPossible: true,
      });
  });

  it("are of every class of mutation", () => {
    const classes = new Set(drawn.map(({ mutation }) => mutation.class));
    expect(mutations.map((each) => each.class).filter((name) => !classes.has(name))).toEqual([]);
  });
});

describe("a mutant of behaviour", () => {
  let profile: RequestProfile;
  let tester: MutantTester;
  beforeAll(async () => {
    profile = await takeProfile();
    tester = mutantTester(profile);
  }, 300_000);

  const mutantOf = (mutation: string, condition: Partial<WireMutant["condition"]>): WireMutant => {
    const found = mutations.find(({ description }) => description === mutation);
    if (found === undefined) throw new Error(`there is no mutation ${mutation}`);
    return {
      number: 1,
      condition: { values: {}, extraProperty: null, numberRule: null, ...condition },
      mutation: found,
      kind: isIllegal(found) ? "illegal" : "legal",
      conditionClass: "one value",
      isDimensional: true,
    };
  };

  it.each([
    ["X-RateLimit-Limit left out", { values: { endpoint: "keyUsage" } }],
    ["period: left out (usage 200)", { values: { endpoint: "usage" } }],
    ["let a key pass that is missing", { values: { key: "missing", endpoint: "health" } }],
    ["`start` left out (stream)", { values: { agent: "answering" } }],
    ["code NOT_FOUND for that of 404 (invoke)", {}],
    ["400 INVALID_INPUT for a success (usage)", {}],
    ["more items than the limit (list)", { values: { page: "second" } }],
  ] as const)(
    "is killed if a clause forbids it: %s",
    async (mutation, condition) => {
      const { status, changed, said } = await tester.tryMutant(mutantOf(mutation, condition));
      expect(status).toBe("killed");
      expect(changed).toBeGreaterThan(0);
      expect(said).not.toEqual([]);
    },
    300_000,
  );

  it.each([
    ["unknown fields", {}],
    ["keys in another order", {}],
    ["comments between the events", {}],
    ["metadata.execution_time: left out (invoke 200)", {}],
    ["form B for form A", { values: { endpoint: "stream" } }],
  ] as const)(
    "passes if it is legal: %s",
    async (mutation, condition) => {
      const { status, changed, said } = await tester.tryMutant(mutantOf(mutation, condition));
      expect({ status, said }).toEqual({ status: "passed", said: [] });
      expect(changed).toBeGreaterThan(0);
    },
    300_000,
  );

  it("is mostly met by some request of a run, whatever the seed", () => {
    const drawn = numbers(500).map((number) => drawMutant(testSeed, number));
    const illegal = drawn.filter(({ kind }) => kind === "illegal");
    const unmet = illegal.filter((mutant) => probesAffectedBy(mutant, profile) === null);
    expect(unmet.length / illegal.length).toBeLessThan(maxUnmetShare);
  });

  it("is not visited if no request meets its condition", async () => {
    const never = {
      class: "never",
      description: "never",
      on: null,
      excludes: () => false,
      matches: () => false,
    };
    const trial = await tester.tryMutant(mutantOf("period: left out (usage 200)", { extraProperty: never }));
    expect(trial).toMatchObject({ status: "not visited", changed: 0 });
  }, 300_000);
});

it("never turns a clause red if it is legal, and is tried without an error", async () => {
  const trials = await runWire({ seed: testSeed, numbers: numbers(isFull ? 200 : 10) });
  expect(trials.map(({ mutant: { number } }) => number)).toEqual(numbers(trials.length));
  const wrong = trials.filter(({ status }) => status === "flagged" || status === "broken");
  expect(wrong.map(({ mutant, said }) => [describeMutant(mutant), ...said])).toEqual([]);
}, 600_000);
