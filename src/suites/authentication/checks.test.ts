import { describe, expect, it } from "vitest";

import type { Exchange } from "../../evidence/exchange.ts";
import { type EndpointName, publishedEndpoints } from "../../spec/endpoints.ts";
import type { RejectedKeyRequest } from "../shared/key-requests/send-requests.ts";
import type { RejectedKeyKind } from "../../spec/dimensions.ts";
import type { AllExchanges } from "../shared/all-exchanges.ts";
import { requests } from "../requests/checks.ts";
import { exchange } from "../testing/evidence.ts";
import { judgeBy } from "../testing/judged.ts";
import { authentication } from "./checks.ts";
import type { UnauthenticatedRequests } from "./probes.ts";

const triedEndpoints = ["invoke", "stream", "health", "list", "usage", "webhooks", "keyUsage"] as const;

const response = (
  endpoint: (typeof triedEndpoints)[number],
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

/** Requests of a kind of key: one status on every endpoint, with exceptions. */
const requestsGetting = (
  kind: RejectedKeyKind,
  status: number,
  exceptions: Partial<Record<EndpointName, number>> = {},
  code?: string,
): RejectedKeyRequest[] =>
  triedEndpoints.map((endpoint) => ({
    kind,
    endpoint,
    exchange: response(endpoint, exceptions[endpoint] ?? status, code),
  }));

const all: AllExchanges = {
  validKeys: ["main"],
  exchanges: triedEndpoints.map((each) => response(each, 200, "", "main")),
};
const without = (...endpoints: readonly EndpointName[]): AllExchanges => ({
  ...all,
  exchanges: triedEndpoints.filter((each) => !endpoints.includes(each)).map((each) => response(each, 200, "", "main")),
});

const kinds = [
  "no key",
  "a wrong key",
  "a key with another last character",
  "a key that is lengthened",
  "a key under another scheme",
] as const satisfies readonly RejectedKeyKind[];

/** Requests without a valid key that all get 401, except for the given requests of some kinds. */
const requestsWith = (...changed: readonly RejectedKeyRequest[]): UnauthenticatedRequests => ({
  requests: kinds.flatMap((kind) => {
    const own = changed.filter((request) => request.kind === kind);
    return own.length > 0 ? own : requestsGetting(kind, 401);
  }),
  lowerCase: response("health", 200),
  allWrong: response("invoke", 401),
  keyAndBodyWrong: response("invoke", 401),
  keyAndBodyMissing: [response("webhooks", 401)],
});

const judge = (id: string, changed: readonly RejectedKeyRequest[] = [], record: AllExchanges = all) =>
  judgeBy(authentication, id, { unauthenticated: requestsWith(...changed), all: record });

describe("requests without a valid key", () => {
  it.each(["AUTH-2", "AUTH-3", "AUTH-5", "AUTH-6", "AUTH-8/wrong", "AUTH-8/missing"])(
    "%s holds if every endpoint answers 401, and is unproven if no valid key was accepted",
    (id) => {
      expect(judge(id).kind).toBe("holds");
      expect(judge(id, [], { ...all, exchanges: [] }).kind).toBe("unproven");
    },
  );

  it.each<[string, string, readonly RejectedKeyRequest[], string]>([
    ["AUTH-2", "a missing key is accepted", requestsGetting("no key", 200), "breach"],
    ["AUTH-2", "a missing key gets 403", requestsGetting("no key", 403), "breach"],
    ["AUTH-2", "only usage accepts it", requestsGetting("no key", 401, { usage: 200 }), "holds"],
    ["AUTH-8/missing", "only usage accepts it", requestsGetting("no key", 401, { usage: 200 }), "breach"],
    ["AUTH-8/missing", "every endpoint accepts it", requestsGetting("no key", 200), "unproven"],
    ["AUTH-3", "a wrong key is accepted", requestsGetting("a wrong key", 200), "breach"],
    ["AUTH-3", "a wrong key has another code", requestsGetting("a wrong key", 401, {}, "UNAUTHORIZED"), "breach"],
    ["AUTH-8/wrong", "a wrong key has another code", requestsGetting("a wrong key", 401, {}, "UNAUTHORIZED"), "holds"],
    ["AUTH-3", "the address is limited", requestsGetting("a wrong key", 429, {}, "RATE_LIMITED"), "unproven"],
    ["AUTH-3", "the address is limited in the end", requestsGetting("a wrong key", 401, { keyUsage: 429 }), "holds"],
    ["AUTH-8/wrong", "one endpoint was limited", requestsGetting("a wrong key", 401, { usage: 429 }), "unproven"],
    ["AUTH-8/wrong", "the list accepts it", requestsGetting("a wrong key", 401, { list: 200 }), "breach"],
    ["AUTH-8/wrong", "the list answers 404", requestsGetting("a wrong key", 401, { list: 404 }), "breach"],
    ["AUTH-8/wrong", "webhooks answer 403", requestsGetting("a wrong key", 401, { webhooks: 403 }), "breach"],
    [
      "AUTH-5",
      "the last character is ignored",
      requestsGetting("a key with another last character", 401, { list: 200 }),
      "breach",
    ],
    ["AUTH-5", "a longer key is accepted", requestsGetting("a key that is lengthened", 401, { usage: 200 }), "breach"],
    [
      "AUTH-6",
      "another scheme is accepted",
      requestsGetting("a key under another scheme", 401, { health: 200 }),
      "breach",
    ],
    ["AUTH-6", "another scheme gets 400", requestsGetting("a key under another scheme", 400), "holds"],
  ])("%s if %s", (id, _case, changed, kind) => {
    expect(judge(id, changed).kind).toBe(kind);
  });

  it("are judged only on endpoints that reject a wrong key and accept a valid one", () => {
    const accepted = [
      ...requestsGetting("a wrong key", 200),
      ...requestsGetting("a key with another last character", 200),
    ];
    expect(judge("AUTH-5", accepted).kind).toBe("unproven");
    const missing = requestsGetting("no key", 401, { webhooks: 404 });
    expect(judge("AUTH-8/missing", missing, without("webhooks")).kind).toBe("unproven");
  });

  it("names all violations in one breach", () => {
    expect(judge("AUTH-8/wrong", requestsGetting("a wrong key", 401, { list: 200, usage: 403 }))).toMatchObject({
      actual: "on 2 of 7 requests: a wrong key on list (200), usage (403 INVALID_API_KEY)",
    });
  });

  it.each<[string, Partial<UnauthenticatedRequests>, string]>([
    ["401", {}, "follows"],
    ["404", { allWrong: response("invoke", 404) }, "follows"],
    ["401, and 400 for a known agent", { keyAndBodyWrong: response("invoke", 400) }, "breach"],
    ["401, with no agent known", { keyAndBodyWrong: null }, "follows"],
    ["400", { allWrong: response("invoke", 400) }, "breach"],
    ["429", { allWrong: response("invoke", 429) }, "unproven"],
    [
      "403, as any wrong key",
      { ...requestsWith(...requestsGetting("a wrong key", 403)), allWrong: response("invoke", 403) },
      "unproven",
    ],
  ])("AUTH-16 if a request with every mistake gets %s", (_case, changed, kind) => {
    expect(judgeBy(authentication, "AUTH-16", { ...requestsWith(), ...changed }).kind).toBe(kind);
  });

  it.each<[string, readonly RejectedKeyRequest[], string]>([
    ["is rejected", requestsGetting("a key of one letter case in the other", 401), "follows"],
    ["is accepted", requestsGetting("a key of one letter case in the other", 200), "breach"],
    [
      "is accepted where any key is",
      requestsGetting("a key of one letter case in the other", 401, { health: 200 }),
      "follows",
    ],
    ["does not exist, as the key has both", requestsGetting("a key in other letter case", 401), "follows"],
    ["was not tried", [], "unproven"],
  ])("AUTH-17 if the other letter case %s", (_case, changed, kind) => {
    const openHealth = requestsGetting("a wrong key", 401, { health: 200 });
    const evidence = {
      unauthenticated: {
        ...requestsWith(...openHealth),
        requests: [...requestsWith(...openHealth).requests, ...changed],
      },
      all,
    };
    expect(judgeBy(authentication, "AUTH-17", evidence).kind).toBe(kind);
    expect(judgeBy(authentication, "AUTH-5", evidence).kind).toBe("holds");
  });

  it("observes the code of a missing key and the letter case of the scheme", () => {
    const otherCode = requestsWith(...requestsGetting("no key", 401, {}, "NO_KEY"));
    expect(judgeBy(authentication, "AUTH-9", otherCode)).toMatchObject({ text: 'a missing key has the code "NO_KEY"' });
    expect(judgeBy(authentication, "AUTH-7", requestsWith())).toMatchObject({ text: "`bearer` is accepted" });
    expect(judgeBy(authentication, "AUTH-7", requestsWith(...requestsGetting("a wrong key", 200))).kind).toBe(
      "unproven",
    );
  });

  it.each<[string, readonly RejectedKeyRequest[], string]>([
    ["every endpoint requires a key", [], "holds"],
    ["one endpoint requires no key", requestsGetting("no key", 401, { health: 200 }), "breach"],
    ["webhooks require no key", requestsGetting("no key", 401, { webhooks: 201 }), "breach"],
    ["all reject with 403", requestsGetting("no key", 403), "holds"],
    ["one was limited", requestsGetting("no key", 401, { health: 429 }), "unproven"],
  ])("REQ-2 if %s", (_case, changed, kind) => {
    expect(judgeBy(requests, "REQ-2", { unauthenticated: requestsWith(...changed), all }).kind).toBe(kind);
  });
});

describe("requests with a key", () => {
  const everyKeyUsed = { answers: [response("health", 200, "", "main")] };
  it.each<[string, AllExchanges, readonly Exchange[], string]>([
    ["is accepted", all, everyKeyUsed.answers, "holds"],
    ["gets 401", { ...all, exchanges: [...all.exchanges, response("usage", 401, "", "main")] }, [], "breach"],
    ["gets 403 on health", all, [response("health", 403, "", "other")], "breach"],
    [
      "is valid for some requests only",
      { ...all, exchanges: [...all.exchanges, response("usage", 401, "", "old")] },
      [],
      "holds",
    ],
    ["never succeeded", { ...all, exchanges: [response("usage", 500, "", "main")] }, [], "unproven"],
  ])("AUTH-1 if it %s", (_case, record, answers, kind) => {
    expect(judgeBy(authentication, "AUTH-1", { all: record, everyKeyUsed: { answers } }).kind).toBe(kind);
  });

  const expired = (status: number, exceptions: Partial<Record<EndpointName, number>> = {}, code = "EXPIRED_API_KEY") =>
    requestsGetting("an expired key", status, exceptions, code);
  const htmlRequest = {
    kind: "an expired key",
    endpoint: "usage",
    exchange: exchange({ status: 401, text: "<html>" }),
  };
  it.each<[string, readonly object[], readonly RejectedKeyRequest[], string]>([
    ["401 EXPIRED_API_KEY", expired(401), [], "holds"],
    ["401 INVALID_API_KEY", expired(401, {}, "INVALID_API_KEY"), [], "breach"],
    ["200", expired(200), [], "breach"],
    ["200 on key usage alone", expired(401, { keyUsage: 200 }), [], "breach"],
    [
      "200 on health, as any key does",
      expired(401, { health: 200 }),
      requestsGetting("a wrong key", 401, { health: 200 }),
      "holds",
    ],
    ["429", expired(429), [], "unproven"],
    ["429 on one endpoint", expired(401, { list: 429 }), [], "holds"],
    ["401 in HTML", [htmlRequest], [], "unproven"],
  ])("AUTH-4 if an expired key gets %s", (_case, tried, changed, kind) => {
    const evidence = { expired: { requests: tried }, unauthenticated: requestsWith(...changed), all };
    expect(judgeBy(authentication, "AUTH-4", evidence).kind).toBe(kind);
  });
});
