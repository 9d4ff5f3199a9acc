import { describe, expect, it } from "vitest";

import {
  defaultRegressionKinds,
  defaultRegressionRules,
  parseRegressionRules,
  regressionKinds,
} from "./regression-rules.ts";

const kindsOf = (list: string): string[] => [...parseRegressionRules(list).kinds];

describe("the list of what counts as a regression", () => {
  it.each<[string, string[]]>([
    ["failing", ["failing"]],
    ["default", [...defaultRegressionKinds]],
    ["default, reading", [...defaultRegressionKinds, "reading"]],
    ["reading,reading", ["reading"]],
    ["none", []],
    [Object.keys(regressionKinds).join(","), Object.keys(regressionKinds)],
  ])("%s", (list, kinds) => {
    expect(kindsOf(list)).toEqual(kinds);
  });

  it("may hold shares", () => {
    expect(parseRegressionRules("latency:30%,throughput:7.5%,memory").tolerances).toEqual({
      latency: 0.3,
      throughput: 0.075,
      memory: 0.25,
    });
  });

  it.each<[string, RegExp]>([
    ["fail", /^"fail" is no kind of regression\. There are: failing, /],
    ["", /^"" is no kind of regression/],
    ["failing,", /^"" is no kind/],
    ["failing,none", /^"none" is no kind .*none \(alone\)/],
    ["toString", /no kind/],
    ["failing:10%", /failing takes no share; latency, throughput, memory do/],
    ["latency:0.3", /such as latency:25%/],
    ["latency:-3%", /such as latency:25%/],
    ["latency:3%:4%", /such as latency:25%/],
    ["latency:", /such as latency:25%/],
  ])("is refused in one line: %s", (list, words) => {
    expect(() => parseRegressionRules(list)).toThrow(words);
    expect(() => parseRegressionRules(list)).not.toThrow(/\n/);
  });

  it("has defaults without times", () => {
    expect([...defaultRegressionRules.kinds]).toEqual(["failing", "warning", "error", "skipped-must"]);
  });
});
