import { expect, it } from "vitest";

import type { ProbeResults } from "../../run/judge/judge-evidence.ts";
import { anExchange } from "../../run/testing/values.ts";
import { probesByIdOf, replaceEvidence, replacingExchanges } from "./mutant.ts";

const [one, other] = [anExchange("x1"), anExchange("x2")];
const ran = (evidence: unknown) => [{ instance: null, result: { kind: "ran", evidence } as const }];
const results: ProbeResults = new Map([
  ["both", ran({ exchanges: [one, other], count: 2 })],
  ["other", ran({ deep: { question: other } })],
]);

it("an exchange is replaced wherever it is held, and what does not hold it is left the very same", () => {
  const changed = anExchange("x1", { key: "another" });
  const holders = probesByIdOf(results).get("x1") ?? new Set();
  expect([...holders]).toEqual(["both"]);
  const after = replaceEvidence(results, holders, replacingExchanges(changed));
  expect(after.get("both")).toEqual(ran({ exchanges: [changed, other], count: 2 }));
  expect(after.get("other")).toBe(results.get("other"));
});
