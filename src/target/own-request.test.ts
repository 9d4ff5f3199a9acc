import { describe, expect, it } from "vitest";

import { type OwnRequestTarget, withOwnFields, withoutOwnFields } from "./own-request.ts";

const context = { tenant: "acme" };
const form = { query: "Q: {query}?", parameters: { context } };

const target: OwnRequestTarget = {
  agents: { answering: "bot 1", streaming: "bot 1", degraded: "worn" },
  ownRequests: [
    { role: "answering", agent: "bot 1", body: form },
    { role: "streaming", agent: "bot 1", body: { query: "Stream." } },
    { role: "degraded", agent: "worn", body: { session_id: "s" } },
  ],
  roleAssignments: { failing: { agent: "bot 1", body: { query: "fail, please" }, path: null } },
  paths: { batch: "/batch", operation: null, execute: null },
};

const invoke = "/agents/bot%201/invoke";

describe("the fields that an agent needs in every request", () => {
  it.each([
    ["are added", invoke, '{"query":"Hi"}', '{"parameters":{"context":{"tenant":"acme"}},"query":"Q: Hi?"}'],
    [
      "are added beside parameters of the harness",
      invoke,
      '{"query":"Hi","parameters":{"temperature":0}}',
      '{"query":"Q: Hi?","parameters":{"context":{"tenant":"acme"},"temperature":0}}',
    ],
    [
      "are added into objects of the harness, whose values stay",
      invoke,
      '{"parameters":{"context":{"user":"{"}},"query":"Hi"}',
      '{"parameters":{"context":{"tenant":"acme","user":"{"}},"query":"Q: Hi?"}',
    ],
    [
      "keep white space and escapes",
      invoke,
      '\n{ "parameters" : {\n} ,\t"\\u0071uery"\t: "Gr\\u00fc\\"e" }\r\n',
      '\n{ "parameters" : {"context":{"tenant":"acme"}\n} ,\t"\\u0071uery"\t: "Q: Gr\\u00fc\\"e?" }\r\n',
    ],
    [
      "are added once",
      invoke,
      `{"parameters":{"context":{}},"query":"Q: Hi?"}`,
      '{"parameters":{"context":{"tenant":"acme"}},"query":"Q: Hi?"}',
    ],
    ["of streams come first in streams", "/agents/bot%201/stream", '{"query":"Hi"}', '{"query":"Stream."}'],
    ["of another agent", "/agents/worn/invoke", '{"query":"Hi"}', '{"session_id":"s","query":"Hi"}'],
    [
      "leave the query of a role",
      invoke,
      '{"query":"fail, please"}',
      '{"parameters":{"context":{"tenant":"acme"}},"query":"fail, please"}',
    ],
    [
      "are added to each item of a batch",
      "/batch",
      '{"batch":[{"query":"Hi"},{}]}',
      '{"batch":[{"parameters":{"context":{"tenant":"acme"}},"query":"Q: Hi?"},{}]}',
    ],
    ["stay away from a body without a query", invoke, "{}", "{}"],
    ["stay away from a query of another type", invoke, '{"query":5}', '{"query":5}'],
    ["stay away from what is no JSON", invoke, '{"query": "Hi', '{"query": "Hi'],
    ["stay away from other agents", "/agents/echo/invoke", '{"query":"Hi"}', '{"query":"Hi"}'],
  ])("%s", (_, path, text, expected) => {
    expect(withOwnFields(target, path, text)).toBe(expected);
  });

  it.each([
    [{ query: "Hi" }],
    [{ query: "Hi", parameters: { temperature: 0 } }],
    [{ query: "Hi", parameters: { context: { user: "Ada" } } }],
  ])("are told from what the harness chose: %j", (chosen) => {
    const sent: unknown = JSON.parse(withOwnFields(target, invoke, JSON.stringify(chosen)));
    expect(withoutOwnFields(target, `/v1${invoke}`, sent)).toEqual(chosen);
  });
});
