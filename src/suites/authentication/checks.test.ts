import { describe, expect, it } from "vitest";

import type { Exchange } from "../../evidence/exchange.ts";
import { authentication } from "./checks.ts";
import { endpoints, type Endpoint, type Everything } from "../answers/recorded.ts";
import { requests } from "../requests/checks.ts";
import { type AskedByEndpoint, type Strangers, strangersKey, withOtherEnd } from "./strangers.ts";
import { judgeBy } from "../testing/judging.ts";
import { exchange } from "../testing/exchange.ts";

const paths: Readonly<Record<Endpoint, { readonly method: string; readonly path: string }>> = {
  invoke: { method: "POST", path: "/agents/echo/invoke" },
  stream: { method: "POST", path: "/agents/echo/stream" },
  health: { method: "GET", path: "/agents/echo/health" },
  list: { method: "GET", path: "/agents?page=1&limit=2" },
  usage: { method: "GET", path: "/usage" },
};

const answer = (endpoint: Endpoint, status: number, code = "INVALID_API_KEY", key: string | null = null): Exchange =>
  exchange({
    ...paths[endpoint],
    key,
    status,
    json: status === 200 ? {} : { error: { code, message: "no", status } },
  });

const asked = (status: number, code?: string): AskedByEndpoint =>
  Object.fromEntries(endpoints.map((endpoint) => [endpoint, answer(endpoint, status, code)]));

const all: Everything = {
  validKeys: ["main"],
  exchanges: endpoints.map((endpoint) => answer(endpoint, 200, "", "main")),
};

const strangers: Strangers = {
  missing: asked(401),
  wrong: asked(401),
  lastCharacter: asked(401),
  otherScheme: asked(401),
  lowerCase: answer("health", 200),
  allWrong: answer("invoke", 401),
  keyAndBodyWrong: answer("invoke", 401),
};

const judge = (id: string, changed: Partial<Strangers> = {}, record: Everything = all) =>
  judgeBy(authentication, id, { strangers: { ...strangers, ...changed }, all: record });

describe("requests without a valid key", () => {
  it.each(["AUTH-2", "AUTH-3", "AUTH-5", "AUTH-6", "AUTH-8/wrong", "AUTH-8/missing"])(
    "%s holds where 401 comes everywhere, and is unproven where no valid key was let in",
    (id) => {
      expect(judge(id).kind).toBe("holds");
      expect(judge(id, {}, { ...all, exchanges: [] }).kind).toBe("unproven");
    },
  );

  it.each<[string, string, Partial<Strangers>, string]>([
    ["AUTH-2", "a missing key is let in", { missing: asked(200) }, "breach"],
    ["AUTH-2", "a missing key gets 403", { missing: asked(403) }, "breach"],
    ["AUTH-2", "only usage lets it in", { missing: { ...asked(401), usage: answer("usage", 200) } }, "holds"],
    ["AUTH-8/missing", "only usage lets it in", { missing: { ...asked(401), usage: answer("usage", 200) } }, "breach"],
    ["AUTH-8/missing", "it is let in everywhere", { missing: asked(200) }, "unproven"],
    ["AUTH-3", "a wrong key is let in", { wrong: asked(200) }, "breach"],
    ["AUTH-3", "a wrong key has another code", { wrong: asked(401, "UNAUTHORIZED") }, "breach"],
    ["AUTH-3", "the address is limited", { wrong: asked(429, "RATE_LIMITED") }, "unproven"],
    ["AUTH-3", "the address is limited in the end", { wrong: { ...asked(401), usage: answer("usage", 429) } }, "holds"],
    ["AUTH-8/wrong", "one endpoint was limited", { wrong: { ...asked(401), usage: answer("usage", 429) } }, "unproven"],
    ["AUTH-8/wrong", "the list lets it in", { wrong: { ...asked(401), list: answer("list", 200) } }, "breach"],
    ["AUTH-8/wrong", "the list answers 404", { wrong: { ...asked(401), list: answer("list", 404) } }, "breach"],
    ["AUTH-5", "the last character does not matter", { lastCharacter: { health: answer("health", 200) } }, "breach"],
    ["AUTH-5", "wrong keys get 403 anyhow", { wrong: asked(403), lastCharacter: asked(403) }, "unproven"],
    ["AUTH-6", "another scheme is let in", { otherScheme: { health: answer("health", 200) } }, "breach"],
    ["AUTH-6", "another scheme gets 400", { otherScheme: asked(400) }, "holds"],
  ])("%s where %s", (id, _case, changed, kind) => {
    expect(judge(id, changed).kind).toBe(kind);
  });

  it.each<[string, Partial<Strangers>, string]>([
    ["401", {}, "follows"],
    ["404", { allWrong: answer("invoke", 404) }, "follows"],
    ["401, and 400 for a known agent", { keyAndBodyWrong: answer("invoke", 400) }, "breach"],
    ["401, with no agent known", { keyAndBodyWrong: null }, "follows"],
    ["400", { allWrong: answer("invoke", 400) }, "breach"],
    ["429", { allWrong: answer("invoke", 429) }, "unproven"],
    ["403, as any wrong key", { allWrong: answer("invoke", 403), wrong: asked(403) }, "unproven"],
  ])("AUTH-16 where every mistake at once gets %s", (_case, changed, kind) => {
    expect(judgeBy(authentication, "AUTH-16", { ...strangers, ...changed }).kind).toBe(kind);
  });

  it("observes the code of a missing key and the letter case of the scheme", () => {
    expect(judgeBy(authentication, "AUTH-9", { ...strangers, missing: asked(401, "NO_KEY") })).toMatchObject({
      text: 'a missing key has the code "NO_KEY"',
    });
    expect(judgeBy(authentication, "AUTH-7", strangers)).toMatchObject({ text: "`bearer` is accepted" });
    expect(judgeBy(authentication, "AUTH-7", { ...strangers, wrong: asked(200) }).kind).toBe("unproven");
  });

  it("REQ-2 is broken by one endpoint that needs no key", () => {
    const open = { ...strangers, missing: { ...asked(401), health: answer("health", 200) } };
    expect(judgeBy(requests, "REQ-2", { strangers, all }).kind).toBe("holds");
    expect(judgeBy(requests, "REQ-2", { strangers: open, all }).kind).toBe("breach");
    expect(judgeBy(requests, "REQ-2", { strangers: { ...strangers, missing: asked(403) }, all }).kind).toBe("holds");
  });
});

describe("requests with a key", () => {
  const everyKeyUsed = { answers: [answer("health", 200, "", "main")] };
  it.each<[string, Everything, readonly Exchange[], string]>([
    ["is let in", all, everyKeyUsed.answers, "holds"],
    ["meets 401", { ...all, exchanges: [...all.exchanges, answer("usage", 401, "", "main")] }, [], "breach"],
    ["meets 403 on health", all, [answer("health", 403, "", "other")], "breach"],
    ["is not of general use", { ...all, exchanges: [...all.exchanges, answer("usage", 401, "", "old")] }, [], "holds"],
    ["never succeeded", { ...all, exchanges: [answer("usage", 500, "", "main")] }, [], "unproven"],
  ])("AUTH-1 where it %s", (_case, record, answers, kind) => {
    expect(judgeBy(authentication, "AUTH-1", { all: record, everyKeyUsed: { answers } }).kind).toBe(kind);
  });

  it.each<[string, Exchange, string]>([
    ["401 EXPIRED_API_KEY", answer("invoke", 401, "EXPIRED_API_KEY"), "holds"],
    ["401 INVALID_API_KEY", answer("invoke", 401), "breach"],
    ["200", answer("invoke", 200), "breach"],
    ["429", answer("invoke", 429), "unproven"],
    ["401 in HTML", exchange({ status: 401, text: "<html>" }), "unproven"],
  ])("AUTH-4 where an expired key meets %s", (_case, answered, kind) => {
    expect(judgeBy(authentication, "AUTH-4", { asked: answered }).kind).toBe(kind);
  });
});

describe("keys that are not valid", () => {
  it.each([
    "ah_free_4mJ9sQ2vXk7TtB1nLw6Yc3Re",
    "sk-live-0123456789abcdef",
    "eyJhbGciOiJIUzI1NiJ9.e30.A-_",
    "k",
    "ab_é",
  ])("differ from %s, with its length and prefix", (key) => {
    expect(withOtherEnd(key)).not.toBe(key);
    expect(withOtherEnd(key).slice(0, -1)).toBe(key.slice(0, -1));
    expect(strangersKey(key)).toMatch(/^(ah_|ab_)?[A-Za-z]{5,}$/);
    expect(strangersKey(key).length).toBe(Math.max(key.length, strangersKey(key).length));
  });

  it("differ in a bit that base64 does not ignore", () => {
    for (const end of "AQgw048cEIMUYckos") {
      const bytes = (text: string): string => Buffer.from(text, "base64").toString("hex");
      expect(bytes(withOtherEnd(`AAA${end}AA`.slice(0, 6)))).not.toBe(bytes(`AAA${end}AA`.slice(0, 6)));
      expect(bytes(withOtherEnd(`AAAAA${end}`))).not.toBe(bytes(`AAAAA${end}`));
    }
  });
});
