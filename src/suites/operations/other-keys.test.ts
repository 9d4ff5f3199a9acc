import { describe, expect, it } from "vitest";

import type { Exchange } from "../../evidence/exchange.ts";
import { exchange, unanswered } from "../testing/evidence.ts";
import { judgeBy } from "../testing/judged.ts";
import { otherKeyChecks } from "./other-keys.ts";

const suite = { title: "Operations", checks: otherKeyChecks };
const kindOf = (clause: string, started: readonly Exchange[], byReader: readonly Exchange[] = []): string => {
  const tried = byReader.map((each) => ({ kind: "a read-only key", exchange: each }));
  return judgeBy(suite, `${clause}/other keys`, { others: { started }, tries: { tried } }).kind;
};

const handle = { operation_id: "op-1", status: "pending", check_url: "/v1/operations/op-1" };
const answer = (json: object, status = 201): Exchange => exchange({ path: "/agents/echo/batch", status, json });
const ofAgent = { ...handle, check_url: "/v1/agents/echo/operations/op-1" };

describe("the handle that another key gets", () => {
  it.each<[string, string, readonly Exchange[], string]>([
    ["OPS-1", "as published", [answer(handle)], "holds"],
    ["OPS-1", "with a number for an id", [answer(handle), answer({ ...handle, operation_id: 7 })], "breach"],
    ["OPS-2", "of another status", [answer({ ...handle, status: "queued" })], "breach"],
    ["OPS-3", "as published", [answer(handle)], "holds"],
    ["OPS-3", "with a path below the agent", [answer(handle), answer(ofAgent)], "breach"],
    ["OPS-3", "that is none, as the batch was processed at once", [answer({ results: [] }, 200)], "inapplicable"],
    ["OPS-3", "as published, besides a refusal", [answer(handle), answer({}, 403)], "holds"],
    ["OPS-3", "that is a refusal", [answer({}, 403)], "inapplicable"],
    ["OPS-3", "that is a limit", [answer({}, 429)], "unproven"],
    ["OPS-3", "that is no response", [unanswered()], "unproven"],
    ["OPS-3", "that does not exist", [], "inapplicable"],
  ])("%s: %s", (clause, _, started, expected) => {
    expect(kindOf(clause, started)).toBe(expected);
  });

  it.each([
    ["as published", answer(handle), "holds"],
    ["with a path below the agent", answer(ofAgent), "breach"],
    ["that is a refusal", answer({}, 403), "inapplicable"],
  ])("may be that of a read-only key: %s", (_, response, expected) => {
    expect(kindOf("OPS-3", [], [response])).toBe(expected);
  });
});
