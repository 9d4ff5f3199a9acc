import { describe, expect, it } from "vitest";

import type { Exchange, Header } from "../../evidence/exchange.ts";
import type { Sample } from "../../rules/limits/sample.ts";
import { suite } from "../../run/judge/check.ts";
import { publishedTiers, type TierLimits } from "../../spec/tiers.ts";
import { checkForm, headers } from "./checks.ts";
import { exchange, sample, streamed } from "../testing/evidence.ts";
import { judgeBy, judged } from "../testing/judged.ts";

const four: readonly Header[] = [
  ["x-ratelimit-limit", "10"],
  ["X-RATELIMIT-REMAINING", "9"],
  ["X-RateLimit-Reset", "1800000060"],
  ["X-RateLimit-Reset-After", "60"],
];
const all = (...exchanges: readonly Exchange[]) => ({ exchanges, validKeys: ["main"] });
const three = four.slice(1);

describe("the four headers", () => {
  it.each([
    ["HDR-1", { status: 200 }],
    ["HDR-2", { status: 400 }],
    ["HDR-3", { status: 401 }],
    ["HDR-4", { status: 429 }],
    ["HDR-5", { status: 500 }],
    ["HDR-7", { status: 200, method: "GET", path: "/agents/echo/health" }],
    ["HDR-8", { status: 404, method: "GET", path: "/no-such-path" }],
  ] as const)("%s: on each, missing on one, none seen", (id, made) => {
    const seen = (...found: readonly Exchange[]): unknown =>
      id === "HDR-5" || id === "HDR-8" ? { all: all(...found), asked: null } : all(...found);
    expect(judged(headers, id, seen(exchange({ ...made, headers: four })))).toBe("holds");
    expect(judged(headers, id, seen(exchange({ ...made, headers: three })))).toBe("breach");
    expect(judged(headers, id, seen())).toBe("unproven");
  });

  it("are on a stream", () => {
    expect(judged(headers, "HDR-6", all(streamed([], { headers: four })))).toBe("holds");
    expect(judged(headers, "HDR-6", all(streamed([], { headers: three })))).toBe("breach");
  });

  it.each([
    ["60", "holds"],
    ["60.0", "holds"],
    ["60.5", "holds"],
    ["-1", "breach"],
    ["soon", "breach"],
  ])("HDR-9: Reset-After %s", (value, kind) => {
    const odd = exchange({ headers: [...four.slice(0, 3), ["X-RateLimit-Reset-After", value]] });
    expect(judged(headers, "HDR-9", all(odd))).toBe(kind);
  });
});

it.each([
  ["9.5", "breach"],
  ["9.0", "holds"],
])("HDR-9: Remaining %s", (value, kind) => {
  const odd = exchange({
    headers: [...four.filter(([name]) => !/remaining/i.test(name)), ["X-RateLimit-Remaining", value]],
  });
  expect(judged(headers, "HDR-9", all(odd))).toBe(kind);
});

it.each([
  ["no header at all", [], "unproven"],
  ["three of them", three, "unproven"],
  ["three of them, one malformed", [["X-RateLimit-Reset-After", "soon"], ...three.slice(0, 2)], "breach"],
] as const)("HDR-9: a server that sends %s", (_, sent, kind) => {
  expect(judged(headers, "HDR-9", all(exchange({ headers: sent }), exchange({ headers: sent })))).toBe(kind);
});

it.each([
  ["is on no response", four[0], { kind: "unproven", reason: "no response has X-RateLimit-Reset-After" }],
  ["is well-formed", four[3], { kind: "holds" }],
  ["is malformed", ["X-RateLimit-Reset-After", "soon"], { kind: "breach" }],
] as const)("the form of a clause with one header, which %s", (_, sent = ["", ""], finding) => {
  const one = suite("One header", [checkForm("HDR-9", ["resetAfter"])]);
  expect(judgeBy(one, "HDR-9", { all: all(exchange({ headers: [sent] })) })).toMatchObject(finding);
});

it("HDR-9 holds if each header is on some response", () => {
  const evidence = all(
    exchange({ headers: three }),
    exchange({ headers: four.slice(0, 1) }),
    exchange({ headers: [] }),
  );
  expect(judged(headers, "HDR-9", evidence)).toBe("holds");
});

/** An invoke whose response has this `Remaining`, with a limit of 100. */
const left = (remaining: number): Exchange =>
  exchange({
    headers: [
      ["X-RateLimit-Limit", "100"],
      ["X-RateLimit-Remaining", String(remaining)],
      ["X-RateLimit-Reset", "1800000060"],
    ],
  });
const round = (before: number, atOnce: readonly number[], after: number, mayReturn = 0) => ({
  before: left(before),
  atOnce: atOnce.map(left),
  after: left(after),
  mayReturn,
});

it.each([
  ["each its own value", round(90, [89, 88, 87, 86, 85, 84], 83), "holds"],
  ["values read when all were counted", round(90, [84, 84, 84, 84, 84, 84], 83), "holds"],
  ["values read before others were counted", round(90, [89, 89, 89, 89, 89, 89], 83), "holds"],
  ["one count lost, as by a refill", round(90, [89, 88, 87, 86, 85, 85], 84), "holds"],
  ["most counts lost", round(90, [89, 89, 89, 89, 89, 89], 88), "breach"],
  ["no count at all, while a rolling window gave back six", round(90, [89, 89, 89, 89, 89, 89], 89, 6), "unproven"],
  ["most counts lost, where a rolling window gave back one", round(90, [89, 89, 89, 89, 89, 89], 89, 1), "breach"],
  ["each its own value, whatever a window gave back", round(90, [89, 88, 87, 86, 85, 84], 83, 6), "holds"],
  ["a value below all that can have counted", round(90, [89, 88, 87, 86, 85, 80], 83), "breach"],
  ["more counted than was sent", round(90, [89, 88, 87, 86, 85, 84], 80), "breach"],
])("HDR-13 with %s", (_case, each, kind) => {
  expect(judged(headers, "HDR-13", { rounds: [each] })).toBe(kind);
});

const at = 1_800_000_000;
const withSamples = (samples: readonly Sample[], hasClock = false, limits: TierLimits = publishedTiers.free) => ({
  all: all(),
  samples: {
    keys: [{ key: "main", limits, isFresh: true, samples }],
    keylessMs: [],
    hasClock,
    startedUnixMs: at * 1000,
  },
});
const plain = { limit: 10, remaining: 9, reset: at + 60, resetAfter: 60, date: at, sentMs: 0 } as const;
const ofTeam = (...shown: readonly number[]) =>
  withSamples(
    shown.map((limit) => sample({ ...plain, limit })),
    false,
    publishedTiers.team,
  );
const afterReset = (seconds: number, reset: number): Sample =>
  sample({ ...plain, date: null, reset, resetAfter: 30, sentClockMs: seconds * 1000, headClockMs: seconds * 1000 });

describe("their values", () => {
  it.each<[id: string, name: string, evidence: unknown, kind: string]>([
    ["HDR-10", "of the minute", withSamples([sample(plain)]), "minute"],
    ["HDR-10", "of the hour", withSamples([sample({ ...plain, limit: 100 })]), "hour"],
    ["HDR-10", "of either", withSamples([sample(plain), sample({ ...plain, limit: 100 })]), "tighter"],
    ["HDR-10", "of no tier", withSamples([sample({ ...plain, limit: 11 })]), "breach"],
    ["HDR-10", "with Team's burst", ofTeam(800, 5000, 800), "tighter"],
    ["HDR-10", "of two bursts of Team", ofTeam(800, 817), "breach"],
    ["HDR-10", "of Team, below its minute", ofTeam(499), "breach"],
    ["HDR-11", "within the limit", withSamples([sample(plain)]), "holds"],
    ["HDR-11", "above the limit", withSamples([sample({ ...plain, remaining: 11 })]), "breach"],
    ["HDR-16", "beyond the window", withSamples([sample({ ...plain, resetAfter: 121 })]), "breach"],
    [
      "HDR-16",
      "beyond the window, while the clock was moved",
      withSamples([sample({ ...plain, resetAfter: 121, headClockMs: 61_000 })]),
      "unproven",
    ],
    [
      "HDR-14",
      "before and after the clock was moved",
      withSamples([sample({ ...plain, reset: at + 121, resetAfter: 1, headClockMs: 61_000 })]),
      "unproven",
    ],
    [
      "HDR-16",
      "in milliseconds, while the clock was moved",
      withSamples([sample({ ...plain, resetAfter: 60_000, headClockMs: 61_000 })]),
      "breach",
    ],
    [
      "HDR-14",
      "in milliseconds, while the clock was moved",
      withSamples([sample({ ...plain, reset: (at + 60) * 1000, headClockMs: 61_000 })]),
      "breach",
    ],
    ["HDR-14", "by `Date`", withSamples([sample(plain)]), "holds"],
    ["HDR-14", "milliseconds", withSamples([sample({ ...plain, reset: (at + 60) * 1000 })]), "breach"],
    ["HDR-14", "ten seconds off", withSamples([sample({ ...plain, reset: at + 70 })]), "breach"],
    ["HDR-14", "a `Date` that lags by 30 s", withSamples([sample({ ...plain, date: at - 30 })]), "holds"],
    [
      "HDR-14",
      "a moved clock without `Date`",
      withSamples([afterReset(0, at + 30), afterReset(60, at + 90)], true),
      "holds",
    ],
    [
      "HDR-14",
      "one that stays where it is",
      withSamples([afterReset(0, at + 30), afterReset(60, at + 30)], true),
      "breach",
    ],
    ["HDR-11/403", "above the limit", withSamples([sample({ ...plain, status: 403, remaining: 11 })]), "breach"],
    ["HDR-14/403", "by `Date`", withSamples([sample({ ...plain, status: 403 })]), "holds"],
    ["HDR-14/403", "milliseconds", withSamples([sample({ ...plain, status: 403, reset: (at + 60) * 1000 })]), "breach"],
    ["HDR-14/403", "no 403", withSamples([sample({ ...plain, status: 401 })]), "inapplicable"],
    [
      "HDR-16/403",
      "an hour for a minute",
      withSamples([sample({ ...plain, status: 403, resetAfter: 3600 })]),
      "breach",
    ],
    [
      "HDR-16/403",
      "of the month, for tokens of a number that is not known",
      withSamples([sample({ ...plain, status: 403, limit: 40_000, remaining: 0, resetAfter: 900_000 })], false, {
        ...publishedTiers.free,
        tokensPerMonth: null,
      }),
      "holds",
    ],
    ["HDR-16", "within the minute", withSamples([sample(plain)]), "holds"],
    ["HDR-16", "an hour for a minute", withSamples([sample({ ...plain, resetAfter: 3600 })]), "breach"],
  ])("%s, %s", (id, _, evidence, kind) => {
    expect(judged(headers, id, evidence)).toBe(kind);
  });

  /** Invokes 300 ms apart, each with its `Remaining`. */
  const inTurn = (fromMs: number, ...told: readonly number[]): Sample[] =>
    told.map((remaining, place) => sample({ ...plain, reset: at + 61, sentMs: fromMs + place * 300, remaining }));

  it.each([
    ["falls by too little", [], "breach"],
    ["falls by too little, as what was sent a minute before leaves a rolling window", [9, 8, 7, 6, 5], "holds"],
  ])("HDR-12: `Remaining` %s", (_, earlier, kind) => {
    const samples = [...inTurn(0, ...earlier), ...inTurn(60_000, 3, 3, 2, 2, 2, 2)];
    expect(judged(headers, "HDR-12", withSamples(samples).samples)).toBe(kind);
  });

  const dateAfter = (seconds: "00" | "20" | "40"): string => `Sun, 29 Nov 2026 09:00:${seconds} GMT`;
  const [atDate, twentyLater, fortyLater] = [dateAfter("00"), dateAfter("20"), dateAfter("40")];
  it.each<[string | null, string | null, string, number?]>([
    [null, null, "absent"],
    ["40", null, "present"],
    ["41", null, "present"],
    ["40.0", null, "present"],
    ["60", null, "breach"],
    ["soon", null, "breach"],
    ["", null, "breach"],
    ["PT40S", atDate, "breach"],
    [fortyLater, atDate, "present"],
    [fortyLater, twentyLater, "unproven"],
    [fortyLater, twentyLater, "present", 0],
    [fortyLater, atDate, "present", 20],
    [fortyLater, twentyLater, "breach", 20],
    [fortyLater, null, "present", 0],
    [fortyLater, null, "breach", 20],
    [fortyLater, null, "unproven"],
  ])("HDR-18: Retry-After %s beside 40 in the body, the `Date` %s: %s, %s", (value, date, kind, byReset) => {
    const retry: readonly Header[] = value === null ? [] : [["Retry-After", value]];
    const dated: readonly Header[] = date === null ? [] : [["Date", date]];
    const reset: readonly Header[] =
      byReset === undefined
        ? []
        : [
            ["X-RateLimit-Reset", String(Date.parse(atDate) / 1000 + byReset + 60)],
            ["X-RateLimit-Reset-After", "60"],
          ];
    const sent = [...retry, ...dated, ...reset];
    const refusal = exchange({ status: 429, headers: sent, json: { error: { retry_after: 40 } } });
    expect(judged(headers, "HDR-18", all(refusal))).toBe(kind);
  });
});
