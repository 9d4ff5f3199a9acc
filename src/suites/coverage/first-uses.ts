import type { Row } from "../../base/covering-array.ts";
import { unknownAgentId } from "../../run/discovery/discover-target.ts";
import { probe } from "../../run/probe.ts";
import { SkipError } from "../../run/skip-reason.ts";
import { type EndpointName, publishedEndpoints } from "../../spec/endpoints.ts";
import type { Target, TargetKey } from "../../target/target.ts";
import { otherPlainKeys } from "../limits/cost-probe.ts";
import { knownFixtures } from "../shared/key-requests/send-requests.ts";
import { requestOfRow } from "./requests.ts";

/**
 * Endpoints of each key's first two requests, because a server may count these wrongly. The first key uses `invoke` and
 * then `stream`, the second key the reverse.
 */
const endpoints = [
  ...(["invoke", "stream", "stream", "invoke", "health", "keyUsage", "usage", "list", "keyUsage", "health"] as const),
  ...(["webhooks", "deliveries", "deliveries", "alerts", "batch", "webhooks", "alerts", "batch"] as const),
] as const satisfies readonly EndpointName[];
const requestsPerKey = 2;
const maxKeys = endpoints.length / requestsPerKey;

function keysToUseFirst(target: Target): TargetKey[] {
  if (target.clock === null) return [];
  const lasting = otherPlainKeys(target).filter(({ expiresInSeconds }) => expiresInSeconds === null);
  return lasting.slice(0, maxKeys);
}

const rowFor = (endpoint: EndpointName): Row => ({
  endpoint,
  method: "documented",
  agent: "answering",
  query: "plain",
  page: "absent",
  // A valid body would create a webhook, an alert or a batch. Truncated JSON creates nothing.
  body: runsAgent(endpoint) ? "valid" : "truncated",
});

const runsAgent = (endpoint: EndpointName): boolean => endpoint === "invoke" || endpoint === "stream";

/** Sends the first two requests of several keys, to two endpoints per key. Sends nothing without a test clock. */
export const keysFirstUsed = probe(
  "each key is used for the first time, on different endpoints",
  {
    since: "1.1",
    requests: (target) => keysToUseFirst(target).length * requestsPerKey,
    executions: (target) => endpoints.slice(0, keysToUseFirst(target).length * requestsPerKey).filter(runsAgent).length,
    keys: keysToUseFirst,
    reads: true,
    stage: "opening",
    mayDropRequests: true,
  },
  async (context): Promise<{ readonly requests: number }> => {
    const { client, target, readOnly, time } = context;
    const parts = {
      target,
      fixtures: knownFixtures(target),
      unknownAgent: unknownAgentId(context),
      listed: null,
    };
    let requests = 0;
    for (const [at, key] of keysToUseFirst(target).entries())
      for (const endpoint of endpoints.slice(at * requestsPerKey, (at + 1) * requestsPerKey)) {
        const request = requestOfRow(rowFor(endpoint), parts);
        if (request === null || (readOnly && publishedEndpoints[endpoint].method === "POST")) continue;
        const sent = client.as(key).send(request.method, request.path, { ...request.options, unpaced: true });
        try {
          await (runsAgent(endpoint) ? time.awaitAgent(sent, maxAgentMs) : sent);
          requests += 1;
        } catch (error) {
          if (!(error instanceof SkipError)) throw error;
        }
      }
    return { requests };
  },
);

const maxAgentMs = 60_000;
