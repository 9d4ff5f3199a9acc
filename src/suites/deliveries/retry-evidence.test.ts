import { describe, expect, it } from "vitest";

import { findFailureMark } from "./retry-evidence.ts";

describe("the failure mark after the last attempt", () => {
  it.each([
    ["a state in a list", { data: [{ status: "failed" }] }, undefined, "delivery"],
    ["a state with another word", { deliveries: [{ state: "DEAD_LETTER" }] }, undefined, "delivery"],
    ["a flag", [{ failed: true }], undefined, "delivery"],
    ["in the envelope", { status: "success", data: { result: [{ state: "exhausted" }] } }, undefined, "delivery"],
    ["the webhook's own state", { status: "failed", data: [{ state: "pending" }] }, undefined, "webhook"],
    ["the webhook's record", { data: [] }, { data: { status: "disabled" } }, "webhook"],
    ["a state that is no failure", { data: [{ status: "pending" }] }, { status: "active" }, "not marked"],
    ["the state delivered", { data: [{ status: "delivered" }] }, undefined, "not marked"],
    ["no state", { data: [{ id: 1 }] }, undefined, "unknown"],
    ["no list", undefined, undefined, "unknown"],
  ] as const)("%s", (_, list, record, expected) => {
    const mark = findFailureMark(list, record);
    expect(mark.kind === "marked" ? mark.which : mark.kind).toBe(expected);
  });
});
