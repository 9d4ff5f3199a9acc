import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import type { IncomingMessage, ServerResponse } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { afterAll, beforeAll, describe, expect, it } from "vitest";

import { type Reference, startReference, virtualClock } from "../reference/reference.ts";
import { startAnsweringServer } from "../wire/testing/hostile.ts";
import type { Report } from "../report/model/report.ts";
import type { FormattedPlan } from "./plan/plan-text.ts";
import { commandLineIn } from "./testing/command.ts";

const folder = mkdtempSync(join(tmpdir(), "test-control-"));
const conformance = commandLineIn(folder);
const token = "tk-4471-Zw7QmRv2";
let reference: Reference;
beforeAll(async () => {
  reference = await startReference({ clock: virtualClock(), controlToken: token });
});
afterAll(async () => {
  await reference.close();
  rmSync(folder, { recursive: true, force: true });
});

const origin = (): string => new URL(reference.baseUrl).origin;
/** Writes a target file with a test control, and returns the flags that name it. */
function targetFlags(url: string, more: object = {}): string[] {
  const file = { baseUrl: reference.baseUrl, control: { url, token: "${ACME_CONTROL}" }, ...more };
  writeFileSync(join(folder, "acme.json"), JSON.stringify(file));
  return ["--target", "acme.json"];
}
const withToken = (args: readonly string[], given = token) => conformance(args, { ACME_CONTROL: given });
const written = (out: string): string =>
  readdirSync(join(folder, out), { recursive: true, encoding: "utf8" })
    .filter((name) => /\.\w+$/.test(name))
    .map((name) => readFileSync(join(folder, out, name), "utf8"))
    .join("\n");
/** The beginning of each key that the reference server issues. */
const issued = "ah_fresh_";

const unused = ["--only", "INV-2", "--max-wait", "0s", "--max-requests", "40"];

describe("a target file with a test control", () => {
  it("lets a run use fresh keys of each tier and agents of each role, and shows no key", async () => {
    const flags = targetFlags(`${origin()}/test-control`);
    const { code, out, err } = await withToken(["run", ...flags, ...unused, "--out", "run"]);
    expect([code, out]).toEqual([0, expect.stringContaining("nothing broken")]);
    const { target } = JSON.parse(readFileSync(join(folder, "run", "report.json"), "utf8")) as Report;
    expect(target.roles).toMatchObject({ answering: "echo", failing: "crasher" });
    expect(target.tiers).toMatchObject({ free: "free", "free-2": "free", team: "team" });
    const text = out + err + written("run");
    expect([text.includes(issued), text.includes(token.slice(0, 8)), text.includes("Bearer [redacted team]")]).toEqual([
      false,
      false,
      true,
    ]);
  });

  it("keeps the keys and agents of the file", async () => {
    const keys = { mine: { key: reference.keys.find(({ name }) => name === "team")?.key, tier: "team" } };
    const flags = targetFlags(`${origin()}/test-control`, { keys, agents: { answering: "keeper" } });
    const { out } = await withToken(["plan", ...flags, "--json"]);
    const { roles, keys: planned } = JSON.parse(out) as FormattedPlan;
    expect(roles).toMatchObject({ answering: "keeper", streaming: "echo", failing: "crasher" });
    expect(planned.map(({ key }) => key)).toEqual(expect.arrayContaining(["mine", "free"]));
  });

  it("issues no key for a plan", async () => {
    const before = reference.keys.length;
    const { code } = await withToken(["plan", ...targetFlags(`${origin()}/test-control`), "--json"]);
    expect([code, reference.keys.length]).toEqual([0, before]);
  });

  it("lets load use two fresh keys of a tier", async () => {
    const flags = targetFlags(`${origin()}/test-control`);
    const { code, out, err } = await withToken(["load", "burst", "--tier", "free", ...flags, "--out", "load"]);
    expect([code, out]).toEqual([0, expect.stringContaining("1 load run")]);
    expect(err).toContain("with 2 keys (free, free-2)");
    expect((out + err + written("load")).includes(issued)).toBe(false);
  });

  it.each<[string, readonly string[]]>([
    ["a run", ["run", ...unused]],
    ["a plan", ["plan"]],
    ["a load", ["load", "burst"]],
    ["a night", ["nightly", "--history", "nights", ...unused]],
  ])("ends %s with 3 and the reason if the token is wrong", async (_name, args) => {
    const flags = targetFlags(`${origin()}/test-control`);
    const { code, out, err } = await withToken([...args, ...flags], "wrong-token-4471");
    expect([code, out + err]).toEqual([3, expect.stringMatching(/GET http:\S+\/test-control answered 401/)]);
    expect([(out + err).includes("wrong-token"), /non-conformant|broken/.test(out + err)]).toEqual([false, false]);
  });

  it("ends a plan with 3 if nothing listens at the address of the control", async () => {
    const { code, err } = await withToken(["plan", ...targetFlags("http://127.0.0.1:9/test-control")]);
    expect([code, err]).toEqual([3, expect.stringContaining("/test-control got no response: ")]);
  });

  it.each<[string, (path: string, response: ServerResponse) => void, number, RegExp]>([
    ["says no JSON", (_, response) => void response.end("<html>"), 3, /answered no JSON of its contract/],
    [
      "has no key of any tier",
      (path, response) => answer(response, path.endsWith("/keys") ? 400 : 200),
      3,
      /no key for general use/,
    ],
    ["cannot issue keys now", (path, response) => answer(response, path.endsWith("/keys") ? 503 : 200), 3, /503/],
  ])("ends a run with one sentence if a control %s", async (_name, respond, expected, says) => {
    const vendor = await startAnsweringServer(({ url = "" }: IncomingMessage, response: ServerResponse) =>
      respond(url, response),
    );
    try {
      const flags = targetFlags(`${new URL(vendor.baseUrl).origin}/test-control`);
      const { code, err } = await withToken(["run", ...flags, ...unused, "--out", "failed"]);
      expect([code, err]).toEqual([expected, expect.stringMatching(says)]);
    } finally {
      vendor.close();
    }
  });
});

/** Answers as a control that issues keys. */
function answer(response: ServerResponse, status: number): void {
  const offer = { contract: "agent-hosting-test-control", version: 1, calls: ["keys"] };
  response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(offer));
}
