import { describe, expect, it } from "vitest";

import { failingInvoke, flow, health, invoke } from "../../../scenarios/traffic.ts";
import type { LoadEvidence, LoadSample } from "../../evidence/load-evidence.ts";
import { countBySecond } from "../second-counts.ts";
import { evidenceOf, sample } from "../testing/samples.ts";
import { validityOf } from "./validity.ts";

const some = (count: number, other: Partial<LoadSample>): LoadSample[] =>
  Array.from({ length: count }, (_, at) => sample({ sentMs: 1000 + at, ...other }));

const shape = { kind: "in turn", requests: 10 } as const;
const flows = [flow("serial", invoke, shape), flow("failing", failingInvoke, shape), flow("health", health, shape)];
const evidence = (requests: readonly LoadSample[], other: Partial<LoadEvidence> = {}): LoadEvidence =>
  evidenceOf(requests, { flows, ...other });

const unavailable = { status: 503 } as const;
const lost = { status: null } as const;
const refusal = { status: 429 } as const;

describe("an invalid run", () => {
  it.each<[string, LoadEvidence, RegExp]>([
    ["that sent nothing", evidence([]), /nothing was sent/],
    [
      "whose generator fell behind",
      evidence(some(9, {}), { generator: { planned: 10, sent: 9, dropped: 1, late: 0, busiest: null } }),
      /could not start 1 of its requests: run it again/,
    ],
    ["whose target is out of order", evidence(some(6, unavailable)), /answered 6 of 6 requests with neither/],
    ["whose target broke down", evidence([...some(3, {}), ...some(4, unavailable)]), /4 of 7 requests with neither/],
    ["whose target is gone", evidence([...some(3, {}), ...some(4, lost)]), /did not answer 4 of 7/],
    ["whose target is gone after refusals", evidence([...some(3, refusal), ...some(4, lost)]), /did not answer 4 of 7/],
    [
      "whose target stopped answering",
      evidence(some(3, {}), { stopped: "no 200 and no 429 for 63 s" }),
      /stopped answering: no 200/,
    ],
  ])("%s", (_, found, why) => {
    expect(validityOf(found).invalid).toMatch(why);
    const long = { ...found, requests: [], summary: countBySecond(found.requests) };
    expect(validityOf(long).invalid).toMatch(why);
  });
});

describe("a valid run", () => {
  it.each<[string, LoadEvidence]>([
    ["with refusals, and other answers after them", evidence([...some(1, refusal), ...some(9, unavailable)])],
    ["of an agent that fails", evidence(some(9, { ...unavailable, flow: "failing" }))],
    ["whose health is bad", evidence(some(9, { ...unavailable, flow: "health" }))],
    ["whose clients left", evidence(some(9, { ...lost, left: true }))],
    ["that a person stopped", evidence(some(3, {}), { stopped: "interrupted" })],
    ["with more than a minute admits before the target stopped", evidence(some(11, {}), { stopped: "no 200" })],
  ])("%s", (_, found) => {
    expect(validityOf(found).invalid).toBeNull();
  });
});
