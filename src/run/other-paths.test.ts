import { describe, expect, it } from "vitest";

import { tryParseJson, getPath } from "../base/json.ts";
import { suites } from "../suites/all.ts";
import { type HostileServer, startAnsweringServer } from "../wire/testing/hostile.ts";
import { runSuites } from "./run.ts";
import { selectChecks } from "./plan/selection.ts";
import { aKey, aTarget } from "./testing/values.ts";

const key = "ab_key_of_a_vendor";
const ops = new Set<string>();

/** A vendor with other paths: operations start as jobs, and batches as bulk orders. All handles have this status. */
const startVendor = (status: string): Promise<HostileServer> =>
  startAnsweringServer((request, response, body) => {
    const answer = (code: number, json: unknown): void =>
      void response.writeHead(code, { "content-type": "application/json" }).end(JSON.stringify(json));
    const refuse = (code: number, why: string): void =>
      answer(code, { error: { code: why, message: "no", status: code } });
    const begin = (): void => {
      const id = `job_${ops.size + 1}`;
      ops.add(id);
      answer(202, { operation_id: id, status, check_url: `/v1/operations/${id}` });
    };
    const path = (request.url ?? "").replace(/\?.*/, "");
    const requestLine = `${request.method} ${path}`;
    const sent = tryParseJson(body);
    if (request.headers.authorization !== `Bearer ${key}`) return refuse(401, "INVALID_API_KEY");
    if (requestLine === "GET /v1/agents") return answer(200, { data: [{ id: "echo" }], pagination: {} });
    if (requestLine === "POST /v1/agents/echo/invoke") return answer(200, { result: {} });
    if (requestLine === "POST /v1/jobs/echo" && typeof getPath(sent, "query") === "string") return begin();
    if (requestLine === "POST /v1/bulk" && Array.isArray(getPath(sent, "batch"))) return begin();
    const id = /^GET \/v1\/operations\/(\w+)$/.exec(requestLine)?.[1] ?? "";
    return ops.has(id) ? answer(200, { operation_id: id, status: "completed" }) : refuse(404, "NOT_FOUND");
  });

/** Runs with these paths in the target file. Returns the outcomes of the checks of operations and batches, by id. */
async function outcomes(paths: { readonly batch?: string; readonly operation?: string }, status = "pending") {
  const { baseUrl, close } = await startVendor(status);
  const result = await runSuites({
    target: aTarget(baseUrl, {
      keys: { key: aKey({ key, tier: "team" }) },
      agents: { answering: "echo" },
      paths: { batch: null, operation: null, execute: null, ...paths },
    }),
    suites: selectChecks(suites, { only: ["OPS-*", "BAT-1"], skip: [] }),
    maxRequests: 100,
    maxWaitMs: 0,
    signal: new AbortController().signal,
  });
  close();
  if (result.kind !== "judged") throw new Error(JSON.stringify(result.sentence));
  return Object.fromEntries(result.judgements.map(({ check, finding }) => [check.id, finding.kind]));
}

describe.concurrent("a server with paths that the document does not define", () => {
  const found = { "OPS-1": "holds", "OPS-2": "holds", "OPS-3": "holds", "OPS-4": "observed", "OPS-5": "observed" };
  const operation = "/jobs/{agent_id}";

  it.each([
    ["a start of operations alone", { operation }, { ...found, "BAT-1": "unproven" }],
    ["a batch alone", { batch: "/bulk" }, { ...found, "BAT-1": "holds" }],
    ["both", { operation, batch: "/bulk" }, { ...found, "BAT-1": "holds" }],
    ["neither", {}, { "OPS-1": "unproven", "OPS-2": "unproven", "BAT-1": "unproven" }],
  ])("is judged by what the target file says of %s", async (_, paths, expected) => {
    expect(await outcomes(paths)).toMatchObject(expected);
  });

  it("has a breach if an operation started at its own path is not pending", async () => {
    expect(await outcomes({ operation }, "queued")).toMatchObject({ "OPS-1": "holds", "OPS-2": "breach" });
  });
});
