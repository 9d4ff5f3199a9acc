import { describe, expect, it } from "vitest";

import type { Exchange } from "../../evidence/exchange.ts";
import { statusOf } from "../../evidence/exchange.ts";
import type { RequirementSet } from "../../spec/clause.ts";
import { type AllExchanges, allExchanges } from "../../suites/shared/all-exchanges.ts";
import { anExchange } from "../testing/values.ts";
import { check, checkEvery, suite, withWidened } from "./check.ts";
import { breach, holds, unproven } from "./finding.ts";
import { judgeEvidence } from "./judge-evidence.ts";

const every = checkEvery("INV-2", allExchanges, {
  matrix: { description: "all", cells: [], coverageProbe: null },
  members: ({ exchanges }) =>
    exchanges.map((subject) => ({ cell: { of: "usage", kind: "200" }, proof: subject, subject })),
  judge: (exchange) => (statusOf(exchange) === 200 ? null : { expected: "200", actual: String(statusOf(exchange)) }),
  whenEmpty: unproven("nothing"),
});
const whole = check("INV-3", allExchanges, ({ exchanges }) => (exchanges.length > 1 ? breach("one", "two") : holds()));

const sent = (id: string, since: RequirementSet, status: number): Exchange => {
  const given = anExchange(id);
  const answer = given.answer.kind === "answered" ? { ...given.answer, status } : given.answer;
  return { ...given, answer, ...(since === "1.0" ? {} : { since }) };
};

function judged(...exchanges: readonly Exchange[]): string[] {
  const evidence: AllExchanges = { exchanges, validKeys: ["key"] };
  const results = new Map([[allExchanges.name, [{ instance: null, result: { kind: "ran", evidence } as const }]]]);
  return judgeEvidence([withWidened(suite("S", [every, whole]))], results).map(
    ({ check: { id, since }, finding: { kind } }) => `${id} ${since} ${kind}`,
  );
}

describe("a check of the whole run", () => {
  it.each([
    [
      "has a companion that finds what a later probe saw",
      [sent("x1", "1.0", 200), sent("x2", "1.1", 500)],
      [
        "INV-2 1.0 holds",
        "INV-2/in requests of 1.1 1.1 breach",
        "INV-3 1.0 holds",
        "INV-3/in requests of 1.1 1.1 breach",
      ],
    ],
    [
      "has a companion that counts the later cases",
      [sent("x1", "1.1", 200)],
      ["INV-2 1.0 unproven", "INV-2/in requests of 1.1 1.1 holds", "INV-3 1.0 holds"],
    ],
    ["is alone without later requests", [sent("x1", "1.0", 200)], ["INV-2 1.0 holds", "INV-3 1.0 holds"]],
    [
      "is alone if it is broken already",
      [sent("x1", "1.0", 500), sent("x2", "1.0", 200), sent("x3", "1.1", 500)],
      ["INV-2 1.0 breach", "INV-3 1.0 breach"],
    ],
  ])("%s", (_, exchanges, expected) => {
    expect(judged(...exchanges)).toEqual(expected);
  });
});
