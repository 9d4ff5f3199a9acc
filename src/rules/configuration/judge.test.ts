import { describe, expect, it } from "vitest";

import { parseSource } from "../../base/source/source.ts";
import { type FileFinding, judgeConfiguration } from "./judge.ts";

const entrypoint = { file: "main.py", module: "answer", tag: "answer" };
const minimal = {
  agent_name: "Weather bot",
  framework: "plain",
  version: "1.2.0",
  agent_architecture: { entrypoints: [entrypoint] },
};
const endpoint = { url: "https://hooks.example/in", events: ["agent.*"], headers: { "X-Team": "weather" } };

const judge = (value: unknown): FileFinding[] => judgeConfiguration({ value });

/** The clauses that a file breaks, with their levels. */
const brokenIn = (value: unknown): string[] =>
  judge(value).flatMap(({ kind, check, level }) => (kind === "breach" ? [`${check} ${level}`] : []));

const skippedIn = (value: unknown): string[] =>
  judge(value).flatMap(({ kind, check, level }) => (kind === "skipped" && level === "must" ? [check] : []));

const withEntrypoint = (changes: object) => ({
  ...minimal,
  agent_architecture: { entrypoints: [{ ...entrypoint, ...changes }] },
});
const withEndpoint = (changes: object) => ({ ...minimal, webhooks: { endpoints: [{ ...endpoint, ...changes }] } });

describe("judging a configuration file", () => {
  it.each<[string, object]>([
    ["the required fields alone", minimal],
    [
      "every field",
      {
        ...minimal,
        description: "Reports the weather.",
        template: "basic",
        created_at: "2026-01-05T08:00:00.123456",
        agent_id: "weather-1",
        template_source: { repo_url: "https://git.example/weather", author: "Ada", path: "bots" },
        auth_settings: { type: "none" },
        env_vars: { UNIT: "celsius", EMPTY: "" },
        deployment: { timeout: 45.5, memory: "1GB" },
        webhooks: { endpoints: [endpoint] },
      },
    ],
    ["unknown fields everywhere", { ...withEntrypoint({ colour: 1 }), region: "eu", deployment: { replicas: 2 } }],
    [
      "optional fields that are null",
      {
        ...minimal,
        description: null,
        created_at: null,
        agent_id: null,
        template_source: null,
        env_vars: null,
        deployment: { timeout: null, memory: null },
        webhooks: null,
      },
    ],
    [
      "empty objects",
      { ...minimal, template_source: {}, auth_settings: {}, env_vars: {}, deployment: {}, webhooks: {} },
    ],
    ["no entrypoint", { ...minimal, agent_architecture: { entrypoints: [] } }],
    ["empty strings", { ...minimal, agent_name: "", description: "" }],
    ["another type of authentication", { ...minimal, auth_settings: { type: "oauth" } }],
    ["a time in the basic form", { ...minimal, created_at: "20260105T080000" }],
    ["a date alone", { ...minimal, created_at: "2026-01-05" }],
    ["an ordinal date", { ...minimal, created_at: "2026-005T08:00" }],
    ["a week date", { ...minimal, created_at: "2026-W02-1T08:00:00" }],
    ["an id of any form", { ...minimal, agent_id: "Ünïque id/7" }],
    ["a timeout in a string", { ...minimal, deployment: { timeout: "45" } }],
    ["memory of another unit", { ...minimal, deployment: { memory: "1.5 Gi" } }],
    ["a streaming entrypoint", withEntrypoint({ module: "answer_stream", tag: "answer_stream" })],
    ["a tag that is about a stream", withEntrypoint({ tag: "upstream" })],
    ["no headers", withEndpoint({ headers: undefined })],
    ["every event type", withEndpoint({ events: ["agent.failed", "deployment.health_changed", "deployment.*", "*"] })],
    ["a receiver on loopback", withEndpoint({ url: "http://127.0.0.1:9000/events?a=b" })],
  ])("breaks nothing: %s", (_, file) => {
    expect(brokenIn(file)).toEqual([]);
    expect(skippedIn(file)).toEqual([]);
  });

  it.each<[string, unknown]>([
    ["CFG-1", { ...minimal, agent_name: undefined }],
    ["CFG-1", { ...minimal, framework: null }],
    ["CFG-1", { ...minimal, version: 1 }],
    ["CFG-1", { ...minimal, agent_architecture: "main.py" }],
    ["CFG-1", []],
    ["CFG-1", null],
    ["CFG-2", { ...minimal, agent_architecture: {} }],
    ["CFG-2", { ...minimal, agent_architecture: { entrypoints: { answer: entrypoint } } }],
    ["CFG-2", { ...minimal, agent_architecture: { entrypoints: [entrypoint, "main.py"] } }],
    ["CFG-3", { ...minimal, description: ["a"] }],
    ["CFG-3", { ...minimal, template: 1 }],
    ["CFG-4", { ...minimal, created_at: "2026-01-05T08:00:00Z" }],
    ["CFG-4", { ...minimal, created_at: "2026-01-05T08:00:00+01:00" }],
    ["CFG-4", { ...minimal, created_at: "2026-02-30T08:00:00" }],
    ["CFG-4", { ...minimal, created_at: 1767600000 }],
    ["CFG-5", { ...minimal, agent_id: 7 }],
    ["CFG-6", { ...minimal, template_source: "https://git.example/weather" }],
    ["CFG-6", { ...minimal, template_source: { author: ["Ada"] } }],
    ["CFG-7", { ...minimal, auth_settings: "none" }],
    ["CFG-7", { ...minimal, auth_settings: { type: false } }],
    ["CFG-8", { ...minimal, env_vars: { PORT: 8080 } }],
    ["CFG-8", { ...minimal, env_vars: ["PORT=8080"] }],
    ["CFG-9", { ...minimal, deployment: 30 }],
    ["CFG-9", { ...minimal, deployment: { timeout: "30s" } }],
    ["CFG-9", { ...minimal, deployment: { memory: 512 } }],
    ["CFG-9", { ...minimal, deployment: { memory: "512" } }],
    ["CFG-10", { ...minimal, webhooks: [endpoint] }],
    ["CFG-10", { ...minimal, webhooks: { endpoints: endpoint } }],
    ["CFG-10", { ...minimal, webhooks: { endpoints: [endpoint.url] } }],
    ["CFG-11", withEntrypoint({ tag: undefined })],
    ["CFG-11", withEntrypoint({ file: 1 })],
    ["CFG-13", withEndpoint({ url: "hooks.example/in" })],
    ["CFG-13", withEndpoint({ url: undefined })],
    ["CFG-13", withEndpoint({ events: "agent.*" })],
    ["CFG-13", withEndpoint({ events: ["agent.done"] })],
    ["CFG-13", withEndpoint({ events: ["agents.*"] })],
    ["CFG-14", withEndpoint({ headers: ["X-Team: weather"] })],
    ["CFG-14", withEndpoint({ headers: { "X-Team": 7 } })],
    ["CFG-14", withEndpoint({ headers: { "X Team": "weather" } })],
    ["CFG-14", withEndpoint({ headers: { "X-Team": "a\nb" } })],
  ])("finds %s broken, and nothing else: %j", (clause, file) => {
    expect(brokenIn(file)).toEqual([`${clause} must`]);
  });

  it.each<[string, object]>([
    ["CFG-9/positive", { ...minimal, deployment: { timeout: 0 } }],
    ["CFG-11/complete", withEntrypoint({ file: undefined })],
    ["CFG-11/distinct", { ...minimal, agent_architecture: { entrypoints: [entrypoint, entrypoint] } }],
    ["CFG-12", withEntrypoint({ tag: "answer-stream" })],
    ["CFG-12", withEntrypoint({ tag: "answerStream" })],
    ["CFG-12", withEntrypoint({ module: "answer_stream", tag: "fast" })],
    ["CFG-13/events", withEndpoint({ events: [] })],
    ["CFG-13/events", withEndpoint({ events: undefined })],
  ])("notes %s, and nothing else: %j", (check, file) => {
    expect(brokenIn(file)).toEqual([`${check} advisory`]);
  });

  it.each<[unknown, readonly string[]]>([
    [
      [],
      ["CFG-2", "CFG-3", "CFG-4", "CFG-5", "CFG-6", "CFG-7", "CFG-8", "CFG-9", "CFG-10", "CFG-11", "CFG-13", "CFG-14"],
    ],
    [{ ...minimal, agent_architecture: 1 }, ["CFG-2", "CFG-11"]],
    [{ ...minimal, agent_architecture: {} }, ["CFG-11"]],
    [{ ...minimal, webhooks: 1 }, ["CFG-13", "CFG-14"]],
  ])("skips what cannot be judged in %j", (file, skipped) => {
    expect(skippedIn(file)).toEqual(skipped);
  });

  it("shows no value that may be a secret", () => {
    const secret = "sk_live_51H8";
    const values = [
      { ...minimal, env_vars: { KEY: [secret] } },
      { ...minimal, env_vars: secret },
      withEndpoint({ headers: { Authorization: `${secret}\n` } }),
      { ...minimal, webhooks: { endpoints: { ...endpoint, secret } } },
    ];
    expect(JSON.stringify(values.map(judge))).not.toContain(secret);
  });

  it("says what it expected, what it found and where, for each breach", () => {
    const text =
      "agent_name: Bot\nframework: x\nversion: 1.0\nagent_architecture:\n  entrypoints:\n    - {file: a, module: b}\n";
    const source = parseSource(text, "YAML");
    if (source.kind === "problem") throw new Error(source.problem);
    const breaches = judgeConfiguration(source).flatMap((finding) =>
      finding.kind === "breach" ? [[finding.expected, finding.actual, source.placeOf(finding.path)]] : [],
    );
    expect(breaches).toEqual([
      ["version: a string", "1", { line: 3, column: 1 }],
      ["agent_architecture.entrypoints[0].tag: a string", "missing", { line: 6, column: 7 }],
    ]);
  });
});
