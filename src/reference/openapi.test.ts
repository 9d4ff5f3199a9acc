import { channel } from "node:diagnostics_channel";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

import type { FastifyInstance } from "fastify";
import { afterEach, beforeEach, describe, expect, it } from "vitest";

import { isFull, runsOf, trialSampleOf } from "../base/testing/test-scope.ts";
import { agentsByRole } from "./agents.ts";
import { systemClock, virtualClock } from "./clock.ts";
import { referenceKeys, referenceTiers } from "./keys.ts";
import { allFaults } from "./catalogue.ts";
import { startReference, type Reference, type RequestLine } from "./reference.ts";
import {
  type Campaign,
  descriptionChecks,
  healthyServerChecks,
  runPython,
  runSchemathesis,
  withoutPython,
} from "./testing/clients/python.ts";

const roomy = { perHour: 1e9, perMinute: 1e9, concurrent: 1000, burst: 1e9, tokensPerMonth: 1e12 };
const { failing, failingInStream, overloaded, unhealthy, timingOut, timingOutByDefault, ...healthyRoles } =
  agentsByRole;
const failingAgents = [failing, failingInStream, overloaded, unhealthy, timingOut, timingOutByDefault];
const healthyAgents = [...new Set(Object.values(healthyRoles))];

/** The requests that the servers of this test have handled. */
let handled: RequestLine[] = [];
const onRequest = (line: RequestLine) => void handled.push(line);
/**
 * A server whose clock is moved all the time, so that agents take little real time. The limits of its Enterprise tier
 * are never used up.
 */
let accelerated: Reference;
let hastyApp: FastifyInstance | null = null;
const takeApp = (message: unknown) => {
  hastyApp = (message as { readonly fastify: FastifyInstance }).fastify;
};
let isOver = false;
let running = Promise.resolve();

// A new server for each test: a campaign leaves webhooks and alerts that slow down the next one.
beforeEach(async () => {
  handled = [];
  channel("fastify.initialization").subscribe(takeApp);
  accelerated = await startReference({
    clock: virtualClock(),
    tiers: { ...referenceTiers, enterprise: roomy },
    onRequest,
  });
  channel("fastify.initialization").unsubscribe(takeApp);
  isOver = false;
  running = runAhead();
});
afterEach(async () => {
  isOver = true;
  await running;
  await accelerated.close();
});

async function runAhead(): Promise<void> {
  while (!isOver) {
    await accelerated.advance(120_000);
    await sleep(5);
  }
}

const keyOf = (name: string) => referenceKeys.find((key) => key.name === name)?.key ?? "";
const descriptionUrl = ({ baseUrl }: Reference) => new URL("/openapi.json", baseUrl).href;

interface Description {
  readonly paths: Readonly<Record<string, Readonly<Record<string, { readonly responses: object }>>>>;
}

async function description(): Promise<Description> {
  const response = await fetch(descriptionUrl(accelerated));
  return (await response.json()) as Description;
}

/** Returns method and path of each operation in the description. */
async function operations(): Promise<readonly string[]> {
  const { paths } = await description();
  return Object.entries(paths).flatMap(([path, item]) =>
    Object.keys(item).map((method) => `${method.toUpperCase()} ${path}`),
  );
}

/** Returns the operations that gave a response with a status in this range. */
async function operationsThatAnswered(from: number, to: number): Promise<readonly string[]> {
  const seen = handled
    .filter(({ status }) => status >= from && status <= to)
    .map(({ method, path }) => `${method} ${path.split("?")[0]}`);
  const all = await operations();
  return all.filter((operation) => {
    const pattern = new RegExp(`^${operation.replaceAll(/\{\w+\}/g, "[^/]+")}$`);
    return seen.some((line) => pattern.test(line));
  });
}

/** Runs the tool. Returns its output if it found problems, otherwise an empty text. */
async function findings(campaign: Partial<Campaign>): Promise<string> {
  const { code, stdout, stderr } = await runSchemathesis({
    descriptionUrl: descriptionUrl(accelerated),
    key: keyOf("enterprise"),
    checks: descriptionChecks,
    agents: healthyAgents,
    avoided: failingAgents,
    paths: ".",
    phases: ["coverage", "fuzzing"],
    examples: runsOf({ quick: 3, full: 20 }),
    ...campaign,
  });
  return code === 0 ? "" : stdout + stderr;
}

describe("the description", () => {
  it("has every route of the document and no other one", async () => {
    const routes = routesOf(hastyApp?.printRoutes({ commonPrefix: false }) ?? "");
    const ofTheInterface = routes.filter((route) => route.includes("/v1/"));
    expect(ofTheInterface).toContain("POST /v1/agents/{agent_id}/invoke");
    expect(ofTheInterface.toSorted()).toEqual((await operations()).toSorted());
  });

  it("needs no key", async () => {
    const anybody = ["ah_wrong", ...referenceKeys.map(({ key }) => key)];
    const responses = anybody.map((key) =>
      fetch(descriptionUrl(accelerated), { headers: { authorization: `Bearer ${key}` } }),
    );
    expect(new Set((await Promise.all(responses)).map(({ status }) => status))).toEqual(new Set([200]));
  });

  it("has the statuses of unusual requests", async () => {
    const { paths } = await description();
    const odd = Object.entries(paths).flatMap(([path, item]) =>
      Object.entries(item).flatMap(([method, { responses }]) => {
        const refused = { path, method, responses, headers: { accept: "image/png" }, body: null };
        const large = { ...refused, headers: { "content-type": "application/json" }, body: " ".repeat(2 ** 22) };
        return method === "post" ? [refused, large] : [refused];
      }),
    );
    const statuses = odd.map(async ({ path, method, headers, body, responses }) => {
      const authorization = `Bearer ${keyOf("enterprise")}`;
      const url = new URL(path.replaceAll(/\{\w+\}/g, "echo"), accelerated.baseUrl);
      const options: RequestInit = { method, headers: { ...headers, authorization }, body };
      const { status } = await fetch(url, options);
      return { path, isDescribed: String(status) in responses, status };
    });
    expect((await Promise.all(statuses)).filter(({ isDescribed }) => !isDescribed)).toEqual([]);
  });

  it.skipIf(withoutPython)("is a valid OpenAPI document", async () => {
    const folder = await mkdtemp(join(tmpdir(), "openapi-"));
    const file = join(folder, "openapi.json");
    await writeFile(file, JSON.stringify(await description()));
    const { code, stdout, stderr } = await runPython([
      "-m",
      "openapi_spec_validator",
      "--validation-errors",
      "all",
      file,
    ]);
    await rm(folder, { recursive: true });
    expect([code, stdout.trim(), stderr.trim()]).toEqual([0, `${file}: OK`, ""]);
  });
});

// Endpoints without an agent respond in the same way for failing agents, so they are not tested again.
const ofAgents = isFull ? "." : "/agents/.";

describe.skipIf(withoutPython)("schemathesis finds only violations of the description", () => {
  it("with healthy agents, and every operation succeeds", async () => {
    expect(
      await findings({ checks: healthyServerChecks, phases: ["examples", "coverage", "fuzzing", "stateful"] }),
    ).toBe("");
    expect(await operationsThatAnswered(200, 299)).toEqual(await operations());
  });

  it.each(trialSampleOf(["agents fail"]))("where %s", async () => {
    expect(await findings({ agents: failingAgents, avoided: [], paths: ofAgents })).toBe("");
    expect(await operationsThatAnswered(500, 599)).toContain("POST /v1/agents/{agent_id}/invoke");
  });

  it.each(trialSampleOf(["the key's limits are used up"]))("where %s", async () => {
    const limited = await startReference({ clock: systemClock(), onRequest });
    const found = await findings({ descriptionUrl: descriptionUrl(limited), key: keyOf("free"), phases: ["coverage"] });
    await limited.close();
    expect(found).toBe("");
    const unlimited = "GET /v1/agents/{agent_id}/health";
    expect(await operationsThatAnswered(429, 429)).toEqual((await operations()).filter((one) => one !== unlimited));
  });

  it.each(trialSampleOf(["the key may only read"]))("where %s", async () => {
    expect(await findings({ key: keyOf("reader"), phases: ["coverage"] })).toBe("");
    expect(await operationsThatAnswered(403, 403)).toContain("POST /v1/agents/{agent_id}/invoke");
  });

  it.each(
    trialSampleOf([
      {
        faults: ["query-number-crashes", "missing-query-422", "result-is-text", "limit-missing-on-200"],
        found: [
          "Server error",
          "Undocumented status code",
          "Response violates schema",
          "Missing required response headers",
        ],
      },
      { faults: ["json-declared-html"], found: ["Undocumented Content-Type"] },
    ]),
  )("what $faults.0 and the like break, where they do", async ({ faults, found }) => {
    const patches = allFaults.filter(({ name }) => faults.includes(name));
    const broken = await startReference({ tiers: { ...referenceTiers, enterprise: roomy }, patches });
    const campaign = { descriptionUrl: descriptionUrl(broken), checks: healthyServerChecks, paths: "/invoke$" };
    const text = await findings({ ...campaign, phases: ["coverage"] });
    await broken.close();
    expect(found.filter((finding) => !text.includes(finding))).toEqual([]);
  });
});

/** Returns method and path of each line of Fastify's tree of routes, with parameters as in OpenAPI. */
function routesOf(tree: string): readonly string[] {
  const parts: string[] = [];
  return tree.split("\n").flatMap((line) => {
    const [, indent = "", part = "", methods = ""] = /^([│\s]*)[├└]── (\S*)(?: \((.*)\))?$/.exec(line) ?? [];
    const depth = indent.length / 4;
    parts.splice(depth, Infinity, part);
    const path = parts.join("").replaceAll(/:(\w+)/g, "{$1}");
    return methods
      .split(", ")
      .filter((method) => method !== "" && method !== "HEAD")
      .map((method) => `${method} ${path}`);
  });
}
