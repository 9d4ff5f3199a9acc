import { afterAll, beforeAll, expect, it } from "vitest";

import { fieldsOf } from "../reference/json-edit.ts";
import { apiError } from "../reference/behaviour/errors.ts";
import { type EmbeddedServer, startEmbedded } from "../reference/embedded/embedded-server.ts";
import type { Patch } from "../reference/patch.ts";
import type { RoleAssignment, Target } from "../target/target.ts";
import { suites } from "../suites/all.ts";
import { runSuites } from "./run.ts";

/** A server whose agents refuse queries that do not begin with `Q: `, and requests without a `tenant` in their context. */
const particular: Patch = {
  name: "particular",
  kind: "variant",
  section: "Invoke",
  summary: "Agents take queries of one form, and need a context.",
  breaks: [],
  mayAlsoBreak: [],
  detectedBy: "suites",
  override: (base) => ({
    validateBody: (body, violations, endpoint) => {
      const { query, parameters } = fieldsOf(body);
      const isTaken = String(query).startsWith("Q: ") && fieldsOf(fieldsOf(parameters)["context"])["tenant"] === "acme";
      const error = base.validateBody(body, violations, endpoint);
      return (
        error ??
        (isTaken
          ? null
          : apiError("invalid-input", "This agent cannot use that.", { kind: "field", field: "query", reason: "form" }))
      );
    },
  }),
};

const body = { query: "Q: {query}", parameters: { context: { tenant: "acme" } } };

/** Names the same agents, each with what it needs. */
function withOwnRequests(target: Target): Target {
  const { slow, slowStreaming, timingOut, timingOutByDefault, failing, failingInStream, overloaded, ...others } =
    target.agents;
  const onRequest = { slow, slowStreaming, timingOut, timingOutByDefault, failing, failingInStream, overloaded };
  const fixed = { ...body, query: "Q: Please answer." };
  return {
    ...target,
    agents: others,
    ownRequests: (["answering", "remembering", "webhooked", "degraded", "unhealthy"] as const).map((role) => ({
      role,
      agent: target.agents[role] ?? "",
      body,
    })),
    roleAssignments: Object.fromEntries(
      Object.entries(onRequest).map(([role, agent = ""]): [string, RoleAssignment] => [
        role,
        { agent, body: fixed, path: null },
      ]),
    ),
  };
}

let embedded: EmbeddedServer;
beforeAll(async () => {
  embedded = await startEmbedded([particular]);
});
afterAll(() => embedded.close());

it("judges agents that take no other query, and need a context", { timeout: 120_000 }, async () => {
  const result = await runSuites({
    target: withOwnRequests(embedded.target),
    suites,
    maxRequests: Number.POSITIVE_INFINITY,
    maxWaitMs: 0,
    signal: new AbortController().signal,
  });
  const broken = result.judgements.flatMap(({ check, finding }) =>
    finding.kind === "breach" || finding.kind === "error" ? [[check.id, finding]] : [],
  );
  const skipped = result.judgements.flatMap(({ check, finding }) => (finding.kind === "unproven" ? [check.id] : []));
  // Only this check needs requests with one parameter alone.
  expect([broken, skipped]).toEqual([[], ["INV-13/between"]]);
});
