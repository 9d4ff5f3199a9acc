import { describe, expect, it } from "vitest";

import type { Exchange } from "../../evidence/exchange.ts";
import { exchange, type ExchangeOptions } from "../testing/evidence.ts";
import { judged } from "../testing/judged.ts";
import { invoke } from "./checks.ts";

const json = [["Content-Type", "application/json"]] as const;
const sent = (body: unknown, made: ExchangeOptions = {}): Exchange =>
  exchange({ requestHeaders: json, sent: body, ...made });
const refused = (code: string, status = 400): ExchangeOptions => ({
  status,
  json: { error: { code, message: "No." } },
});

const right = refused("MISSING_REQUIRED_FIELD");
const wrong = refused("INVALID_INPUT");
const plain = sent({ query: "Hello." }, { json: { result: {} } });

const judge = (...exchanges: readonly Exchange[]) =>
  judged(invoke, "INV-10/every", { all: { exchanges: [plain, ...exchanges], validKeys: ["main"] } });

describe("an invoke whose only mistake is that the query is absent", () => {
  it.each([
    ["nothing else", {}],
    ["no parameters", { parameters: {} }],
    ["legal parameters", { parameters: { temperature: 2, max_tokens: 16, context: {}, made_up: [1] } }],
    ["a session", { session_id: "conf-1" }],
  ])("must be told so, with %s", (_, body) => {
    expect(judge(sent(body, right))).toBe("holds");
    expect(judge(sent(body, right), sent(body, wrong))).toBe("breach");
    expect(judge(sent(body, refused("MISSING_REQUIRED_FIELD", 422)))).toBe("breach");
    expect(judge(sent(body, { json: { result: {} } }))).toBe("breach");
  });

  it.each([
    ["a temperature out of range", { parameters: { temperature: 2.5 } }],
    ["`max_tokens` that is no positive integer", { parameters: { max_tokens: 0 } }],
    ["a context that is no object", { parameters: { context: [] } }],
    ["parameters of streams", { parameters: { chunk_size: 8 } }],
    ["a session id of another alphabet", { session_id: "Grüße" }],
    ["an unknown field beside `parameters`", { prompt: "Hello." }],
    ["parameters that are no object", { parameters: [] }],
    ["a query of null", { query: null }],
    ["no object", []],
  ])("is not the only mistake beside %s", (_, body) => {
    expect(judge(sent(body, wrong))).toBe("unproven");
  });

  it.each<readonly [string, Exchange]>([
    ["another key", sent({}, { ...wrong, key: "reader" })],
    ["an agent that answers no invoke", sent({}, { ...wrong, path: "/agents/other/invoke" })],
    ["another type of body", sent({}, { ...wrong, requestHeaders: [["Content-Type", "text/plain"]] })],
    ["an error without a code", sent({}, { status: 400, json: { detail: "No." } })],
    ...[401, 402, 403, 404, 406, 413, 415, 429, 500, 503].map(
      (status) => [`status ${status}`, sent({}, refused("OTHER", status))] as const,
    ),
  ])("proves nothing with %s", (_, mistaken) => {
    expect(judge(mistaken)).toBe("unproven");
  });

  it.each([400, 404, 422])("proves nothing beside a field that is refused with a query, too, by %i", (status) => {
    const parameters = { temperature: 1, max_tokens: 16 };
    const both = sent({ query: "Hello.", parameters }, refused("INVALID_INPUT", status));
    expect(judge(both, sent({ parameters: { temperature: 1 } }, wrong))).toBe("unproven");
    expect(judge(both, sent({ session_id: "conf-1" }, wrong))).toBe("breach");
  });

  it("proves nothing if the agent answers in sessions only", () => {
    const agent: ExchangeOptions = { path: "/agents/other/invoke" };
    const inSession = sent({ query: "Hello.", session_id: "conf-1" }, { json: { result: {} }, ...agent });
    expect(judge(inSession, sent({}, { ...wrong, ...agent }))).toBe("unproven");
    expect(judge(inSession, sent({ session_id: "conf-2" }, { ...wrong, ...agent }))).toBe("breach");
  });
});
