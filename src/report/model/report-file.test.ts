import { describe, expect, it } from "vitest";

import type { DeliveryReply } from "../../evidence/delivery.ts";
import { type Evidence, toEvidenceFile, fromEvidenceFile } from "../../evidence/evidence.ts";
import { serializeEvidence, readEvidence, readReport, serializeReport, UnreadableFile } from "./report-file.ts";
import { sampleDelivery, sampleExchange, sampleFinding, sampleReport } from "../testing/sample.ts";

const first = sampleExchange("x1");
const second = sampleExchange(
  "x2",
  { method: "GET", body: { kind: "none" } },
  {
    kind: "unanswered",
    reason: "silent",
    detail: "no response head within 10 s",
    endMs: 10_000,
  },
);
const delivery = sampleDelivery("d1");

const ran = (evidence: unknown) => ({ probe: "a probe", instance: null, result: { kind: "ran", evidence } }) as const;
const of = (...evidence: readonly unknown[]): Evidence => ({
  exchanges: [first, second],
  deliveries: [delivery],
  probes: evidence.map(ran),
});

const replies: readonly DeliveryReply[] = [
  { kind: "answered", status: 204, endMs: 2 },
  { kind: "held" },
  { kind: "reset" },
  { kind: "silent", leftMs: null },
  { kind: "endless", status: 200, leftMs: 3001.5 },
];

const cases: readonly { name: string; evidence: unknown }[] = [
  { name: "an exchange", evidence: first },
  { name: "exchanges in a tree", evidence: { a: [first, { b: second }], c: first, n: 1.5, t: "text", no: null } },
  { name: "a delivery", evidence: { deliveries: [delivery], again: delivery } },
  { name: "a delivery of every reply", evidence: replies.map((reply, at) => sampleDelivery(`r${at}`, { reply })) },
  { name: "an object that looks like a delivery's reference", evidence: { $delivery: "d9" } },
  { name: "another delivery under a known id", evidence: [delivery, { ...delivery, attempt: 2 }] },
  { name: "an object that looks like a reference", evidence: { said: { $exchange: "x1" } } },
  { name: "an object that looks like a literal", evidence: { $literal: { $literal: { $exchange: "x9" } } } },
  {
    name: "a name with a meaning in JavaScript",
    evidence: JSON.parse('{"__proto__":{"a":1},"constructor":2}') as unknown,
  },
  { name: "another exchange under a known id", evidence: [first, { ...first, sentMs: 99 }] },
  { name: "something like an exchange", evidence: { id: "x1", request: {}, answer: {} } },
];

describe("evidence.json", () => {
  it.each(cases)("keeps $name", ({ evidence }) => {
    const { exchanges, deliveries, probes } = readEvidence(serializeEvidence(of(evidence)), "evidence.json");
    expect(probes).toEqual(of(evidence).probes);
    expect(exchanges).toEqual(of(evidence).exchanges);
    expect(deliveries).toContainEqual(delivery);
  });

  it("holds an exchange once, however often the evidence names it", () => {
    const { exchanges, probes } = toEvidenceFile(of(first, { again: first, copy: structuredClone(first) }));
    expect(Object.keys(exchanges)).toEqual(["x1", "x2"]);
    expect(probes.map((each) => ("evidence" in each ? each.evidence : null))).toEqual([
      { $exchange: "x1" },
      { again: { $exchange: "x1" }, copy: { $exchange: "x1" } },
    ]);
  });

  it("keeps an exchange that only the evidence names", () => {
    const third = sampleExchange("x3");
    const unpacked = fromEvidenceFile(toEvidenceFile(of(third)));
    expect(unpacked.exchanges).toEqual([first, second, third]);
    expect(unpacked.probes).toEqual([ran(third)]);
  });

  it("holds a delivery once, and names it", () => {
    const { deliveries, probes } = toEvidenceFile(of(delivery, [structuredClone(delivery), sampleDelivery("d2")]));
    expect(Object.keys(deliveries)).toEqual(["d1", "d2"]);
    expect(probes.map((each) => ("evidence" in each ? each.evidence : null))).toEqual([
      { $delivery: "d1" },
      [{ $delivery: "d1" }, { $delivery: "d2" }],
    ]);
  });

  it("can be read from a version without a receiver", () => {
    const text = serializeEvidence({ exchanges: [first], deliveries: [], probes: [ran(first)] });
    const older = text.replace(/"deliveries": \{\s*\},\n/, "");
    expect(older).not.toContain("deliveries");
    expect(readEvidence(older, "evidence.json")).toEqual({ exchanges: [first], deliveries: [], probes: [ran(first)] });
  });

  it("keeps why a probe was skipped, and how the harness failed", () => {
    const probes = [
      { probe: "a", instance: "free", result: { kind: "skipped", reason: "no such agent", needs: "agents.slow" } },
      { probe: "b", instance: null, result: { kind: "skipped", reason: "interrupted", needs: null } },
      { probe: "c", instance: null, result: { kind: "broken", error: "TypeError" } },
    ] as const;
    const kept = { exchanges: [], deliveries: [], probes };
    expect(readEvidence(serializeEvidence(kept), "evidence.json")).toEqual(kept);
  });

  it.each([
    { text: "{", says: /^e\.json is not JSON: / },
    { text: "[]", says: /^e\.json: the file: / },
    { text: serializeEvidence(of()).replace("evidence/1", "evidence/9"), says: /^e\.json: format: / },
    {
      text: serializeEvidence(of()).replace('"method":"GET"', '"method":1'),
      says: /^e\.json: exchanges\.x2\.request\.method: /,
    },
    {
      text: serializeEvidence(of(first)).replace('{"$exchange":"x1"}', '{"$exchange":"x7"}'),
      says: /the exchange "x7", which it does not hold/,
    },
    {
      text: serializeEvidence(of(delivery)).replace('{"$delivery":"d1"}', '{"$delivery":"d7"}'),
      says: /the delivery "d7", which it does not hold/,
    },
    {
      text: serializeEvidence(of()).replace('"attempt":1', '"attempt":0'),
      says: /^e\.json: deliveries\.d1\.attempt: /,
    },
  ])("is refused with the place of the error: $says", ({ text, says }) => {
    expect(() => readEvidence(text, "e.json")).toThrow(UnreadableFile);
    expect(() => readEvidence(text, "e.json")).toThrow(says);
  });
});

describe("report.json", () => {
  const report = sampleReport([sampleFinding({ outcome: "fail", expected: "a", actual: "b", evidence: ["x1"] })], {
    stopped: "interrupted",
  });

  it("keeps the report", () => {
    expect(readReport(serializeReport(report), "report.json")).toEqual(report);
  });

  it("can be read from a version that created nothing on a target", () => {
    const { created, ...older } = report;
    expect(readReport(JSON.stringify(older), "report.json")).toEqual({ ...older, created });
  });

  it.each([
    ["Load: burst", "pro, k6", { scenario: "burst", tier: "pro", engine: "k6" }],
    ["Limits", "pro, k6", undefined],
    ["Load: burst", "pro", undefined],
    ["Load: burst", undefined, undefined],
    ["Load: burst", "pro, k6, autocannon", undefined],
  ])("says of a row of load of an older version what load it was: %s, %s", (suite, instance, load) => {
    const place = instance === undefined ? { suite } : { suite, instance };
    const older = sampleReport([sampleFinding(place)], { load: { runs: [] } });
    expect(readReport(serializeReport(older), "report.json").findings[0]?.load).toEqual(load);
  });

  it("keeps the load trial of a finding, and adds none to findings of a run", () => {
    const load = { scenario: "far-over", tier: "free", engine: "k6" };
    const row = sampleFinding({ suite: "Load: burst", instance: "pro, k6", load });
    expect(readReport(serializeReport(sampleReport([row], { load: { runs: [] } })), "report.json").findings).toEqual([
      row,
    ]);
    const ofRun = sampleReport([sampleFinding({ suite: "Load: burst", instance: "pro, k6" })]);
    expect(readReport(serializeReport(ofRun), "report.json")).toEqual(ofRun);
  });

  it("is refused with the place of the error", () => {
    const text = serializeReport(report).replace('"fail",', '"failed",');
    expect(() => readReport(text, "report.json")).toThrow(/^report\.json: findings\.0\.outcome: /);
  });
});
