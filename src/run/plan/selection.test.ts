import { describe, expect, it } from "vitest";

import { UsageError } from "../../base/line.ts";
import { check, suite } from "../judge/check.ts";
import { holds } from "../judge/finding.ts";
import { probe } from "../probe.ts";
import { selectChecks } from "./selection.ts";

const single = probe("single", { requests: 1 }, () => Promise.resolve({}));
const suites = [
  suite("Stream events", [
    check("SSE-1", single, holds),
    check("SSE-10", single, holds, { as: "first" }),
    check("SSE-10", single, holds, { as: "second" }),
  ]),
  suite("Health", [check("HLT-1", single, holds)]),
];

const ids = (only: string[], skip: string[] = []): string[] =>
  selectChecks(suites, { only, skip }).flatMap(({ checks }) => checks.map(({ id }) => id));

describe("a selection", () => {
  it.each<[string[], string[], string[]]>([
    [[], [], ["SSE-1", "SSE-10/first", "SSE-10/second", "HLT-1"]],
    [["SSE-1"], [], ["SSE-1"]],
    [["sse-10"], [], ["SSE-10/first", "SSE-10/second"]],
    [["SSE-10/second"], [], ["SSE-10/second"]],
    [["SSE-*"], ["SSE-1"], ["SSE-10/first", "SSE-10/second"]],
    [["Health", "SSE-1"], [], ["SSE-1", "HLT-1"]],
    [["stream*"], [], ["SSE-1", "SSE-10/first", "SSE-10/second"]],
    [[], ["*"].map(() => "SSE*"), ["HLT-1"]],
  ])("of %j without %j", (only, skip, expected) => {
    expect(ids(only, skip)).toEqual(expected);
  });

  it("omits suites without a selected check", () => {
    expect(selectChecks(suites, { only: ["HLT-*"], skip: [] }).map(({ title }) => title)).toEqual(["Health"]);
  });

  it.each<[string[], string[], RegExp]>([
    [["SSE-999"], [], /^only "SSE-999" matches no clause, check or suite\..*Stream events, Health\.$/],
    [[], ["SEE-*"], /^skip "SEE-\*" matches no/],
    [["."], [], /matches no/],
    [
      ["SSE-2"],
      [],
      /^only "SSE-2" names a clause that has no check here: .+\. `conformance explain SSE-2` says more\.$/,
    ],
    [
      [],
      ["auth-15"],
      /^skip "auth-15" names a clause that has no check here: Keys are issued .+\. Neither is part of the HTTP interface\.$/,
    ],
    [["Health"], ["HLT-1"], /^No check is left/],
  ])("of %j without %j is refused", (only, skip, expected) => {
    expect(() => ids(only, skip)).toThrow(UsageError);
    expect(() => ids(only, skip)).toThrow(expected);
  });

  it("takes no long time for any pattern", () => {
    expect(() => ids([`${"*".repeat(40)}!`])).toThrow(UsageError);
  });
});
