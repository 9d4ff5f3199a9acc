import { describe, expect, it } from "vitest";

import type { Exchange } from "../../evidence/exchange.ts";
import { keys } from "./checks.ts";
import type { Prefix } from "./probes.ts";
import { event, exchange, streamed, unanswered } from "../testing/exchange.ts";
import { judged } from "../testing/judged.ts";
import { judgeBy } from "../testing/judging.ts";

const ok = exchange({ json: {} });
const refusal = (status: number, code = "FORBIDDEN"): Exchange =>
  exchange({ status, json: { error: { code, message: "no", status } } });
const limited = refusal(429, "RATE_LIMITED");
const forbidden = refusal(403);

describe("a temporary key", () => {
  it.each<[string, Exchange, Exchange, string]>([
    ["expires", ok, refusal(401, "EXPIRED_API_KEY"), "holds"],
    ["stays", ok, ok, "breach"],
    ["is wrong afterwards", ok, refusal(401, "INVALID_API_KEY"), "breach"],
    ["is forbidden afterwards", ok, forbidden, "breach"],
    ["had expired before", refusal(401, "EXPIRED_API_KEY"), refusal(401, "EXPIRED_API_KEY"), "unproven"],
    ["is limited afterwards", ok, limited, "unproven"],
    ["gets no answer afterwards", ok, unanswered(), "unproven"],
    ["gets a 401 without a code", ok, exchange({ status: 401, text: "no" }), "unproven"],
  ])("%s", (_, asked, after, expected) => {
    expect(
      judged(keys, "KEY-3", { before: { asked, lifeSeconds: 60 }, after: { asked: after }, late: { asked: null } }),
    ).toBe(expected);
  });
});

describe("the beginnings of keys", () => {
  const letIn = (...names: readonly string[]) => ({ validKeys: [], exchanges: names.map((key) => exchange({ key })) });
  it.each<[string, readonly Prefix[], readonly string[], string]>([
    ["the same for all", [seen("a", "ah_"), seen("b", "ah_")], ["a", "b"], "holds"],
    ["different", [seen("a", "ah_"), seen("b", "xy_")], ["a", "b"], "breach"],
    ["absent", [seen("a", null)], ["a"], "breach"],
    ["absent of a key that was never let in", [seen("a", "ah_"), seen("b", null)], ["a"], "holds"],
    ["of keys that were never let in", [seen("a", "ah_")], [], "unproven"],
  ])("%s", (_, prefixes, names, expected) => {
    expect(judged(keys, "KEY-4", { seen: { prefixes }, all: letIn(...names) })).toBe(expected);
  });

  function seen(name: string, prefix: string | null): Prefix {
    return { name, prefix };
  }
});

describe("restricted keys", () => {
  it.each<[string, Exchange, Exchange, Exchange, string]>([
    ["does not write", ok, forbidden, ok, "holds"],
    ["gets 401", ok, refusal(401), ok, "holds"],
    ["writes", ok, exchange({ status: 201 }), ok, "breach"],
    ["cannot read either", forbidden, forbidden, ok, "unproven"],
    ["is refused as everybody is", ok, forbidden, refusal(400), "unproven"],
    ["is limited", ok, limited, ok, "unproven"],
  ])("KEY-5: a read-only key %s", (_, read, wrote, created, expected) => {
    const evidence = { reader: { read, wrote, alerted: forbidden, invoked: null }, control: { created } };
    expect(judged(keys, "KEY-5", evidence)).toBe(expected);
  });

  it("KEY-5: a read-only key that creates an alert", () => {
    const reader = { read: ok, wrote: forbidden, alerted: ok, invoked: null };
    expect(judged(keys, "KEY-5", { reader, control: { created: ok } })).toBe("breach");
  });

  it.each<[string, Exchange, { asked: Exchange; control: Exchange } | null, string]>([
    ["calls its own only", ok, { asked: forbidden, control: ok }, "holds"],
    ["is told that the other does not exist", ok, { asked: refusal(404), control: ok }, "holds"],
    ["calls another", ok, { asked: ok, control: ok }, "breach"],
    ["calls none", forbidden, { asked: forbidden, control: ok }, "unproven"],
    ["calls another that nobody can", ok, { asked: forbidden, control: refusal(500) }, "unproven"],
    ["has no other", ok, null, "unproven"],
  ])("KEY-6: a key of one agent %s", (_, own, other, expected) => {
    const tried = other === null ? null : { ...other, streamed: forbidden };
    expect(judged(keys, "KEY-6", { own, other: tried })).toBe(expected);
  });

  it.each([
    ["streams another", [event("start", {}), event("chunk", { content: "Hello" }), event("done", {})], "breach"],
    ["is refused in the stream of another", [event("error", { error: "Not yours.", code: "FORBIDDEN" })], "holds"],
  ])("KEY-6: a key of one agent %s", (_, events, expected) => {
    const other = { asked: forbidden, control: ok, streamed: streamed(events) };
    expect(judged(keys, "KEY-6", { own: ok, other })).toBe(expected);
  });

  it.each<[string, Exchange, Exchange | null, Exchange, string]>([
    ["is refused", forbidden, forbidden, ok, "holds"],
    ["is let in", ok, null, ok, "breach"],
    ["is let in by a claim", forbidden, ok, ok, "breach"],
    ["is refused as everybody is", forbidden, forbidden, refusal(500), "unproven"],
    ["is limited", limited, forbidden, ok, "unproven"],
  ])("KEY-7: a key of another address %s", (_, asked, claimed, control, expected) => {
    expect(judged(keys, "KEY-7", { asked, claimed, control, isDirect: true })).toBe(expected);
  });

  it("KEY-7: a claimed address that is believed is judged only where nothing stands before the target", () => {
    const evidence = { asked: refusal(403, "NO"), claimed: ok, control: ok };
    expect(judged(keys, "KEY-7", { ...evidence, isDirect: true })).toBe("breach");
    expect(judged(keys, "KEY-7", { ...evidence, isDirect: false })).toBe("holds");
    expect(judgeBy(keys, "AUTH-13/claimed address", evidence)).toMatchObject({
      text: expect.stringContaining("accepted"),
    });
  });

  it("AUTH-13: says what each lacks permission with", () => {
    const evidence = { read: ok, wrote: refusal(401, "NO"), invoked: ok };
    expect(judgeBy(keys, "AUTH-13/write", evidence)).toMatchObject({ text: expect.stringContaining("401 NO") });
    expect(judgeBy(keys, "AUTH-13/invoke", evidence)).toMatchObject({ text: expect.stringContaining("accepted") });
    expect(judged(keys, "AUTH-13/agent", { own: ok, other: null })).toBe("unproven");
    expect(judged(keys, "AUTH-13/address", { asked: limited, claimed: null, control: ok })).toBe("unproven");
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
