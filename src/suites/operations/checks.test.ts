import { describe, expect, it } from "vitest";

import type { Exchange } from "../../evidence/exchange.ts";
import { operations } from "./checks.ts";
import { delivery, exchange, type ExchangeOptions } from "../testing/evidence.ts";
import { judged, judgeBy } from "../testing/judged.ts";

const handle = { operation_id: "op-1", status: "pending", check_url: "/v1/operations/op-1" };
const answer = (json: unknown, made: ExchangeOptions = {}): Exchange =>
  exchange({ path: "/agents/echo/batch", status: 201, json, ...made });
const evidence = (submitted: Exchange, polls: readonly Exchange[] = [], control = exchange()) => ({
  path: "/agents/{agent_id}/batch",
  submitted,
  polls,
  control,
});

describe("an operation handle", () => {
  it.each<[string, string, unknown, string]>([
    ["OPS-1", "as published", handle, "holds"],
    ["OPS-1", "in the envelope", { status: "success", data: handle }, "holds"],
    ["OPS-1", "in the envelope's result", { status: "success", data: { result: handle } }, "holds"],
    ["OPS-1", "with a number for an id", { ...handle, operation_id: 7 }, "breach"],
    ["OPS-1", "with its id under another name", { id: "op-1", status: "pending", check_url: "/v1/x" }, "breach"],
    ["OPS-1", "that is none", { results: [] }, "unproven"],
    ["OPS-2", "as published", handle, "holds"],
    ["OPS-2", "in the envelope", { status: "success", data: handle }, "holds"],
    ["OPS-2", "of another status", { ...handle, status: "queued" }, "breach"],
    ["OPS-3", "as published", handle, "holds"],
    ["OPS-3", "with a whole URL", { ...handle, check_url: "http://127.0.0.1:9/v1/operations/op-1" }, "breach"],
    ["OPS-3", "without the version", { ...handle, check_url: "/operations/op-1" }, "breach"],
    ["OPS-3", "of another operation", { ...handle, check_url: "/v1/operations/op-2" }, "breach"],
    ["OPS-3", "without an id", { ...handle, operation_id: undefined }, "unproven"],
    ["OPS-3", "of a strange id", { ...handle, operation_id: "a b", check_url: "/v1/operations/a%20b" }, "holds"],
  ])("%s: %s", (id, _, json, expected) => {
    expect(judged(operations, id, evidence(answer(json)))).toBe(expected);
  });

  it("may name the prefix under which the target stands", () => {
    const submitted = answer({ ...handle, check_url: "/hosting/v1/operations/op-1" });
    const redirected = {
      ...submitted,
      request: { ...submitted.request, url: "https://a.example/hosting/v1/agents/e/batch" },
    };
    expect(judged(operations, "OPS-3", evidence(redirected))).toBe("holds");
    expect(judged(operations, "OPS-3", evidence(submitted))).toBe("breach");
  });

  it.each(["OPS-1", "OPS-2", "OPS-3"])("%s is unproven where the batch was refused", (id) => {
    expect(judged(operations, id, evidence(answer({}, { status: 404 })))).toBe("unproven");
  });
});

describe("a batch", () => {
  it.each<[string, Exchange, Exchange, string]>([
    ["accepted", answer(handle), exchange(), "holds"],
    ["answered at once", answer({ results: [] }, { status: 200 }), exchange(), "holds"],
    ["refused", answer({}, { status: 400 }), exchange(), "breach"],
    ["limited", answer({}, { status: 429 }), exchange(), "unproven"],
    ["of queries that fail alone", answer({}, { status: 500 }), exchange({ status: 500 }), "unproven"],
  ])("%s", (_, submitted, control, expected) => {
    expect(judged(operations, "BAT-1", evidence(submitted, [], control))).toBe(expected);
  });
});

describe("a long batch with an unusual entry", () => {
  const accepted = { ...answer(handle), id: "accepted" };
  const told = (query: string) => delivery({ event: { data: { input: { query } } } });
  const plain = Array.from({ length: 10 }, () => told("Hello. mark"));
  it.each([
    ["is executed", accepted, accepted, [...plain, told("Grüße mark")], "holds"],
    ["is accepted, and no delivery tells more", accepted, accepted, [], "holds"],
    ["has one entry that is not executed", accepted, accepted, plain, "breach"],
    ["is rejected", answer({}, { status: 400 }), accepted, plain, "breach"],
    [
      "is rejected, as it is without the entry",
      answer({}, { status: 400 }),
      answer({}, { status: 400 }),
      [],
      "unproven",
    ],
  ])("%s", (_, unusual, submitted, completed, expected) => {
    const batch = { before: exchange(), after: exchange(), unusual, submitted, completed };
    expect(judged(operations, "BAT-1/unusual entry", { batch, invoke: { tried: { together: exchange() } } })).toBe(
      expected,
    );
  });
});

describe("what is observed of an operation", () => {
  const poll = (status: string): Exchange => exchange({ method: "GET", json: { operation_id: "op-1", status } });
  const followed = evidence(answer(handle), [poll("running"), poll("running"), poll("completed")]);

  it("is its states, each once, in order", () => {
    expect(judgeBy(operations, "OPS-5", followed)).toMatchObject({
      text: 'the status goes "pending", "running", "completed"',
    });
  });

  it.each(["OPS-4", "OPS-6", "BAT-2", "BAT-3"])("%s has something to say", (id) => {
    expect(judged(operations, id, followed)).toBe("observed");
  });
});
