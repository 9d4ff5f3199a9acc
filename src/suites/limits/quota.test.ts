import { describe, expect, it } from "vitest";

import type { Exchange } from "../../evidence/exchange.ts";
import { suite } from "../../run/judge/check.ts";
import type { BatchBeyondQuota } from "./beyond-quota.ts";
import { quotaChecks, type QuotaEvidence } from "./quota.ts";
import { delivery, event, exchange, streamed } from "../testing/evidence.ts";
import { judged, judgeBy } from "../testing/judged.ts";

const limits = suite("Limits", quotaChecks);
const ok = exchange();
const refusal = (status: number, remaining: number, seconds = 60): Exchange =>
  exchange({
    status,
    headers: [["X-RateLimit-Remaining", String(remaining)]],
    json: { error: { code: "QUOTA", message: "no", status, retry_after: seconds } },
  });

const used = (turns: readonly (readonly [number, Exchange])[], quota: number | null = 100): QuotaEvidence => ({
  quota,
  readings: [],
  turns: turns.map(([usedBefore, each]) => ({ usedBefore, exchange: each })),
});

describe("the month's tokens", () => {
  it.each<[string, QuotaEvidence, string]>([
    [
      "a turn is refused once they are used",
      used([
        [98, ok],
        [104, refusal(429, 5)],
      ]),
      "holds",
    ],
    ["a turn is refused a little early, with room for requests", used([[98, refusal(403, 5)]]), "holds"],
    [
      "a turn is answered once they are used",
      used([
        [98, ok],
        [100, ok],
      ]),
      "breach",
    ],
    [
      "the turn that goes beyond is answered",
      used([
        [98, ok],
        [104, refusal(402, 0)],
      ]),
      "holds",
    ],
    [
      "they are not used up",
      used([
        [10, ok],
        [20, ok],
      ]),
      "unproven",
    ],
    ["the rate refuses first", used([[98, refusal(429, 0)]]), "unproven"],
    ["the agent fails", used([[98, exchange({ status: 404 })]]), "unproven"],
    ["nobody knows how many there are", used([], null), "unproven"],
  ])("%s", (_, evidence, expected) => {
    expect(judged(limits, "LIM-19", evidence)).toBe(expected);
  });

  it("shows what a request beyond them gets", () => {
    expect(judgeBy(limits, "LIM-20", used([[104, refusal(429, 5)]]))).toMatchObject({
      text: "429 QUOTA, `retry_after` 60 s",
    });
    expect(judgeBy(limits, "LIM-20", used([[104, ok]]))).toMatchObject({ text: "the request succeeds" });
    expect(judged(limits, "LIM-20", used([[4, ok]]))).toBe("unproven");
  });
});

describe("streams once the month's tokens are used", () => {
  const refused = refusal(429, 5);
  const done = streamed([event("start", { message: "on" }), event("done", { usage: { total_tokens: 7 } })]);
  const free = streamed([event("start", { message: "on" }), event("done", { usage: { total_tokens: 0 } })]);
  const failed = streamed([event("start", { message: "on" }), event("error", { error: "no", code: "QUOTA" })]);
  const after = (streams: readonly (readonly [number, Exchange])[], control = refused): QuotaEvidence => ({
    ...used([[104, refused]]),
    streamed: { streams: streams.map(([usedBefore, each]) => ({ usedBefore, exchange: each })), control },
  });

  it.each<[string, QuotaEvidence, string]>([
    ["are refused", after([[104, refused]]), "holds"],
    ["are refused with 403", after([[104, refusal(403, 5)]]), "holds"],
    ["are refused, but perhaps for the rate", after([[104, refusal(429, 0)]]), "unproven"],
    ["succeed, and only the rate refuses the next invoke", after([[104, done]], refusal(429, 0)), "unproven"],
    ["succeed between two refused invokes", after([[104, done]]), "breach"],
    ["end with an error event", after([[104, failed]]), "holds"],
    ["succeed, and need no tokens", after([[104, free]]), "unproven"],
    [
      "succeed as long as tokens are left",
      after([
        [98, done],
        [105, refused],
      ]),
      "holds",
    ],
    [
      "succeed with tokens left, and again without",
      after([
        [98, done],
        [105, done],
      ]),
      "breach",
    ],
    ["succeed with tokens left, and usage does not grow", after([[98, done]]), "unproven"],
    ["succeed, as the next invoke does", after([[104, done]], ok), "unproven"],
    ["have no agent", after([[104, exchange({ status: 404 })]]), "unproven"],
    ["were not sent", used([[104, refused]]), "unproven"],
  ])("%s", (_, evidence, expected) => {
    expect(judged(limits, "LIM-19/streams", evidence)).toBe(expected);
  });
});

describe("`retry_after` of a refusal for the month's tokens", () => {
  const refused = refusal(429, 5);
  const later = (seconds: number, change: Exchange = refused): QuotaEvidence => ({
    ...used([[104, refused]]),
    streamed: { streams: [], control: { ...change, clockMs: refused.clockMs + seconds * 1000 } },
  });

  it.each<[string, QuotaEvidence, string]>([
    ["is too short", later(70), "breach"],
    ["has not passed", later(50), "inapplicable"],
    ["is followed by a refusal for the rate", later(70, refusal(429, 0)), "inapplicable"],
    ["is followed by a success", later(70, ok), "inapplicable"],
    ["is followed by nothing", used([[104, refused]]), "inapplicable"],
  ])("%s", (_, evidence, expected) => {
    expect(judged(limits, "LIM-13/tokens", evidence)).toBe(expected);
  });
});

describe("a batch once the month's tokens are used", () => {
  const refused = refusal(429, 5);
  const usage = (tokens: number): Exchange => exchange({ method: "GET", json: { tokens: { used: tokens } } });
  const accepted = exchange({ status: 201, json: { operation_id: "op_1", status: "pending" } });
  const completed = (tokens: number) => [delivery({ event: { data: { tokens_used: tokens } } })];
  const after = (submitted: Exchange, change: Partial<BatchBeyondQuota> = {}): QuotaEvidence => ({
    ...used([[104, refused]]),
    readings: [usage(104)],
    batched: { before: usage(104), submitted, after: usage(104), completed: [], control: refused, ...change },
  });

  /** The key's invokes until the refusal: `usage` showed 98 tokens, and one invoke reported 6 more. */
  const invoked: Pick<QuotaEvidence, "readings" | "turns"> = {
    readings: [usage(98)],
    turns: [
      { usedBefore: 98, exchange: exchange({ json: { usage: { total_tokens: 6 } } }) },
      { usedBefore: 104, exchange: refused },
    ],
  };

  it.each<[string, QuotaEvidence, string]>([
    ["is refused", after(refused), "holds"],
    ["is refused with 403, and nothing left", after(refusal(403, 0)), "holds"],
    ["is refused until the next month, with nothing left", after(refusal(429, 0, 86_400)), "holds"],
    ["is refused, but perhaps for the rate", after(refusal(429, 0)), "unproven"],
    [
      "is accepted and runs, and only the rate refuses the next invoke",
      after(accepted, { after: usage(111), control: refusal(429, 0) }),
      "unproven",
    ],
    ["is accepted and runs", after(accepted, { after: usage(111) }), "breach"],
    ["is accepted and runs, but usage stops at the limit", after(accepted, { completed: completed(7) }), "breach"],
    ["is accepted, and completes without tokens", after(accepted, { completed: completed(0) }), "holds"],
    ["is accepted, and its entries fail", after(accepted), "holds"],
    [
      "is accepted, and usage shows the tokens of earlier invokes only now",
      { ...after(accepted, { before: usage(98) }), ...invoked },
      "unproven",
    ],
    [
      "is accepted, and usage grows by more than earlier invokes reported",
      { ...after(accepted, { before: usage(98), after: usage(111) }), ...invoked },
      "breach",
    ],
    ["is accepted, as the next invoke is", after(accepted, { after: usage(111), control: ok }), "unproven"],
    ["is not known", after(exchange({ status: 404 })), "unproven"],
    ["is accepted, but usage is not readable", after(accepted, { after: exchange({ status: 500 }) }), "unproven"],
    ["has no path", { ...used([[104, refused]]), batched: null }, "inapplicable"],
    ["was not submitted", used([[104, refused]]), "unproven"],
  ])("%s", (_, evidence, expected) => {
    expect(judged(limits, "LIM-19/batches", evidence)).toBe(expected);
  });

  it("is judged apart from the start of an operation", () => {
    const evidence = { ...used([[104, refused]]), batched: null, started: null };
    expect(judged(limits, "LIM-19/operations", evidence)).toBe("inapplicable");
  });
});
