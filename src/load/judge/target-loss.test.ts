import { describe, expect, it } from "vitest";

import type { LoadEvidence, LoadSample } from "../../evidence/load-evidence.ts";
import { scenarioNamed } from "../scenarios.ts";
import { publishedTiers } from "../../spec/tiers.ts";
import { sampleOfResponse } from "../load-sample.ts";
import { countBySecond } from "../second-counts.ts";
import { noRateLimitInfo } from "../../rules/limits/rate-limit-info.ts";
import { evidenceOf, sample } from "../testing/samples.ts";
import { targetLossIn } from "./target-loss.ts";
import { judgeLoad } from "./judge.ts";
import { validityOf } from "./validity.ts";

const scenario = scenarioNamed("minute-limit");
if (scenario === undefined) throw new Error("no scenario minute-limit");
const flows = [...scenario.flows(publishedTiers.free)];
const [flow] = flows;
if (flow === undefined) throw new Error("the scenario has no flow");

const at = (ms: number, other: Partial<LoadSample> = {}): LoadSample =>
  sample({ flow: flow.name, sentMs: ms, headMs: ms + 5, endMs: ms + 6, ...other });
const admitted = (count: number, fromMs = 1000): LoadSample[] =>
  Array.from({ length: count }, (_, index) => at(fromMs + index * 10, { remaining: 9 - index }));
const unanswered = { ...noRateLimitInfo, status: null, flaws: null, tokens: null, date: null } as const;
const page: Partial<LoadSample> = {
  ...noRateLimitInfo,
  status: 503,
  tokens: null,
  flaws: [{ clause: "SVC-1", expected: "a JSON body", actual: "503 with a body that is not JSON" }],
};
const outage = { aliveMs: 1000, failedMs: 1400, backMs: null };
const judged = (requests: readonly LoadSample[], other: Partial<LoadEvidence> = {}) => {
  const evidence = evidenceOf(requests, { flows, ...other });
  const red = judgeLoad(evidence, scenario).filter(({ kind }) => kind === "breach");
  return { red: red.map(({ clause }) => clause), validity: validityOf(evidence), loss: targetLossIn(evidence) };
};

describe("a load that lost its target", () => {
  it("leaves unproven what a gateway said for some seconds", () => {
    const { red, validity } = judged([...admitted(5), at(1200, page), at(1250, page), at(9000)]);
    expect(red).toEqual([]);
    expect(validity.counts).toMatch(/^a gateway responded in place of the target from \S+ UTC to \S+ UTC$/);
    expect(validity.invalid).toBeNull();
  });

  it("leaves unproven what a gateway said in a long run, of which only counts are kept", () => {
    const requests = [...admitted(5), at(3200, page), at(3250, page)];
    const { generator } = evidenceOf(requests);
    const { red, validity } = judged([], { summary: countBySecond(requests), generator });
    expect(red).toEqual([]);
    expect(validity.counts).toContain("a gateway responded");
  });

  it.each([502, 503, 504])("is invalid if a gateway's page with status %d is all that came", (status) => {
    const body = "<html><h1>Bad Gateway</h1></html>";
    const response = { flow: flow.name, key: "main", endpoint: "invoke", status, body, left: false } as const;
    const headers = [["content-type", "text/html"]] as const;
    const requests = Array.from({ length: 30 }, (_, index) =>
      sampleOfResponse({ ...response, headers, sentMs: 1200 + index, headMs: 1300, endMs: 1300 }),
    );
    const { generator } = evidenceOf(requests);
    for (const all of [judged(requests), judged([], { summary: countBySecond(requests), generator })]) {
      expect(all.red).toEqual([]);
      expect(all.validity.invalid).toMatch(/^a gateway responded/);
    }
  });

  it.each([
    ["with the target's headers", { ...page, limit: 10, remaining: 3, reset: 60, resetAfter: 59 }],
    ["with a status that no gateway sends", { ...page, status: 500 }],
  ])("judges a 5xx %s", (_, own) => {
    const { red, loss } = judged([...admitted(5), at(1200, own)]);
    expect(red).not.toEqual([]);
    expect(loss).toBeNull();
  });

  it("judges a 5xx that goes on among good responses for the whole load", () => {
    const requests = Array.from({ length: 600 }, (_, index) => {
      const ms = 1000 + index * 20;
      return at(ms, { ...(index % 100 === 50 ? page : {}), date: Math.floor(ms / 1000) });
    });
    const long = { summary: countBySecond(requests), generator: evidenceOf(requests).generator };
    for (const { red, loss } of [judged(requests), judged([], long)]) {
      expect(loss).toBeNull();
      expect(red).toContain("HDR-5");
    }
  });

  it("judges a 5xx of the embedded server, which has no gateway", () => {
    expect(judged([...admitted(5), at(1200, page)], { server: { rssBytes: [] } }).red).not.toEqual([]);
  });

  it("keeps what was proven before the target died", () => {
    const without = at(1100, { ...noRateLimitInfo });
    const lost = Array.from({ length: 20 }, (_, index) => at(1500 + index, unanswered));
    const { red, validity } = judged([...admitted(5), without, ...lost], { outage, stopped: "the target died" });
    expect(red).toContain("HDR-1");
    expect(validity.invalid).toBeNull();
    expect(validity.counts).toMatch(/^the target died: it has accepted no connection since/);
  });

  it("proves nothing by what followed an outage: a server that was restarted has forgotten its counts", () => {
    const away = { ...outage, backMs: 2000 };
    expect(judged([...admitted(10), ...admitted(10, 2100)]).red).not.toEqual([]);
    expect(judged([...admitted(10), at(1350, unanswered), ...admitted(10, 2100)], { outage: away }).red).toEqual([]);
  });

  it("begins the outage with the first connection that broke", () => {
    const requests = [...admitted(5), at(1300, { ...unanswered, endMs: 1310 })];
    expect(judged(requests, { outage }).loss?.atMs).toBe(1310);
    expect(judged(admitted(5), { outage }).loss?.atMs).toBe(1400);
  });

  it("takes requests in flight for ones that may have been admitted", () => {
    const refusal = at(1200, { status: 429, remaining: 0, limit: 10, tokens: null, retryAfterSeconds: 50 });
    const inFlight = Array.from({ length: 6 }, () => at(1100, { ...unanswered, endMs: 1390 }));
    expect(judged([...admitted(4), ...inFlight, refusal], { outage }).red).toEqual([]);
  });

  it("is invalid if nothing came before", () => {
    expect(judged([at(1500, unanswered)], { outage }).validity.invalid).toMatch(/^the target died/);
  });

  const unauthorized: Partial<LoadSample> = { status: 401, remaining: 9, tokens: null };
  const keyRefused = { key: "main", fromMs: 1205 };
  const revoked = [...admitted(5), at(1190, { headMs: 1230, endMs: 1231, ...unauthorized }), at(1200, unauthorized)];

  it("proves nothing by what followed the refusal of a key", () => {
    const { red, validity } = judged([...revoked, at(1300, unauthorized)], { keyRefused });
    expect(red).toEqual([]);
    expect(validity.invalid).toBeNull();
    expect(validity.counts).toMatch(/^the target refused the key `main` from \S+ UTC on, though it had accepted it$/);
  });

  it("keeps what was proven before a key was refused", () => {
    const without = at(1100, { ...noRateLimitInfo });
    expect(judged([...admitted(5), without, ...revoked.slice(5)], { keyRefused }).red).toEqual(["HDR-1"]);
  });

  it("proves nothing by the counts of a long run whose key was refused", () => {
    const requests = [...revoked, ...Array.from({ length: 9 }, (_, index) => at(2300 + index, unauthorized))];
    const { generator } = evidenceOf(requests);
    const { red, loss } = judged([], { summary: countBySecond(requests), generator, keyRefused });
    expect([red, loss?.atMs]).toEqual([[], 1205]);
  });
});
