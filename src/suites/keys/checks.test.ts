import { describe, expect, it } from "vitest";

import type { Exchange } from "../../evidence/exchange.ts";
import type { EndpointName } from "../../spec/endpoints.ts";
import type { RejectedKeyRequest } from "../shared/key-requests/send-requests.ts";
import type { RejectedKeyKind } from "../../spec/dimensions.ts";
import type { AllExchanges } from "../shared/all-exchanges.ts";
import { keys } from "./checks.ts";
import type { KeyPrefix } from "./probes.ts";
import { event, exchange, streamed, unanswered } from "../testing/evidence.ts";
import { judged, judgeBy } from "../testing/judged.ts";

const ok = exchange({ json: {} });
const refusal = (status: number, code = "FORBIDDEN"): Exchange =>
  exchange({ status, json: { error: { code, message: "no", status } } });
const limited = refusal(429, "RATE_LIMITED");
const forbidden = refusal(403);
const expired = refusal(401, "EXPIRED_API_KEY");

type Responses = Partial<Readonly<Record<EndpointName, Exchange>>>;

const requestsOf = (kind: RejectedKeyKind, asked: Responses): RejectedKeyRequest[] =>
  Object.entries(asked).map(([endpoint, made]) => ({ kind, endpoint: endpoint as EndpointName, exchange: made }));

const paths = { usage: "/usage", health: "/agents/echo/health", list: "/agents" } as const;

/** All exchanges: a success of the main key on every endpoint, and the given ones. */
const allWith = (...more: readonly Exchange[]): AllExchanges => ({
  validKeys: ["main"],
  exchanges: [
    ...["/agents/echo/invoke", "/agents/echo/stream", "/webhooks", "/alerts"].map((path) => exchange({ path })),
    ...Object.values(paths).map((path) => exchange({ method: "GET", path })),
    ...more,
  ],
});

/** An invalid key is rejected on every endpoint. */
const others = { unauthenticated: { requests: [] }, all: allWith() } as const;
const nothingSent = { ...others, all: { validKeys: ["main"], exchanges: [] } } as const;

describe("a temporary key", () => {
  const after = (asked: Responses) => requestsOf("a temporary key after its life", asked);
  it.each<[string, Exchange, Responses, string]>([
    ["expires", ok, { invoke: expired, usage: expired }, "holds"],
    ["stays", ok, { invoke: ok }, "breach"],
    ["stays on health", ok, { invoke: expired, health: ok }, "breach"],
    ["is wrong afterwards", ok, { invoke: refusal(401, "INVALID_API_KEY") }, "breach"],
    ["is forbidden afterwards", ok, { invoke: forbidden }, "breach"],
    ["had expired before", expired, { invoke: expired }, "unproven"],
    ["is limited afterwards", ok, { invoke: limited }, "unproven"],
    ["gets no answer afterwards", ok, { invoke: unanswered() }, "unproven"],
    ["gets a 401 without a code", ok, { invoke: exchange({ status: 401, text: "no" }) }, "unproven"],
  ])("%s", (_, asked, came, expected) => {
    const before = { asked, lifeSeconds: 60 };
    const late = { requests: after(came), expiredKeys: [] };
    expect(judged(keys, "KEY-3", { before, after: null, late, ...others })).toBe(expected);
    const early = { before, after: late, late: { requests: [], expiredKeys: [] }, ...others };
    expect(judged(keys, "KEY-3", early)).toBe(expected);
  });

  it("is left alone where a key that had expired is let in as well", () => {
    const late = { requests: after({ invoke: expired, usage: ok }), expiredKeys: ["old"] };
    const before = { asked: ok, lifeSeconds: 60 };
    const all = allWith(exchange({ method: "GET", path: "/usage", key: "old" }));
    expect(judged(keys, "KEY-3", { before, after: null, late, ...others, all })).toBe("holds");
  });
});

describe("the beginnings of keys", () => {
  const acceptAsKey = (...names: readonly string[]) => ({
    validKeys: [],
    exchanges: names.map((key) => exchange({ key })),
  });
  it.each<[string, readonly KeyPrefix[], readonly string[], string]>([
    ["the same for all", [seen("a", "ah_"), seen("b", "ah_")], ["a", "b"], "holds"],
    ["different", [seen("a", "ah_"), seen("b", "xy_")], ["a", "b"], "breach"],
    ["absent", [seen("a", null)], ["a"], "breach"],
    ["absent of a key that was never let in", [seen("a", "ah_"), seen("b", null)], ["a"], "holds"],
    ["of keys that were never let in", [seen("a", "ah_")], [], "unproven"],
  ])("%s", (_, prefixes, names, expected) => {
    expect(judged(keys, "KEY-4", { seen: { prefixes }, all: acceptAsKey(...names) })).toBe(expected);
  });

  function seen(name: string, prefix: string | null): KeyPrefix {
    return { name, prefix };
  }
});

describe("restricted keys", () => {
  it.each<[string, Exchange, Responses, Exchange, string]>([
    ["does not write", ok, { webhooks: forbidden, alerts: forbidden }, ok, "holds"],
    ["gets 401", ok, { webhooks: refusal(401) }, ok, "holds"],
    ["writes", ok, { webhooks: exchange({ status: 201 }), alerts: forbidden }, ok, "breach"],
    ["creates an alert", ok, { webhooks: forbidden, alerts: ok }, ok, "breach"],
    ["cannot read either", forbidden, { webhooks: forbidden }, ok, "unproven"],
    ["is refused as everybody is", ok, { webhooks: forbidden }, refusal(400), "unproven"],
    ["is limited", ok, { webhooks: limited }, ok, "unproven"],
  ])("KEY-5: a read-only key %s", (_, read, asked, created, expected) => {
    const reader = { read, requests: requestsOf("a read-only key", asked), invoked: null };
    expect(judged(keys, "KEY-5", { reader, control: { created }, ...others })).toBe(expected);
  });

  const ofAnother = (asked: Responses, control: Exchange) => ({
    requests: requestsOf("a key of another agent", asked),
    control,
  });
  it.each<[string, Exchange, ReturnType<typeof ofAnother> | null, string]>([
    ["calls its own only", ok, ofAnother({ invoke: forbidden, health: forbidden }, ok), "holds"],
    ["is told that the other does not exist", ok, ofAnother({ invoke: refusal(404) }, ok), "holds"],
    ["calls another", ok, ofAnother({ invoke: ok }, ok), "breach"],
    ["reads another's health", ok, ofAnother({ invoke: forbidden, health: ok }, ok), "breach"],
    ["creates a webhook for another", ok, ofAnother({ invoke: forbidden, webhooks: ok }, ok), "breach"],
    ["calls none", forbidden, ofAnother({ invoke: forbidden }, ok), "unproven"],
    ["calls another that nobody can", ok, ofAnother({ invoke: forbidden }, refusal(500)), "unproven"],
    ["has no other", ok, null, "unproven"],
  ])("KEY-6: a key of one agent %s", (_, own, other, expected) => {
    expect(judged(keys, "KEY-6", { tried: { own, other }, ...others })).toBe(expected);
  });

  it.each([
    ["streams another", [event("start", {}), event("chunk", { content: "Hello" }), event("done", {})], "breach"],
    ["is refused in the stream of another", [event("error", { error: "Not yours.", code: "FORBIDDEN" })], "holds"],
  ])("KEY-6: a key of one agent %s", (_, events, expected) => {
    const other = ofAnother({ invoke: forbidden, stream: streamed(events) }, ok);
    expect(judged(keys, "KEY-6", { tried: { own: ok, other }, ...others })).toBe(expected);
  });

  const elsewhere = (
    asked: Responses,
    claimed: Exchange | null,
    isDirect = true,
    again: Responses = {},
    mayBeListed = false,
  ) => ({
    tried: {
      requests: [
        ...requestsOf("a key of another address", asked),
        ...requestsOf("a key of another address, for the second time", again),
      ],
      claimed,
      isDirect,
      mayBeListed,
    },
  });
  it.each<[string, ReturnType<typeof elsewhere>, typeof others | typeof nothingSent, string]>([
    ["is refused", elsewhere({ usage: forbidden }, forbidden), others, "holds"],
    ["is let in", elsewhere({ usage: ok }, null), others, "breach"],
    ["is let in on the list", elsewhere({ usage: forbidden, list: ok }, null), others, "breach"],
    ["is let in when it asks again", elsewhere({ usage: forbidden }, null, true, { usage: ok }), others, "breach"],
    ["is let in by a claim", elsewhere({ usage: forbidden }, ok), others, "breach"],
    ["is let in by a claim behind a proxy", elsewhere({ usage: forbidden }, ok, false), others, "holds"],
    ["is refused as everybody is", elsewhere({ usage: forbidden }, forbidden), nothingSent, "unproven"],
    ["is limited", elsewhere({ usage: limited }, forbidden), others, "unproven"],
    ["may be one of this address", elsewhere({ usage: ok, list: ok }, null, true, {}, true), others, "unproven"],
    ["is let in on the list alone", elsewhere({ usage: forbidden, list: ok }, null, true, {}, true), others, "breach"],
  ])("KEY-7: a key of another address %s", (_, tried, rest, expected) => {
    expect(judged(keys, "KEY-7", { ...tried, ...rest })).toBe(expected);
  });

  it("are left alone where any key is let in", () => {
    const unauthenticated = { requests: requestsOf("a wrong key", { usage: ok }) };
    const tried = elsewhere({ usage: ok, list: forbidden }, null);
    expect(judged(keys, "KEY-7", { ...tried, ...others, unauthenticated })).toBe("holds");
  });

  it("AUTH-13: says what each lacks permission with", () => {
    const wrote = { read: ok, requests: requestsOf("a read-only key", { webhooks: refusal(401, "NO") }), invoked: ok };
    expect(judgeBy(keys, "AUTH-13/write", wrote)).toMatchObject({ text: expect.stringContaining("401 NO") });
    expect(judgeBy(keys, "AUTH-13/invoke", wrote)).toMatchObject({ text: expect.stringContaining("accepted") });
    expect(judged(keys, "AUTH-13/agent", { own: ok, other: null })).toBe("unproven");
    expect(judged(keys, "AUTH-13/address", elsewhere({ usage: limited }, null).tried)).toBe("unproven");
    expect(judgeBy(keys, "AUTH-13/claimed address", elsewhere({ usage: forbidden }, ok).tried)).toMatchObject({
      text: expect.stringContaining("accepted"),
    });
  });
});

describe("key usage", () => {
  it.each([
    ["comes", ok, "holds"],
    ["is not there", refusal(404), "breach"],
    ["is limited", limited, "unproven"],
  ] as const)("%s", (_, read, expected) => {
    expect(judged(keys, "KEY-9", { read })).toBe(expected);
  });

  it("names its fields, wherever a published shape holds them", () => {
    const fields = { name: "main", tier: "free", requests: { used: 1 } };
    for (const json of [fields, { status: "success", data: fields }, { status: "success", data: { result: fields } }]) {
      expect(judgeBy(keys, "KEY-10", { read: exchange({ json }) })).toMatchObject({
        text: expect.stringContaining("name, tier, requests"),
      });
      expect(judgeBy(keys, "KEY-11", { read: exchange({ json }) })).toMatchObject({
        text: expect.stringContaining("name, tier"),
      });
    }
  });
});
