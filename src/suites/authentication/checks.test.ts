import { describe, expect, it } from "vitest";

import type { Exchange } from "../../evidence/exchange.ts";
import { type EndpointName, publishedEndpoints } from "../../spec/endpoints.ts";
import type { KeyTrial } from "../shared/key-trials/send-trials.ts";
import type { RejectedKeyKind } from "../../spec/rejected-key-kinds.ts";
import type { AllExchanges } from "../shared/all-exchanges.ts";
import { requests } from "../requests/checks.ts";
import { exchange } from "../testing/exchange.ts";
import { judgeBy } from "../testing/judging.ts";
import { authentication } from "./checks.ts";
import type { UnauthenticatedTrials } from "./unauthenticated-probe.ts";

const asked = ["invoke", "stream", "health", "list", "usage", "webhooks", "keyUsage"] as const;

const answer = (
  endpoint: (typeof asked)[number],
  status: number,
  code = "INVALID_API_KEY",
  key: string | null = null,
): Exchange =>
  exchange({
    method: publishedEndpoints[endpoint].method,
    path: publishedEndpoints[endpoint].path.replace("{agent_id}", "echo"),
    key,
    status,
    json: status < 300 ? {} : { error: { code, message: "no", status } },
  });

/** What a kind of key got everywhere, but for what is said of some endpoints. */
const cells = (
  kind: RejectedKeyKind,
  status: number,
  but: Partial<Record<EndpointName, number>> = {},
  code?: string,
): KeyTrial[] =>
  asked.map((endpoint) => ({ kind, endpoint, exchange: answer(endpoint, but[endpoint] ?? status, code) }));

const all: AllExchanges = { validKeys: ["main"], exchanges: asked.map((each) => answer(each, 200, "", "main")) };
const without = (...endpoints: readonly EndpointName[]): AllExchanges => ({
  ...all,
  exchanges: asked.filter((each) => !endpoints.includes(each)).map((each) => answer(each, 200, "", "main")),
});

const kinds = [
  "no key",
  "a wrong key",
  "a key with another last character",
  "a key that is lengthened",
  "a key under another scheme",
] as const satisfies readonly RejectedKeyKind[];

/** Strangers that get 401 everywhere, but for the cells of the kinds that are given. */
const strangersWith = (...changed: readonly KeyTrial[]): UnauthenticatedTrials => ({
  cells: kinds.flatMap((kind) => {
    const own = changed.filter((cell) => cell.kind === kind);
    return own.length > 0 ? own : cells(kind, 401);
  }),
  lowerCase: answer("health", 200),
  allWrong: answer("invoke", 401),
  keyAndBodyWrong: answer("invoke", 401),
  keyAndBodyMissing: [answer("webhooks", 401)],
});

const judge = (id: string, changed: readonly KeyTrial[] = [], record: AllExchanges = all) =>
  judgeBy(authentication, id, { strangers: strangersWith(...changed), all: record });

describe("requests without a valid key", () => {
  it.each(["AUTH-2", "AUTH-3", "AUTH-5", "AUTH-6", "AUTH-8/wrong", "AUTH-8/missing"])(
    "%s holds where 401 comes everywhere, and is unproven where no valid key was let in",
    (id) => {
      expect(judge(id).kind).toBe("holds");
      expect(judge(id, [], { ...all, exchanges: [] }).kind).toBe("unproven");
    },
  );

  it.each<[string, string, readonly KeyTrial[], string]>([
    ["AUTH-2", "a missing key is let in", cells("no key", 200), "breach"],
    ["AUTH-2", "a missing key gets 403", cells("no key", 403), "breach"],
    ["AUTH-2", "only usage lets it in", cells("no key", 401, { usage: 200 }), "holds"],
    ["AUTH-8/missing", "only usage lets it in", cells("no key", 401, { usage: 200 }), "breach"],
    ["AUTH-8/missing", "it is let in everywhere", cells("no key", 200), "unproven"],
    ["AUTH-3", "a wrong key is let in", cells("a wrong key", 200), "breach"],
    ["AUTH-3", "a wrong key has another code", cells("a wrong key", 401, {}, "UNAUTHORIZED"), "breach"],
    ["AUTH-8/wrong", "a wrong key has another code", cells("a wrong key", 401, {}, "UNAUTHORIZED"), "holds"],
    ["AUTH-3", "the address is limited", cells("a wrong key", 429, {}, "RATE_LIMITED"), "unproven"],
    ["AUTH-3", "the address is limited in the end", cells("a wrong key", 401, { keyUsage: 429 }), "holds"],
    ["AUTH-8/wrong", "one endpoint was limited", cells("a wrong key", 401, { usage: 429 }), "unproven"],
    ["AUTH-8/wrong", "the list lets it in", cells("a wrong key", 401, { list: 200 }), "breach"],
    ["AUTH-8/wrong", "the list answers 404", cells("a wrong key", 401, { list: 404 }), "breach"],
    ["AUTH-8/wrong", "webhooks answer 403", cells("a wrong key", 401, { webhooks: 403 }), "breach"],
    [
      "AUTH-5",
      "the end of a key matters not",
      cells("a key with another last character", 401, { list: 200 }),
      "breach",
    ],
    ["AUTH-5", "a longer key is let in", cells("a key that is lengthened", 401, { usage: 200 }), "breach"],
    ["AUTH-6", "another scheme is let in", cells("a key under another scheme", 401, { health: 200 }), "breach"],
    ["AUTH-6", "another scheme gets 400", cells("a key under another scheme", 400), "holds"],
  ])("%s where %s", (id, _case, changed, kind) => {
    expect(judge(id, changed).kind).toBe(kind);
  });

  it("are judged by wrong keys where those are let in, and on endpoints that let a valid key in", () => {
    const open = [...cells("a wrong key", 200), ...cells("a key with another last character", 200)];
    expect(judge("AUTH-5", open).kind).toBe("unproven");
    const missing = cells("no key", 401, { webhooks: 404 });
    expect(judge("AUTH-8/missing", missing, without("webhooks")).kind).toBe("unproven");
  });

  it("names all broken cells in one breach", () => {
    expect(judge("AUTH-8/wrong", cells("a wrong key", 401, { list: 200, usage: 403 }))).toMatchObject({
      actual: "on 2 of 7 requests: a wrong key on list (200), usage (403 INVALID_API_KEY)",
    });
  });

  it.each<[string, Partial<UnauthenticatedTrials>, string]>([
    ["401", {}, "follows"],
    ["404", { allWrong: answer("invoke", 404) }, "follows"],
    ["401, and 400 for a known agent", { keyAndBodyWrong: answer("invoke", 400) }, "breach"],
    ["401, with no agent known", { keyAndBodyWrong: null }, "follows"],
    ["400", { allWrong: answer("invoke", 400) }, "breach"],
    ["429", { allWrong: answer("invoke", 429) }, "unproven"],
    [
      "403, as any wrong key",
      { ...strangersWith(...cells("a wrong key", 403)), allWrong: answer("invoke", 403) },
      "unproven",
    ],
  ])("AUTH-16 where every mistake at once gets %s", (_case, changed, kind) => {
    expect(judgeBy(authentication, "AUTH-16", { ...strangersWith(), ...changed }).kind).toBe(kind);
  });

  it("observes the code of a missing key and the letter case of the scheme", () => {
    const otherCode = strangersWith(...cells("no key", 401, {}, "NO_KEY"));
    expect(judgeBy(authentication, "AUTH-9", otherCode)).toMatchObject({ text: 'a missing key has the code "NO_KEY"' });
    expect(judgeBy(authentication, "AUTH-7", strangersWith())).toMatchObject({ text: "`bearer` is accepted" });
    expect(judgeBy(authentication, "AUTH-7", strangersWith(...cells("a wrong key", 200))).kind).toBe("unproven");
  });

  it.each<[string, readonly KeyTrial[], string]>([
    ["none needs none", [], "holds"],
    ["one needs none", cells("no key", 401, { health: 200 }), "breach"],
    ["webhooks need none", cells("no key", 401, { webhooks: 201 }), "breach"],
    ["all refuse with 403", cells("no key", 403), "holds"],
    ["one was limited", cells("no key", 401, { health: 429 }), "unproven"],
  ])("REQ-2 where of all endpoints %s", (_case, changed, kind) => {
    expect(judgeBy(requests, "REQ-2", { strangers: strangersWith(...changed), all }).kind).toBe(kind);
  });
});

describe("requests with a key", () => {
  const everyKeyUsed = { answers: [answer("health", 200, "", "main")] };
  it.each<[string, AllExchanges, readonly Exchange[], string]>([
    ["is let in", all, everyKeyUsed.answers, "holds"],
    ["meets 401", { ...all, exchanges: [...all.exchanges, answer("usage", 401, "", "main")] }, [], "breach"],
    ["meets 403 on health", all, [answer("health", 403, "", "other")], "breach"],
    ["is not of general use", { ...all, exchanges: [...all.exchanges, answer("usage", 401, "", "old")] }, [], "holds"],
    ["never succeeded", { ...all, exchanges: [answer("usage", 500, "", "main")] }, [], "unproven"],
  ])("AUTH-1 where it %s", (_case, record, answers, kind) => {
    expect(judgeBy(authentication, "AUTH-1", { all: record, everyKeyUsed: { answers } }).kind).toBe(kind);
  });

  const expired = (status: number, but: Partial<Record<EndpointName, number>> = {}, code = "EXPIRED_API_KEY") =>
    cells("an expired key", status, but, code);
  const htmlCell = { kind: "an expired key", endpoint: "usage", exchange: exchange({ status: 401, text: "<html>" }) };
  it.each<[string, readonly object[], readonly KeyTrial[], string]>([
    ["401 EXPIRED_API_KEY", expired(401), [], "holds"],
    ["401 INVALID_API_KEY", expired(401, {}, "INVALID_API_KEY"), [], "breach"],
    ["200", expired(200), [], "breach"],
    ["200 on key usage alone", expired(401, { keyUsage: 200 }), [], "breach"],
    [
      "200 on health, where any key does",
      expired(401, { health: 200 }),
      cells("a wrong key", 401, { health: 200 }),
      "holds",
    ],
    ["429", expired(429), [], "unproven"],
    ["429 on one endpoint", expired(401, { list: 429 }), [], "holds"],
    ["401 in HTML", [htmlCell], [], "unproven"],
  ])("AUTH-4 where an expired key meets %s", (_case, tried, changed, kind) => {
    const evidence = { expired: { cells: tried }, strangers: strangersWith(...changed), all };
    expect(judgeBy(authentication, "AUTH-4", evidence).kind).toBe(kind);
  });
});
