import { expect, it } from "vitest";

import { endpointOfRequest, endpointNames, endpointsAtPath, publishedEndpoints } from "./endpoints.ts";

const base = "https://staging.example.com/v1";

it.each([
  ["POST", `${base}/agents/echo/invoke`, "invoke", { agent_id: "echo" }],
  ["POST", `${base}/agents/a%2Fb/stream?x=1`, "stream", { agent_id: "a%2Fb" }],
  ["GET", `${base}/agents/v1/health`, "health", { agent_id: "v1" }],
  ["GET", `${base}/agents?page=1&limit=2`, "list", {}],
  ["GET", "http://127.0.0.1:8080/hosting/v1/usage", "usage", {}],
  ["POST", `${base}/webhooks`, "webhooks", {}],
  ["GET", `${base}/webhooks/w1/deliveries`, "deliveries", { webhook_id: "w1" }],
  ["POST", `${base}/alerts`, "alerts", {}],
  ["GET", "/v1/keys/usage", "keyUsage", {}],
  ["GET", "/v1/operations/op_1", "operations", { operation_id: "op_1" }],
  ["POST", "/v1/agents/echo/batch", "batch", {}],
])("finds what %s %s is for", (method, url, endpoint, parameters) => {
  const own = { batch: "/agents/{agent_id}/batch" };
  const found = endpointOfRequest(method, url, own);
  expect(found?.endpoint).toBe(endpoint);
  expect(found?.parameters).toMatchObject(parameters);
});

it.each([
  ["another method", "GET", `${base}/agents/echo/invoke`],
  ["another path", "GET", `${base}/agents/echo`],
  ["no agent", "POST", `${base}/agents//invoke`],
  ["no version", "GET", "https://staging.example.com/usage"],
  ["another version", "GET", "https://staging.example.com/v2/usage"],
  ["a slash at the end", "GET", `${base}/usage/`],
  ["a batch whose path nobody said", "POST", `${base}/agents/echo/batch`],
])("finds no endpoint for %s", (_, method, url) => {
  expect(endpointOfRequest(method, url)).toBeNull();
});

it("tells a path that the document defines from one that it does not, whatever the method", () => {
  expect(endpointsAtPath(`${base}/alerts`).map(({ endpoint }) => endpoint)).toEqual(["alerts"]);
  expect(endpointsAtPath(`${base}/nowhere`)).toEqual([]);
});

it("gives each endpoint another method or path", () => {
  const all = endpointNames.map((name) => `${publishedEndpoints[name].method} ${publishedEndpoints[name].path}`);
  expect(new Set(all).size).toBe(endpointNames.length);
});
