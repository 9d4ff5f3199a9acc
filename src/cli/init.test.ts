import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import type { IncomingMessage, ServerResponse } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";

import { type EmbeddedServer, startEmbedded } from "../reference/embedded/embedded-server.ts";
import { type Reference, startReference, virtualClock } from "../reference/reference.ts";
import { readTargetFile } from "../target/target-file.ts";
import { startAnsweringServer } from "../wire/testing/hostile.ts";
import type { FormattedPlan } from "./plan/plan-text.ts";
import { commandLineIn } from "./testing/command.ts";

const folder = mkdtempSync(join(tmpdir(), "init-"));
const conformance = commandLineIn(folder);
let embedded: EmbeddedServer;

beforeAll(async () => {
  embedded = await startEmbedded();
});
beforeEach(() => {
  for (const name of readdirSync(folder)) rmSync(join(folder, name));
});
afterAll(async () => {
  await embedded.close();
  rmSync(folder, { recursive: true, force: true });
});

const keyOf = (name: string): string => embedded.target.keys[name]?.key ?? "";
const at = (...more: string[]): string[] => ["init", "--base-url", embedded.target.baseUrl, "--yes", ...more];
const read = (name: string): unknown => JSON.parse(readFileSync(join(folder, name), "utf8")) as unknown;

describe("init without a terminal", () => {
  it("writes a target file that a run can read, with agents by their health and the tier by its headers", async () => {
    const variables = { ACME_KEY: keyOf("pro") };
    const args = at("--key-variable", "ACME_KEY", "--name", "Acme", "--out", "acme.json");
    const { code, out, err } = await conformance(args, variables);
    expect([code, err]).toEqual([0, ""]);
    expect(read("acme.json")).toMatchObject({
      name: "Acme",
      baseUrl: embedded.target.baseUrl,
      keys: { main: { key: "${ACME_KEY}", tier: "pro" } },
      agents: { answering: "echo", degraded: "worn", unhealthy: "down" },
    });
    const { $schema } = read("acme.json") as { readonly $schema: string };
    expect(existsSync(join(folder, $schema))).toBe(true);
    expect(readTargetFile(join(folder, "acme.json"), variables)).toMatchObject({
      keys: { main: { key: keyOf("pro") } },
    });
    expect(out).toMatch(/GET requests, nothing else was sent/);
    expect(out).toMatch(/What it does not say yet.*`agents\.failing` in the target file: an agent that fails/s);
    expect(out).toMatch(/Next: conformance plan --target acme\.json/);
  });

  it("never shows or writes the key", async () => {
    const { out, err } = await conformance(at("--api-key", keyOf("free")));
    expect(out + err + readFileSync(join(folder, "target.json"), "utf8")).not.toContain(keyOf("free").slice(0, 12));
    expect(out).toContain("export CONFORMANCE_API_KEY=…");
  });

  it("takes the agents and the tier that flags name", async () => {
    const named = ["--agent", "crasher", "--streaming-agent", "dripper", "--tier", "team"];
    await conformance(at("--api-key", keyOf("team"), ...named));
    expect(read("target.json")).toMatchObject({
      keys: { main: { tier: "team" } },
      agents: { answering: "crasher", streaming: "dripper" },
    });
  });

  it("takes the paths that the document leaves open, so that what needs them is no longer missing", async () => {
    const paths = ["--batch-path", "/agents/{agent_id}/batch", "--operation-path", "/jobs/{agent_id}"];
    const { out } = await conformance(at("--api-key", keyOf("team"), ...paths));
    expect(read("target.json")).toMatchObject({
      paths: { batch: "/agents/{agent_id}/batch", operation: "/jobs/{agent_id}" },
    });
    expect(out).not.toContain("`paths.batch` in the target file");
  });

  it("refuses a path that does not begin with / before anything is sent", async () => {
    const { code, err } = await conformance(at("--api-key", keyOf("team"), "--operation-path", "jobs"));
    expect([code, readdirSync(folder)]).toEqual([2, []]);
    expect(err).toMatch(/^The path "jobs" must begin with \/.*\n$/);
  });

  it("writes a file with which a run asks the agent that answers for streams, too", async () => {
    const variables = { CONFORMANCE_API_KEY: keyOf("team") };
    await conformance(at("--agent", "echo"), variables);
    expect(read("target.json")).toHaveProperty("agents.answering", "echo");
    const { out } = await conformance(["plan", "--json", "--target", "target.json", "--only", "SSE-1"], variables);
    expect((JSON.parse(out) as FormattedPlan).skipped).toEqual([]);
  });

  it("refuses an agent that the target's list does not have, in one line with those that it has", async () => {
    const { code, err } = await conformance(at("--api-key", keyOf("team"), "--agent", "ehco"));
    expect([code, readdirSync(folder)]).toEqual([2, []]);
    expect(err).toMatch(/^.*has no agent "ehco": it has .*\becho\b.*\n$/);
  });

  it("replaces a file with --force, and leaves nothing else behind", async () => {
    writeFileSync(join(folder, "target.json"), "mine");
    const { code } = await conformance(at("--api-key", keyOf("pro"), "--force"));
    expect(code).toBe(0);
    expect(read("target.json")).toHaveProperty("baseUrl");
    expect(readdirSync(folder)).toEqual(["target.json"]);
  });

  it.each([
    {
      name: "a wrong key",
      args: () => at("--api-key", "ah_wrong-4471"),
      says: /The target refuses the API key \(401 INVALID_API_KEY\)/,
    },
    {
      name: "no server",
      args: () => ["init", "--yes", "--base-url", "http://127.0.0.1:9", "--api-key", "ah_wrong-4471"],
      says: /No answer from http:\/\/127\.0\.0\.1:9\/v1: .*Is the server running/,
    },
  ])("says of $name what a run says, and writes nothing", async ({ args, says }) => {
    const { code, out, err } = await conformance(args());
    expect(err).toMatch(says);
    expect(err.trimEnd()).not.toContain("\n");
    expect(err).not.toContain("4471");
    expect([code, out, readdirSync(folder)]).toEqual([3, "", []]);
  });
});

describe("init and a test control", () => {
  const token = "token-4471-of-the-control";
  let reference: Reference;
  beforeAll(async () => {
    reference = await startReference({ clock: virtualClock(), controlToken: token });
  });
  afterAll(() => reference.close());
  const initWith = (given: string | undefined, ...more: readonly string[]) =>
    conformance(
      ["init", "--yes", "--base-url", reference.baseUrl, "--control-token-variable", "ACME_CONTROL", ...more],
      {
        CONFORMANCE_API_KEY: reference.keys.find(({ name }) => name === "pro")?.key ?? "",
        ...(given !== undefined && { ACME_CONTROL: given }),
      },
    );

  it("writes clock, deployments and an agent for each role, and names the variable of the token", async () => {
    const { code, out, err } = await initWith(token);
    expect([code, err]).toEqual([0, ""]);
    expect(read("target.json")).toMatchObject({
      agents: { answering: "echo", failing: "crasher", slowStreaming: "dripper", webhooked: "herald" },
      clock: {
        advance: { headers: { "X-Control-Token": "${ACME_CONTROL}" }, body: { seconds: "${seconds}" } },
        agentsFollow: true,
      },
      triggers: {
        "deployment.updated": { body: { agent_id: "herald", event: "updated" } },
        "deployment.created": { body: { agent_id: "newcomer", event: "created" } },
      },
    });
    expect(out).toMatch(/test control +clock, deployments/);
    expect(out + readFileSync(join(folder, "target.json"), "utf8")).not.toContain("4471");
  });

  it("writes calls that work", async () => {
    await initWith(token);
    const path = join(folder, "target.json");
    const target = readTargetFile(path, { CONFORMANCE_API_KEY: "key", ACME_CONTROL: token });
    await target.clock?.advance(1000);
    for (const cause of Object.values(target.triggers)) await cause();
    expect(Object.keys(target.triggers)).toHaveLength(4);
  });

  it("prefers the agent that a flag names", async () => {
    await initWith(token, "--agent", "keeper");
    expect(read("target.json")).toMatchObject({ agents: { answering: "keeper", failing: "crasher" } });
  });

  it("says why there is none, and writes the file without it", async () => {
    const { code, out } = await initWith("wrong-4471-token");
    expect(code).toBe(0);
    expect(out).toMatch(/test control +none: [^]*answered\s+401/);
    expect(read("target.json")).not.toHaveProperty("clock");
  });

  it("refuses a variable that is not set, before anything is sent", async () => {
    const { code, err } = await initWith(undefined);
    expect([code, readdirSync(folder)]).toEqual([2, []]);
    expect(err).toMatch(/^\$ACME_CONTROL is not set: .*\n$/);
  });
});

describe("init and a strange server", () => {
  const startServer = (answer: (request: IncomingMessage, response: ServerResponse) => unknown) =>
    startAnsweringServer((request, response) => {
      methods.push(request.method ?? "");
      response.setHeader("content-type", "application/json");
      answer(request, response);
    });
  let methods: string[] = [];
  beforeEach(() => {
    methods = [];
  });

  const initAt = (baseUrl: string) =>
    conformance(["init", "--yes", "--base-url", baseUrl, "--api-key", "pk_secret-4471"]);

  it("says so where it is another API", async () => {
    const server = await startServer((_, response) => response.end("{}"));
    const { code, err } = await initAt(server.baseUrl);
    server.close();
    expect(code).toBe(3);
    expect(err).toMatch(/is not an Agent Hosting Service Interface/);
  });

  it("sends nothing but GET, and lets no text of the target act upon the terminal or name the key", async () => {
    const evil = "\u001b[2Jevil\u202e pk_secret-4471";
    const server = await startServer((request, response) => {
      const isHealth = request.url?.endsWith("/health") === true;
      const body = isHealth
        ? { status: "healthy", checks: {} }
        : { data: [{ id: evil }], pagination: { total: 1, [evil]: 1 } };
      response.end(JSON.stringify(body));
    });
    const { code, out } = await initAt(server.baseUrl);
    server.close();
    expect(code).toBe(0);
    expect(new Set(methods)).toEqual(new Set(["GET"]));
    expect(out).not.toContain("4471");
    // oxlint-disable-next-line no-control-regex
    expect(out).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u202e]/);
  });
});
