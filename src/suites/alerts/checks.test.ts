import { describe, expect, it } from "vitest";

import type { Delivery } from "../../evidence/delivery.ts";
import { type AlertCrossingEvidence, alertIdOf, requestsToExceed, thresholdAbove } from "./probes.ts";
import { alerts } from "./checks.ts";
import { exchange, unanswered } from "../testing/evidence.ts";
import { judged, judgeBy } from "../testing/judged.ts";

const message = (json: object): Delivery => ({
  id: "d1",
  hook: "alert",
  attempt: 1,
  request: {
    method: "POST",
    url: "/token/alert",
    headers: [["X-Service-Signature", "00"]],
    body: { kind: "text", text: JSON.stringify(json), bytes: 9 },
  },
  peer: "127.0.0.1",
  receivedMs: 100,
  clockMs: 0,
  clockAtMostMs: 0,
  computedSignature: null,
  reply: { kind: "answered", status: 204, endMs: 101 },
});

const created = (status: number, json: unknown = { alert_id: "al-1" }) => exchange({ path: "/alerts", status, json });

const crossed = (changed: Partial<AlertCrossingEvidence> = {}): AlertCrossingEvidence => ({
  created: created(201),
  threshold: 3,
  crossing: { kind: "crossed", fromPercent: 2.1, toPercent: 3.4 },
  before: [],
  after: [message({ type: "rate_limit", used: 4 })],
  waitedMs: 300_000,
  unreached: null,
  ...changed,
});

describe("usage alerts", () => {
  it.each([
    [created(201), "answers-201"],
    [created(200), "answers-200"],
    [created(202), "answers-2xx"],
    [created(404), "breach"],
    [created(429), "unproven"],
    [unanswered(), "breach"],
  ])("ALR-1: creation %#", (answer, expected) => {
    expect(judged(alerts, "ALR-1", crossed({ created: answer }))).toBe(expected);
  });

  it.each<[string, Partial<AlertCrossingEvidence>, string]>([
    ["fires", {}, "holds"],
    ["stays silent", { after: [] }, "breach"],
    ["was waited for too shortly", { after: [], waitedMs: 10_000 }, "unproven"],
    ["greets its receiver, and stays silent then", { before: [message({})], after: [] }, "breach"],
    ["cannot reach the receiver", { after: [], unreached: "nothing reached it" }, "unproven"],
    ["was not created", { created: created(404), after: [] }, "unproven"],
    ["was not crossed", { crossing: { kind: "not crossed", reason: "too many" }, after: [] }, "unproven"],
  ])("ALR-3: an alert that %s", (_, changed, expected) => {
    expect(judged(alerts, "ALR-3", crossed(changed))).toBe(expected);
  });

  it("says what an alert sends, and what its creation answers", () => {
    expect(judgeBy(alerts, "ALR-4", crossed())).toMatchObject({ text: "POST with type, used, signed" });
    expect(judgeBy(alerts, "ALR-2", crossed())).toMatchObject({ text: "201 with alert_id; it has an id" });
    expect(judged(alerts, "ALR-4", crossed({ after: [] }))).toBe("unproven");
    const odd = { beyond: exchange({ status: 400 }), unknownType: created(201) };
    expect(judgeBy(alerts, "ALR-5", odd)).toMatchObject({ text: "a threshold of 150: 400; an unknown type: accepted" });
  });

  it.each([
    [{ alert_id: "a" }, "a"],
    [{ id: 7 }, "7"],
    [{ status: "success", data: { id: "b" } }, "b"],
    [{ status: "success", data: { result: { alert_id: "c" } } }, "c"],
    [{}, null],
  ])("finds the id in %j", (json, id) => {
    expect(alertIdOf(created(201, json))).toBe(id);
  });
});

describe("a threshold that nothing has reached yet", () => {
  it.each([
    [[{ limit: 100, min: 5, max: 5 }], 7],
    [[{ limit: 600, min: 3, max: 3 }], 1],
    [
      [
        { limit: 1000, min: 0, max: 70 },
        { limit: 100, min: 2, max: 2 },
      ],
      8,
    ],
    [[{ limit: 100, min: 100, max: 100 }], 102],
    [[], null],
  ])("of %j is %j %%", (windows, threshold) => {
    expect(thresholdAbove(windows)).toBe(threshold);
  });

  it.each([
    [6, [{ limit: 100, min: 5, max: 5 }], 2],
    [6, [{ limit: 100, min: 7, max: 7 }], 0],
    [
      1,
      [
        { limit: 600, min: 2, max: 2 },
        { limit: 400, min: 2, max: 2 },
      ],
      5,
    ],
  ])("above %i %% takes so many more: %j", (threshold, windows, requests) => {
    expect(requestsToExceed(threshold, windows)).toBe(requests);
  });
});
